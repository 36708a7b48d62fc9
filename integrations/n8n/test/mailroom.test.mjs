import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { after, before, beforeEach, test } from 'node:test';
import api from '../dist/nodes/Mailroom/api.js';
import mailroom from '../dist/nodes/Mailroom/Mailroom.node.js';
import operation from '../dist/nodes/Mailroom/operation.js';
import resources from '../dist/nodes/Mailroom/resources/index.js';
import { NODE, makeContext } from './context.mjs';

// Its ES modules are for bundlers.
const { NodeHelpers } = createRequire(import.meta.url)('n8n-workflow');
const ROWS = Array.from({ length: 250 }, (_, number) => ({ id: `cnv_${number}` }));
const node = new mailroom.Mailroom();
/** The requests that came, and what is answered in place of the usual. */
let requests = [];
let answers = [];
let address;

const server = createServer(async (asked, response) => {
  let body = '';
  for await (const chunk of asked) body += chunk;
  const url = new URL(asked.url, 'http://mail.test');
  requests.push({ method: asked.method, path: url.pathname, query: url.searchParams, headers: asked.headers, body });
  const answer = answers.shift() ?? usual(url);
  response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
  response.end(answer.bytes ?? JSON.stringify(answer.body ?? { ok: true }));
});

function usual(url) {
  if (url.pathname !== '/api/v1/conversations') return {};
  const start = Number(url.searchParams.get('cursor') ?? 0);
  const end = start + Number(url.searchParams.get('limit'));
  // A host of its own: the node must not follow it.
  const link = `<https://elsewhere.invalid/api/v1/conversations?cursor=${end}>; rel="next"`;
  return { body: ROWS.slice(start, end), headers: end < ROWS.length ? { link } : {} };
}

before(async () => {
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  address = `http://127.0.0.1:${server.address().port}`;
});
after(() => server.close());
beforeEach(() => {
  requests = [];
  answers = [];
});

async function run(items, more = {}) {
  const [results] = await node.execute.call(makeContext({ address, items: [items].flat(), ...more }));
  return results;
}

const note = { resource: 'conversation', operation: 'addNote', id: 'cnv_1', body: 'Hello' };
const list = { resource: 'conversation', operation: 'listConversations', returnAll: true };

test('Return All reads every page, at the address of the credentials alone', async () => {
  const results = await run({ ...list, filters: { view: 'all', q: 'lamp & shade', tag: '' } });
  assert.deepEqual(results.map(({ json }) => json), ROWS);
  assert.deepEqual(requests.map(({ query }) => query.get('cursor')), [null, '100', '200']);
  for (const { query } of requests) {
    assert.equal(query.get('q'), 'lamp & shade');
    assert.equal(query.get('limit'), '100');
    assert.equal(query.has('tag'), false);
  }
});

test('a limit ends a list, on one page or over several', async () => {
  assert.equal((await run({ ...list, returnAll: false, limit: 30 })).length, 30);
  assert.deepEqual(requests.map(({ query }) => query.get('limit')), ['30']);
  requests = [];
  assert.equal((await run({ ...list, returnAll: false, limit: 130 })).length, 130);
  assert.deepEqual(requests.map(({ query }) => query.get('limit')), ['100', '30']);
});

test('a list that names its own page as the next one ends', async () => {
  const again = { body: [{ id: 'cnv_1' }], headers: { link: '<https://a.invalid/?cursor=5>; rel="next"' } };
  answers = [again, again, again];
  assert.equal((await run(list)).length, 2);
});

test('the cursor is that of the link with rel="next"', () => {
  assert.equal(api.nextCursor('</api/v1/a?limit=2&cursor=1.2.a>; rel="next"'), '1.2.a');
  assert.equal(api.nextCursor('<https://a.example/?cursor=1>; rel="prev"'), undefined);
  assert.equal(api.nextCursor(undefined), undefined);
});

