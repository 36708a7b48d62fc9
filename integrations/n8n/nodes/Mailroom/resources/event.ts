// Made from openapi.json by `npm run generate`: change it there.
import type { INodeProperties } from 'n8n-workflow';
import type { ApiOperation } from '../operation';

export const operations: Record<string, ApiOperation> = {
  'event.listEvents': {
    method: 'GET',
    path: '/events',
    fields: [{ name: 'start', kind: 'text' }],
    pageSize: 100,
    paged: true,
  },
};

export const properties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['event'] } },
    options: [
      {
        name: 'List Events',
        value: 'listEvents',
        action: 'List events',
        description: 'What happened where this key can see, oldest first, exactly as webhooks are told it. Events are kept for 30 days, so an app that was down catches up from the cursor of its last answer. Every answer with events has a next cursor, the last one too.',
      },
    ],
    default: 'listEvents',
  },
  {
    displayName: 'Return All',
    name: 'returnAll',
    type: 'boolean',
    displayOptions: { show: { resource: ['event'], operation: ['listEvents'] } },
    default: false,
    description: 'Whether to return all results or only up to a given limit',
  },
  {
    displayName: 'Limit',
    name: 'limit',
    type: 'number',
    displayOptions: { show: { resource: ['event'], operation: ['listEvents'], returnAll: [false] } },
    default: 50,
    description: 'Max number of results to return',
    typeOptions: { minValue: 1 },
  },
  {
    displayName: 'Filters',
    name: 'filters',
    type: 'collection',
    displayOptions: { show: { resource: ['event'], operation: ['listEvents'] } },
    placeholder: 'Add Filter',
    default: {},
    options: [
      {
        displayName: 'Start',
        name: 'start',
        type: 'options',
        options: [{ name: 'Oldest', value: 'oldest' }, { name: 'Now', value: 'now' }],
        default: 'oldest',
        description: 'Where a first call begins: with the oldest event kept, or with a cursor for what happens from now on and no events yet. A cursor says more and wins.',
      },
    ],
  },
];
