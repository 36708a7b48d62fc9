// Made from openapi.json by `npm run generate`: change it there.
import type { INodeProperties } from 'n8n-workflow';
import type { ApiOperation } from '../operation';

export const operations: Record<string, ApiOperation> = { 'inbox.listMailboxes': { method: 'GET', path: '/mailboxes', fields: [] } };

export const properties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['inbox'] } },
    options: [
      {
        name: 'List Inboxes',
        value: 'listMailboxes',
        action: 'List inboxes',
        description: 'Every inbox this key can see, with how many conversations are open in it',
      },
    ],
    default: 'listMailboxes',
  },
];