test('the address is taken with and without the prefix of the API', () => {
  for (const entered of ['https://a.example', 'https://a.example/', ' https://a.example/api/v1/ ']) {
    assert.equal(api.prefix(entered), 'https://a.example/api/v1');
  }
});

test('a refusal is an error with the sentence of the API', async () => {
  answers = [{ status: 403, body: { error: 'This key lacks the scope write.' }, headers: { 'x-request-id': 'r1' } }];
  await assert.rejects(run(note), (error) => {
    assert.equal(error.constructor.name, 'NodeApiError');
    assert.equal(error.message, 'This key lacks the scope write.');
    assert.equal(error.httpCode, '403');
    assert.equal(error.description, 'Status 403, request r1');
    assert.equal(error.context.itemIndex, 0);
    return true;
  });
});

test('with Continue on Fail the other items go on', async () => {
  answers = [{ status: 404, body: { error: 'There is no such conversation, or you cannot see it.' } }];
  const results = await run([note, { ...note, id: 'cnv_2' }], { fails: true });
  assert.deepEqual(results, [
    { json: { error: 'There is no such conversation, or you cannot see it.', status: 404 }, pairedItem: { item: 0 } },
    { json: { ok: true }, pairedItem: { item: 1 } },
  ]);
});

test('an answer that is not of the API is told by its status', async () => {
  answers = [{ status: 502, body: 'Bad gateway' }];
  await assert.rejects(run(note), /Mailroom answered with status 502/);
});

test('after 429 and 503 a request is repeated when the API says so, with the same key', async () => {
  answers = [
    { status: 429, headers: { 'retry-after': '0' }, body: { error: 'Slow down.' } },
    { status: 503, headers: { 'retry-after': '0' }, body: { error: 'Later.' } },
  ];
  assert.equal((await run(note)).length, 1);
  assert.equal(requests.length, 3);
  assert.equal(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size, 1);
  answers = [{ status: 429, headers: { 'retry-after': '3600' }, body: { error: 'Slow down.' } }];
  await assert.rejects(run(note), /Slow down/);
  answers = Array(9).fill({ status: 429, headers: { 'retry-after': '0' }, body: { error: 'Slow down.' } });
  requests = [];
  await assert.rejects(run(note), /Slow down/);
  assert.equal(requests.length, 4);
});

test('the idempotency key is the same for the same item of the same run alone', async () => {
  await run([note, note]);
  await run([note]);
  await run([note], { runIndex: 1 });
  await run([{ ...note, body: 'Else' }]);
  const [first, second, again, later, other] = requests.map(({ headers }) => headers['idempotency-key']);
  assert.equal(first, again);
  assert.equal(new Set([first, second, later, other]).size, 4);
  assert.match(first, /^[A-Za-z0-9_.:-]{1,200}$/);
  await run({ ...note, additionalFields: { idempotencyKey: 'order-7' } });
  assert.equal(requests.at(-1).headers['idempotency-key'], 'order-7');
});

test('fields become the body that the API takes', async () => {
  await run({
    resource: 'conversation',
    operation: 'reply',
    id: ' cnv_1 ',
    body: 'Hello',
    additionalFields: {
      send: true,
      summary: '',
      cc: 'a@x.example, b@x.example',
      documents: { values: [{ label: 'Passport', description: '', required: false }] },
      booking: { values: { typeId: 'bkt_1', times: [] } },
      followUpAt: { toISO: () => '2026-12-07T09:00:00.000+01:00' },
      idempotencyKey: 'one',
    },
  });
  assert.equal(requests[0].path, '/api/v1/conversations/cnv_1/replies');
  assert.deepEqual(JSON.parse(requests[0].body), {
    body: 'Hello',
    send: true,
    documents: [{ label: 'Passport', required: false }],
    booking: { typeId: 'bkt_1' },
    cc: ['a@x.example', 'b@x.example'],
    followUpAt: '2026-12-07T09:00:00.000+01:00',
  });
});

