// Made from openapi.json by `npm run generate`: change it there.
import type { INodeProperties } from 'n8n-workflow';
import type { ApiOperation } from '../operation';

export const operations: Record<string, ApiOperation> = {
  'contact.getContact': { method: 'GET', path: '/contacts/{id}', fields: [] },
  'contact.setContactFields': {
    method: 'POST',
    path: '/contacts/{id}/fields',
    fields: [{ name: 'fields', kind: 'json', required: true }],
  },
};

export const properties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['contact'] } },
    options: [
      {
        name: 'Read a Contact',
        value: 'getContact',
        action: 'Read a contact',
        description: "One person whom mail came from or went to, by any address of theirs: their addresses, the team's notes on them, their latest conversations, and others with an address at the same domain. All of it as far as the key can see. 404 when it sees no mail of theirs.",
      },
      {
        name: 'Set Fields of a Contact',
        value: 'setContactFields',
        action: 'Set fields of a contact',
        description: 'Sets fields of a contact, by any address of theirs, as those of a conversation are set. 404 when the key sees no mail of theirs.',
      },
    ],
    default: 'getContact',
  },
  {
    displayName: 'Address',
    name: 'id',
    type: 'string',
    displayOptions: { show: { resource: ['contact'], operation: ['getContact'] } },
    required: true,
    default: '',
    description: 'An address of the contact',
  },
  {
    displayName: 'Address',
    name: 'id',
    type: 'string',
    displayOptions: { show: { resource: ['contact'], operation: ['setContactFields'] } },
    required: true,
    default: '',
    description: 'An address of the contact',
  },
  {
    displayName: 'Fields',
    name: 'fields',
    type: 'json',
    displayOptions: { show: { resource: ['contact'], operation: ['setContactFields'] } },
    default: '{}',
    description: 'Values by key (see GET /fields); null removes one',
    required: true,
  },
];
