import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import signature from '../dist/nodes/MailroomTrigger/signature.js';

const { TOLERANCE, isGenuine } = signature;
const key = randomBytes(24);
const secret = `whsec_${key.toString('base64')}`;
const now = 1_795_000_000;
const body = Buffer.from('{"type":"client.replied","name":"Jürgen"}');

function sign(by, { id = 'evt_1', sent = now, over = body } = {}) {
  return `v1,${createHmac('sha256', by).update(`${id}.${sent}.`).update(over).digest('base64')}`;
}

function judge(given, { id = 'evt_1', sent = now, by = secret, over = body } = {}) {
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(sent), 'webhook-signature': given };
  return isGenuine(by, headers, over, now * 1000);
}

test('a genuine delivery is taken', () => {
  assert.equal(judge(sign(key)), true);
});

test('one of several signatures is enough, as after a rotation', () => {
  assert.equal(judge(`${sign(randomBytes(24))} ${sign(key)}`), true);
  assert.equal(judge(`${sign(key)} v1a,AAAA`), true);
  assert.equal(judge(`${sign(randomBytes(24))} ${sign(randomBytes(24))}`), false);
});

test('another body, id or time is refused', () => {
  assert.equal(judge(sign(key), { over: Buffer.from(`${body} `) }), false);
  assert.equal(judge(sign(key), { id: 'evt_2' }), false);
  assert.equal(judge(sign(key), { sent: now + 1 }), false);
});

test('a time is at most five minutes away', () => {
  for (const [sent, expected] of [
    [now - TOLERANCE, true],
    [now + TOLERANCE, true],
    [now - TOLERANCE - 1, false],
    [now + TOLERANCE + 1, false],
  ]) {
    assert.equal(judge(sign(key, { sent }), { sent }), expected, String(sent));
  }
  for (const sent of ['', '-1', '1e9', 'NaN', `${now}.5`, ` ${now}`]) {
    assert.equal(judge(sign(key, { sent }), { sent }), false, sent);
  }
});

test('what is no signature of version 1 is refused', () => {
  const [, bare] = sign(key).split(',');
  for (const given of ['', 'v1,', bare, `v2,${bare}`, `v1,${bare.slice(4)}`, 'v1,%%%%', `v1,${bare}${bare}`]) {
    assert.equal(judge(given), false, given);
  }
});

test('missing headers and an empty secret are refused', () => {
  assert.equal(isGenuine(secret, {}, body, now * 1000), false);
  const repeated = { 'webhook-id': 'evt_1', 'webhook-timestamp': String(now), 'webhook-signature': [sign(key)] };
  assert.equal(isGenuine(secret, repeated, body, now * 1000), false);
  assert.equal(judge(sign(Buffer.alloc(0)), { by: 'whsec_' }), false);
});