test('an empty field that may be null is null, and JSON is checked', async () => {
  await run({ resource: 'conversation', operation: 'setSorting', id: 'cnv_1', additionalFields: { topic: '' } });
  assert.deepEqual(JSON.parse(requests[0].body), { topic: null });
  const fields = { resource: 'contact', operation: 'setContactFields', id: 'a/b@x.example' };
  await run({ ...fields, fields: '{"plan": "Pro", "paid": null}' });
  assert.deepEqual(JSON.parse(requests[1].body), { fields: { plan: 'Pro', paid: null } });
  assert.equal(requests[1].path, '/api/v1/contacts/a%2Fb%40x.example/fields');
  await assert.rejects(run({ ...fields, fields: '{plan' }), /fields: must be JSON/);
});

test('an id leads nowhere else', async () => {
  for (const id of ['', ' ', '.', '..']) await assert.rejects(run({ ...note, id }), /id: is required/);
  await run({ ...note, id: '../me?x=$&' });
  assert.equal(requests[0].path, '/api/v1/conversations/..%2Fme%3Fx%3D%24%26/notes');
  assert.equal(requests.length, 1);
});

test('lists of objects may come from an expression', () => {
  const field = { name: 'documents', kind: 'objects', fields: [{ name: 'label', kind: 'text', required: true }] };
  for (const given of [[{ label: 'Passport' }], '[{"label": "Passport"}]', { values: [{ label: 'Passport' }] }]) {
    assert.deepEqual(operation.toInput([field], { documents: given }), { documents: [{ label: 'Passport' }] });
  }
  assert.deepEqual(operation.toInput([field], { documents: {} }), {});
});

test('a file becomes binary data with its name, and a refused one an error', async () => {
  const headers = {
    'content-type': 'application/pdf',
    'content-disposition': `attachment; filename="Rechnung f_r.pdf"; filename*=UTF-8''Rechnung%20f%C3%BCr.pdf`,
  };
  answers = [{ bytes: Buffer.from([0, 255, 10]), headers }];
  const file = { resource: 'document', operation: 'downloadDocument', id: 'doc_1', binaryPropertyName: 'data' };
  const [{ binary }] = await run(file);
  assert.deepEqual(binary.data, { data: 'AP8K', fileName: 'Rechnung für.pdf', mimeType: 'application/pdf' });
  answers = [{ status: 404, body: { error: 'There is no such document, or you cannot see it.' } }];
  await assert.rejects(run(file), /There is no such document/);
});

test('every operation has its parameters, and every parameter its operation', () => {
  const { operations, properties } = resources;
  const chooser = properties.filter(({ name }) => name === 'operation');
  const offered = chooser.flatMap(({ displayOptions, options }) =>
    options.map(({ value }) => `${displayOptions.show.resource[0]}.${value}`),
  );
  assert.deepEqual(offered.toSorted(), Object.keys(operations).toSorted());
  for (const [name, { path, fields, method, takesIdempotencyKey }] of Object.entries(operations)) {
    const [resource, value] = name.split('.');
    const given = { resource, operation: value };
    const top = Object.keys(
      NodeHelpers.getNodeParameters(node.description.properties, given, true, false, NODE, node.description),
    );
    assert.equal(top.includes('id'), path.includes('{id}'), name);
    const collection = properties.find(
      ({ type, displayOptions: { show } }) => type === 'collection' && show.operation[0] === value,
    );
    const inside = collection?.options.map((property) => property.name) ?? [];
    assert.equal(inside.includes('idempotencyKey'), takesIdempotencyKey ?? false, name);
    if (collection) assert.equal(collection.name, method === 'GET' ? 'filters' : 'additionalFields', name);
    for (const field of fields) assert.ok((field.required ? top : inside).includes(field.name), `${name}: ${field.name}`);
  }
});
