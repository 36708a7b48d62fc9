// Works in the inbox as the official TypeScript clients: node_client.mjs PACKAGE URL KEY READ_KEY.
// PACKAGE is sdk (the older one), or client-auto, client-legacy or client-pinned (the current one).

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

const INVALID_PARAMS = -32602;
const RESOURCE_NOT_FOUND = -32002;
const READING = [
    'find_slots', 'get_contact', 'get_customer_panel', 'hand_over', 'help', 'get_conversation', 'get_reports', 'list_booking_types', 'list_bookings',
    'list_conversations', 'list_fields', 'list_mailboxes', 'list_messages', 'list_rules', 'list_tags', 'list_team', 'list_topics', 'read_document',
    'search_answers', 'search_documents', 'whoami',
];
const DOING = [
    'add_note', 'assign_conversation', 'update_conversations', 'undo', 'merge_conversations', 'split_conversation', 'record_sent', 'reply', 'request_documents', 'set_sorting', 'set_fields', 'set_status',
    'start_conversation', 'tag_conversation', 'link_item', 'update_draft', 'discard_draft', 'create_booking', 'cancel_booking',
    'move_booking',
];
const MODES = {
    'client-auto': { mode: 'auto' },
    'client-legacy': { mode: 'legacy' },
    'client-pinned': { mode: { pin: '2026-07-28' } },
};

const [which, url, key, readKey] = process.argv.slice(2);

async function connected(key) {
    const requestInit = { headers: {
        Authorization: `Bearer ${key}`, 'Mailroom-Structured-Content': 'full',
    } };
    const who = { name: 'conformance', version: '1' };
    if (which === 'sdk') {
        const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
        const { StreamableHTTPClientTransport } = await import(
            '@modelcontextprotocol/sdk/client/streamableHttp.js'
        );
        const client = new Client(who);
        await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
        return client;
    }
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const client = new Client(who, { versionNegotiation: MODES[which] });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    const wanted = which === 'client-legacy' ? '2025-11-25' : '2026-07-28';
    assert.equal(client.getNegotiatedProtocolVersion(), wanted);
    return client;
}

// The structured result of a call, which was asked for in full. The text of a list is a table of its items.
async function done(client, name, args) {
    const result = await client.callTool({ name, arguments: args });
    assert.ok(!result.isError, JSON.stringify(result));
    const text = JSON.parse(result.content[0].text);
    const structured = result.structuredContent;
    if (Array.isArray(text)) {
        const [columns = [], ...rows] = text;
        const whole = Object.values(structured).find(Array.isArray);
        assert.equal(rows.length, whole.length, name);
        const place = columns.indexOf('id');
        if (place >= 0) {
            assert.deepEqual(rows.map((row) => row[place]), whole.map((item) => item.id), name);
        }
    } else {
        assert.ok(covers(text, structured), name);
    }
    return structured;
}

function covers(text, whole) {
    if (Array.isArray(text)) {
        return text.length === whole.length && text.every((item, place) => covers(item, whole[place]));
    }
    if (text !== null && typeof text === 'object') {
        return Object.entries(text).every(([name, value]) => name in whole && covers(value, whole[name]));
    }
    return text === whole;
}

const client = await connected(key);
assert.match(client.getInstructions() ?? '', /data, never instructions/);
const { tools } = await client.listTools();
const names = tools.map((tool) => tool.name);
for (const name of [...READING, ...DOING]) {
    assert.ok(names.includes(name), name);
}

const listed = await done(client, 'list_conversations', { limit: 5 });
assert.equal(listed.conversations.length, 5);
const id = listed.conversations[0].id;
await done(client, 'tag_conversation', { id, add: ['checked'] });
const body = `Seen by ${which} ${randomUUID()}`;
const note = { id, body, idempotencyKey: randomUUID() };
await done(client, 'add_note', note);
await done(client, 'add_note', note);
const reply = await done(client, 'reply', { id, body: 'Hello, it left on Tuesday.' });
assert.equal(reply.status, 'draft');
const read = await done(client, 'get_conversation', { id });
assert.equal(read.timeline.filter((item) => item.type === 'note' && item.body === body).length, 1);
assert.equal(read.timeline.at(-1).id, reply.messageId);

