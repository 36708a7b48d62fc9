// Against a running Mailroom: MAILROOM_URL, and MAILROOM_KEY, a test key with every scope. The webhook leads to this
// machine, which a Mailroom allows that was started with MAILROOM_WEBHOOKS_ALLOW_PRIVATE=true.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import mailroom from '../dist/nodes/Mailroom/Mailroom.node.js';
import trigger from '../dist/nodes/MailroomTrigger/MailroomTrigger.node.js';
import { makeContext } from './context.mjs';

const { MAILROOM_URL: address, MAILROOM_KEY: key } = process.env;
const skip = address && key ? false : 'MAILROOM_URL and MAILROOM_KEY are not set';
const DELIVERY_MS = 60_000;

async function run(resource, operation, parameters = {}, more = {}) {
  const node = new mailroom.Mailroom();
  const item = { resource, operation, ...parameters };
  const [results] = await node.execute.call(makeContext({ address, key, items: [item], ...more }));
  return results.map(({ json }) => json);
}

function simulate(from, subject) {
  return run('sandbox', 'sandboxInbound', { from, text: 'It is broken.', additionalFields: { subject } });
}

test('a conversation is found, noted on once, sorted and replied to', { skip }, async () => {
  const subject = `Lamp ${Date.now()}`;
  const [{ conversationId: id }] = await simulate('ann@shop.test', subject);
  const found = await run('conversation', 'listConversations', {
    returnAll: true,
    filters: { view: 'all', q: `subject:"${subject}"` },
  });
  assert.deepEqual(found.map((one) => one.id), [id]);
  const note = { id, body: 'The order left on Tuesday.' };
  const execution = { getExecutionId: () => subject };
  const [first] = await run('conversation', 'addNote', note, execution);
  const [again] = await run('conversation', 'addNote', note, execution);
  assert.equal(first.noteId, again.noteId);
  await run('conversation', 'tagConversation', { id, additionalFields: { add: ['lamps'] } });
  await run('conversation', 'setSorting', { id, additionalFields: { topic: '', urgency: 'high' } });
  const documents = { values: [{ label: 'Photo', description: '', required: true }] };
  const [reply] = await run('conversation', 'reply', { id, body: 'Hello', additionalFields: { documents } }, execution);
  assert.equal(reply.status, 'draft');
  const [read] = await run('conversation', 'getConversation', { id, filters: { omit: 'team' } });
  assert.deepEqual([read.tags, read.urgency, read.topic], [['lamps'], 'high', null]);
  assert.equal(read.timeline.filter(({ type }) => type === 'note').length, 1);
});

test('a list over several pages has everything once', { skip }, async () => {
  const parameters = { returnAll: false, limit: 101, filters: { start: 'oldest' } };
  const events = await run('event', 'listEvents', parameters);
  assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
  assert.ok(events.length > 0);
});

test('every operation without input answers', { skip }, async () => {
  const reads = {
    key: 'me',
    team: 'listTeam',
    tag: 'listTags',
    topic: 'listTopics',
    inbox: 'listMailboxes',
    field: 'listFields',
    rule: 'listRules',
    report: 'getReports',
    webhook: 'listWebhooks',
    bookingType: 'listBookingTypes',
  };
  for (const [resource, operation] of Object.entries(reads)) await run(resource, operation);
  const lists = { answer: 'searchAnswers', message: 'listMessages', booking: 'listBookings', key: 'listCalls' };
  for (const [resource, operation] of Object.entries(lists)) await run(resource, operation, { limit: 50 });
  await run('document', 'searchDocuments', { returnAll: true });
});

test('a refusal has the sentence of the API', { skip }, async () => {
  await assert.rejects(run('conversation', 'getConversation', { id: 'cnv_0' }), (error) => {
    assert.equal(error.message, 'There is no such conversation, or you cannot see it.');
    return error.httpCode === '404';
  });
  await assert.rejects(run('conversation', 'addNote', { id: 'cnv_0', body: '' }), /^NodeApiError: body: /);
});

test('an event reaches the trigger, signed, until its webhook is removed', { skip }, async () => {
  const node = new trigger.MailroomTrigger();
  const { checkExists, create, delete: remove } = node.webhookMethods.default;
  const kept = {};
  const results = [];
  let tell;
  const told = new Promise((resolve) => (tell = resolve));
  const receiver = createServer(async (asked, response) => {
    const chunks = [];
    for await (const chunk of asked) chunks.push(chunk);
    const rawBody = Buffer.concat(chunks);
    const answer = { status: (status) => response.writeHead(status) && answer, json: () => response.end() };
    const context = makeContext({
      items: [{ events: ['conversation.created'] }],
      getWorkflowStaticData: () => kept,
      getRequestObject: () => ({ rawBody }),
      getHeaderData: () => asked.headers,
      getBodyData: () => JSON.parse(rawBody),
      getResponseObject: () => answer,
    });
    const result = await node.webhook.call(context);
    results.push(result);
    if (!result.noWebhookResponse) response.end();
    if (result.workflowData) tell(result.workflowData[0][0].json);
  });
  await new Promise((listening) => receiver.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${receiver.address().port}/webhook`;
  const hooks = makeContext({
    address,
    key,
    items: [{ events: ['conversation.created'] }],
    getWorkflowStaticData: () => kept,
    getNodeWebhookUrl: () => url,
  });
  const late = setTimeout(() => tell(undefined), DELIVERY_MS);
  try {
    assert.equal(await checkExists.call(hooks), false);
    await create.call(hooks);
    assert.equal(await checkExists.call(hooks), true);
    const [{ conversationId }] = await simulate('ben@shop.test', `Chair ${Date.now()}`);
    const event = await told;
    assert.equal(event?.type, 'conversation.created');
    assert.equal(event.data.conversation_id, conversationId);
    assert.ok(results.every(({ noWebhookResponse }) => !noWebhookResponse), 'every delivery was genuine');
    await remove.call(hooks);
    const left = await run('webhook', 'listWebhooks');
    assert.ok(left.every((webhook) => webhook.url !== url));
  } finally {
    clearTimeout(late);
    receiver.closeAllConnections();
    receiver.close();
  }
});
