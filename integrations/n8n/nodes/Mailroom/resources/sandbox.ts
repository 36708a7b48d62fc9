// Made from openapi.json by `npm run generate`: change it there.
import type { INodeProperties } from 'n8n-workflow';
import type { ApiOperation } from '../operation';

export const operations: Record<string, ApiOperation> = {
  'sandbox.sandboxInbound': {
    method: 'POST',
    path: '/sandbox/inbound',
    fields: [
      { name: 'from', kind: 'text', required: true },
      { name: 'name', kind: 'text' },
      { name: 'subject', kind: 'text' },
      { name: 'text', kind: 'text', required: true },
      { name: 'conversationId', kind: 'text' },
      { name: 'inReplyTo', kind: 'text' },
      { name: 'reference', kind: 'text' },
    ],
    takesIdempotencyKey: true,
  },
};

export const properties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['sandbox'] } },
    options: [
      {
        name: 'Simulate an Incoming Mail',
        value: 'sandboxInbound',
        action: 'Simulate an incoming mail',
        description: 'Lets a made-up customer on a .test domain write to the sandbox inbox, through the same way as real mail: threading, scam check, storage, test webhooks. For test keys; at most 120 a minute across all test keys of the workspace.',
      },
    ],
    default: 'sandboxInbound',
  },
  {
    displayName: 'From',
    name: 'from',
    type: 'string',
    displayOptions: { show: { resource: ['sandbox'], operation: ['sandboxInbound'] } },
    default: '',
    description: 'Who writes: an address on a .test domain',
    required: true,
  },
  {
    displayName: 'Text',
    name: 'text',
    type: 'string',
    displayOptions: { show: { resource: ['sandbox'], operation: ['sandboxInbound'] } },
    typeOptions: { rows: 5 },
    default: '',
    description: 'What the mail says, in plain text',
    required: true,
  },
  {
    displayName: 'Additional Fields',
    name: 'additionalFields',
    type: 'collection',
    displayOptions: { show: { resource: ['sandbox'], operation: ['sandboxInbound'] } },
    placeholder: 'Add Field',
    default: {},
    options: [
      {
        displayName: 'Conversation ID',
        name: 'conversationId',
        type: 'string',
        default: '',
        description: 'Makes the mail a reply on this conversation',
      },
      {
        displayName: 'Idempotency Key',
        name: 'idempotencyKey',
        type: 'string',
        default: '',
        description: 'A word of your own for this one request. For 24 hours the same word with the same request repeats the first answer and does nothing again. Without it, one for each item, which is the same when n8n tries again.',
      },
      {
        displayName: 'In Reply To',
        name: 'inReplyTo',
        type: 'string',
        default: '',
        description: 'Makes the mail an answer to the mail with this Message-ID, such as one that was recorded with POST /app-mail',
      },
      {
        displayName: 'Name',
        name: 'name',
        type: 'string',
        default: '',
        description: "The writer's name",
      },
      {
        displayName: 'Reference',
        name: 'reference',
        type: 'string',
        default: '',
        description: "Writes to the sandbox's address with this reference as its plus tag",
      },
      {
        displayName: 'Subject',
        name: 'subject',
        type: 'string',
        default: '',
        description: 'The subject of the mail',
      },
    ],
  },
];