const missing = await client.callTool({ name: 'get_conversation', arguments: { id: 'cnv_0' } });
assert.ok(missing.isError);
assert.match(missing.content[0].text, /no such conversation/);
await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), invalidParams);
await readResources(id);
await getPrompts(id);
await client.close();

const reader = await connected(readKey);
const readable = (await reader.listTools()).tools.map((tool) => tool.name);
for (const name of READING) {
    assert.ok(readable.includes(name), name);
}
for (const name of DOING) {
    assert.ok(!readable.includes(name), name);
}
const refused = await reader.callTool({ name: 'reply', arguments: { id, body: 'x' } });
assert.ok(refused.isError);
assert.match(refused.content[0].text, /lacks the scope/);
await reader.close();

await assert.rejects(connected(`rk_live_${'0'.repeat(48)}`));

// Resources are what the tools give, and completion finds their ids.
async function readResources(id) {
    const { resources, nextCursor } = await client.listResources();
    assert.equal(resources[0].uri, 'mailroom://policy');
    assert.ok(resources.some((resource) => resource.uri === `mailroom://conversations/${id}`));
    if (nextCursor) {
        const more = await client.listResources({ cursor: nextCursor });
        assert.ok(more.resources.every((resource) => resource.uri !== 'mailroom://policy'));
    }
    const { resourceTemplates } = await client.listResourceTemplates();
    const uri = 'mailroom://conversations/{id}';
    assert.ok(resourceTemplates.some((template) => template.uriTemplate === uri));

    const policy = JSON.parse(await readText('mailroom://policy'));
    assert.deepEqual(policy.agent, (await done(client, 'whoami', {})).agent);
    const conversation = JSON.parse(await readText(uri.replace('{id}', id)));
    assert.equal(conversation.id, id);
    assert.match(await readText('mailroom://help/reply'), /^# reply\n/);
    await assert.rejects(client.readResource({ uri: uri.replace('{id}', 'cnv_0') }), notFound);

    const { completion } = await client.complete({
        ref: { type: 'ref/resource', uri }, argument: { name: 'id', value: id },
    });
    assert.deepEqual(completion.values, [id]);
}

async function readText(uri) {
    const { contents } = await client.readResource({ uri });
    assert.equal(contents.length, 1);
    assert.equal(contents[0].uri, uri);
    return contents[0].text;
}

async function getPrompts(id) {
    const { prompts } = await client.listPrompts();
    assert.deepEqual(prompts.map((prompt) => prompt.name), ['triage', 'answer', 'summary']);
    const prompt = await client.getPrompt({ name: 'answer', arguments: { conversation: id } });
    assert.equal(prompt.messages[0].role, 'user');
    assert.ok(prompt.messages[0].content.text.includes(id));
    await assert.rejects(client.getPrompt({ name: 'answer', arguments: {} }), invalidParams);
    await assert.rejects(client.getPrompt({ name: 'no_such_prompt' }), invalidParams);
    const { completion } = await client.complete({
        ref: { type: 'ref/prompt', name: 'triage' }, argument: { name: 'mailbox', value: '' },
    });
    const { mailboxes } = await done(client, 'list_mailboxes', {});
    assert.deepEqual(completion.values, mailboxes.map((mailbox) => mailbox.id));
}

// The code depends on the version of the protocol.
function notFound(error) {
    assert.ok([INVALID_PARAMS, RESOURCE_NOT_FOUND].includes(error.code), String(error));
    return true;
}

function invalidParams(error) {
    assert.equal(error.code, INVALID_PARAMS, String(error));
    return true;
}
