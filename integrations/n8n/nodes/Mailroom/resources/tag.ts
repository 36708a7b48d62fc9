// Made from openapi.json by `npm run generate`: change it there.
import type { INodeProperties } from 'n8n-workflow';
import type { ApiOperation } from '../operation';

export const operations: Record<string, ApiOperation> = { 'tag.listTags': { method: 'GET', path: '/tags', fields: [] } };

export const properties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['tag'] } },
    options: [
      {
        name: 'List Tags',
        value: 'listTags',
        action: 'List tags',
        description: "Every tag of the team, and those of the key's private inboxes, with how many of the conversations this key can see have it",
      },
    ],
    default: 'listTags',
  },
];
