// Made from openapi.json by `npm run generate`: change it there.
import type { INodeProperties } from 'n8n-workflow';
import type { ApiOperation } from '../operation';

export const operations: Record<string, ApiOperation> = {
  'appMail.recordSent': {
    method: 'POST',
    path: '/app-mail',
    fields: [
      { name: 'messageId', kind: 'text', required: true },
      { name: 'reference', kind: 'text', required: true },
      { name: 'to', kind: 'list', required: true },
      { name: 'subject', kind: 'text', required: true },
      { name: 'text', kind: 'text' },
      { name: 'html', kind: 'text' },
    ],
  },
};

export const properties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['appMail'] } },
    options: [
      {
        name: 'Record Mail that an App Sent',
        value: 'recordSent',
        action: 'Record mail that an app sent',
        description: 'Tells Mailroom of an e-mail that your app sent by itself, so that the answer is filed under your reference. Recording the same messageId again is safe: it updates the record until someone replies, and after that only fills in what was missing. Message-IDs must be unguessable.',
      },
    ],
    default: 'recordSent',
  },
  {
    displayName: 'Message ID',
    name: 'messageId',
    type: 'string',
    displayOptions: { show: { resource: ['appMail'], operation: ['recordSent'] } },
    default: '',
    description: 'The Message-ID header it went out with, with or without angle brackets',
    required: true,
  },
  {
    displayName: 'Reference',
    name: 'reference',
    type: 'string',
    displayOptions: { show: { resource: ['appMail'], operation: ['recordSent'] } },
    default: '',
    description: "Your record's reference; it comes back lower-cased",
    required: true,
  },
  {
    displayName: 'To',
    name: 'to',
    type: 'string',
    displayOptions: { show: { resource: ['appMail'], operation: ['recordSent'] } },
    typeOptions: { multipleValues: true },
    default: [],
    description: 'The addresses it went to',
    required: true,
  },
  {
    displayName: 'Subject',
    name: 'subject',
    type: 'string',
    displayOptions: { show: { resource: ['appMail'], operation: ['recordSent'] } },
    default: '',
    description: 'Its subject',
    required: true,
  },
  {
    displayName: 'Additional Fields',
    name: 'additionalFields',
    type: 'collection',
    displayOptions: { show: { resource: ['appMail'], operation: ['recordSent'] } },
    placeholder: 'Add Field',
    default: {},
    options: [
      {
        displayName: 'HTML',
        name: 'html',
        type: 'string',
        typeOptions: { rows: 5 },
        default: '',
        description: 'Its HTML',
      },
      {
        displayName: 'Text',
        name: 'text',
        type: 'string',
        typeOptions: { rows: 5 },
        default: '',
        description: 'Its plain text',
      },
    ],
  },
];
