import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { after, before, beforeEach, test } from 'node:test';
import trigger from '../dist/nodes/MailroomTrigger/MailroomTrigger.node.js';
import { makeContext } from './context.mjs';

const node = new trigger.MailroomTrigger();
const { checkExists, create, delete: remove } = node.webhookMethods.default;
const HOOK = 'https://n8n.example/webhook/5f0c/webhook';
const key = Buffer.from('a key that is no secret at all');
const secret = `whsec_${key.toString('base64')}`;
/** What the server of this test keeps, and a refusal that it gives in place of everything. */
let webhooks = [];
let refusal;
let address;

const server = createServer(async (asked, response) => {
  let text = '';
  for await (const chunk of asked) text += chunk;
  const [status, body] = refusal ?? answer(asked.method, asked.url, text);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});

function answer(method, path, text) {
  if (method === 'GET') return [200, webhooks];
  if (method === 'POST') {
    const { url, events } = JSON.parse(text);
    const made = { id: `whk_${webhooks.length + 1}`, url, format: 'mailroom', events: ['turn.changed', ...events] };
    webhooks.push({ ...made, state: 'active' });
    return [201, { ...made, secret }];
  }
  const found = webhooks.find(({ id }) => path.endsWith(`/${id}`));
  webhooks = webhooks.filter((one) => one !== found);
  return found ? [200, { ok: true }] : [404, { error: 'There is no such webhook, or you cannot see it.' }];
}

before(async () => {
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  address = `http://127.0.0.1:${server.address().port}`;
});
after(() => server.close());
beforeEach(() => {
  webhooks = [];
  refusal = undefined;
});

function hooks(kept, events = ['conversation.created']) {
  return makeContext({
    address,
    items: [{ events }],
    getWorkflowStaticData: () => kept,
    getNodeWebhookUrl: () => HOOK,
  });
}

test('a webhook is made once, found again and removed', async () => {
  const kept = {};
  assert.equal(await checkExists.call(hooks(kept)), false);
  assert.equal(await create.call(hooks(kept)), true);
  assert.deepEqual(kept, { id: 'whk_1', secret });
  assert.equal(await checkExists.call(hooks(kept)), true);
  assert.equal(await remove.call(hooks(kept)), true);
  assert.deepEqual([kept, webhooks], [{}, []]);
});

test('one that does not hear the events, is off, or leads elsewhere, is made anew', async () => {
  const kept = {};
  await create.call(hooks(kept));
  assert.equal(await checkExists.call(hooks(kept, ['target.missed'])), false);
  webhooks[0].state = 'off';
  assert.equal(await checkExists.call(hooks(kept)), false);
  webhooks[0] = { ...webhooks[0], state: 'active', url: 'https://n8n.example/elsewhere' };
  assert.equal(await checkExists.call(hooks(kept)), false);
});

test('what was left behind at the same address is removed', async () => {
  await create.call(hooks({}));
  webhooks.unshift({ ...webhooks[0], id: 'whk_other', url: 'https://shop.example/hook' });
  const kept = {};
  await create.call(hooks(kept));
  assert.deepEqual(webhooks.map(({ url }) => url), ['https://shop.example/hook', HOOK]);
});

test('removing one that is gone is as good, and any other refusal is told', async () => {
  const kept = { id: 'whk_gone', secret };
  assert.equal(await remove.call(hooks(kept)), true);
  refusal = [403, { error: 'This key lacks the scope admin.' }];
  await assert.rejects(remove.call(hooks({ id: 'whk_1', secret })), /This key lacks the scope admin\./);
  await assert.rejects(create.call(hooks({})), /This key lacks the scope admin\./);
});

function deliver(event, { kept = { id: 'whk_1', secret }, by = key, raw = true } = {}) {
  const body = Buffer.from(JSON.stringify(event));
  const sent = String(Math.floor(Date.now() / 1000));
  const given = `v1,${createHmac('sha256', by).update(`evt_1.${sent}.`).update(body).digest('base64')}`;
  const answered = {};
  const response = { status: (status) => Object.assign(answered, { status }) && response, json: () => response };
  const context = makeContext({
    address,
    items: [{ events: ['client.replied'] }],
    getWorkflowStaticData: () => kept,
    getRequestObject: () => ({ rawBody: raw ? body : undefined }),
    getHeaderData: () => ({ 'webhook-id': 'evt_1', 'webhook-timestamp': sent, 'webhook-signature': given }),
    getBodyData: () => event,
    getResponseObject: () => response,
  });
  return node.webhook.call(context).then((result) => ({ ...result, ...answered }));
}

const event = { id: 'evt_1', type: 'client.replied', data: { conversation_id: 'cnv_1' } };

test('a genuine event that was chosen starts the workflow', async () => {
  assert.deepEqual(await deliver(event), { workflowData: [[{ json: event }]] });
});

test('a genuine event that was not chosen starts nothing', async () => {
  assert.deepEqual(await deliver({ ...event, type: 'turn.changed' }), { webhookResponse: { ignored: 'turn.changed' } });
});

test('what is not signed with the secret is refused', async () => {
  for (const forged of [{ by: Buffer.from('another key') }, { kept: {} }, { raw: false }]) {
    assert.deepEqual(await deliver(event, forged), { noWebhookResponse: true, status: 401 });
  }
});
