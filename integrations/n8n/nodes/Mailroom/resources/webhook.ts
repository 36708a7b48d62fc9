// Made from openapi.json by `npm run generate`: change it there.
import type { INodeProperties } from 'n8n-workflow';
import type { ApiOperation } from '../operation';

export const operations: Record<string, ApiOperation> = {
  'webhook.listWebhooks': { method: 'GET', path: '/webhooks', fields: [] },
  'webhook.createWebhook': {
    method: 'POST',
    path: '/webhooks',
    fields: [
      { name: 'url', kind: 'text', required: true },
      { name: 'format', kind: 'text' },
      { name: 'events', kind: 'list' },
    ],
    takesIdempotencyKey: true,
  },
  'webhook.deleteWebhook': { method: 'DELETE', path: '/webhooks/{id}', fields: [] },
};

export const properties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['webhook'] } },
    options: [
      {
        name: 'Add a Webhook',
        value: 'createWebhook',
        action: 'Add a webhook',
        description: "Adds a public https address that is told of what happens in the team's inboxes, or with a test key in the sandbox. Every webhook hears the events that are not by choice; events adds those that are, such as message.flagged. secret signs what is sent, and is told this once. With format it is the address of an incoming webhook of a chat, which gets messages about the conversations of the named events alone.",
      },
      {
        name: 'Delete a Webhook',
        value: 'deleteWebhook',
        action: 'Delete a webhook',
        description: 'Removes a webhook and the log of what was sent to it. What waits for it is not sent. One that this key does not see is not found.',
      },
      {
        name: 'List Webhooks',
        value: 'listWebhooks',
        action: 'List webhooks',
        description: "The webhooks of what this key sees, the oldest first: the team's, or with a test key the sandbox's. Their secrets are not told again.",
      },
    ],
    default: 'createWebhook',
  },
  {
    displayName: 'URL',
    name: 'url',
    type: 'string',
    displayOptions: { show: { resource: ['webhook'], operation: ['createWebhook'] } },
    default: '',
    description: 'A public address that begins with https, and whose name leads to public addresses alone',
    required: true,
  },
  {
    displayName: 'Additional Fields',
    name: 'additionalFields',
    type: 'collection',
    displayOptions: { show: { resource: ['webhook'], operation: ['createWebhook'] } },
    placeholder: 'Add Field',
    default: {},
    options: [
      {
        displayName: 'Events',
        name: 'events',
        type: 'string',
        typeOptions: { multipleValues: true },
        default: [],
        description: 'Names of events by choice that it hears, too. Names of those that all hear change nothing.',
      },
      {
        displayName: 'Format',
        name: 'format',
        type: 'options',
        options: [
          { name: 'Mailroom', value: 'mailroom' },
          { name: 'Slack', value: 'slack' },
          { name: 'Mattermost', value: 'mattermost' },
          { name: 'Teams', value: 'teams' },
        ],
        default: 'mailroom',
        description: 'Mailroom, or the chat that gets messages; its address is a secret that is not told again',
      },
      {
        displayName: 'Idempotency Key',
        name: 'idempotencyKey',
        type: 'string',
        default: '',
        description: 'A word of your own for this one request. For 24 hours the same word with the same request repeats the first answer and does nothing again. Without it, one for each item, which is the same when n8n tries again.',
      },
    ],
  },
  {
    displayName: 'Webhook ID',
    name: 'id',
    type: 'string',
    displayOptions: { show: { resource: ['webhook'], operation: ['deleteWebhook'] } },
    required: true,
    default: '',
    placeholder: 'whk_…',
    description: "The webhook's ID",
  },
];
