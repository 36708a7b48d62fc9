// Made from openapi.json by `npm run generate`: change it there.
import type { INodeProperties } from 'n8n-workflow';
import type { ApiOperation } from '../operation';

export const operations: Record<string, ApiOperation> = {
  'key.me': { method: 'GET', path: '/me', fields: [] },
  'key.listCalls': {
    method: 'GET',
    path: '/calls',
    fields: [{ name: 'key', kind: 'text' }, { name: 'since', kind: 'text' }],
    pageSize: 100,
  },
};

export const properties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['key'] } },
    options: [
      {
        name: 'List Own Calls',
        value: 'listCalls',
        action: 'List own calls',
        description: "The requests of this key, the latest first: when, which operation, the status and the ID of the request. They are kept for 90 days. Another key's are not found.",
      },
      {
        name: 'Who This Key Is',
        value: 'me',
        action: 'Who this key is',
        description: "The agent that this key acts as, its scopes, whether it works on live data, and the server's time. policy has the limits of the key beside its scopes.",
      },
    ],
    default: 'listCalls',
  },
  {
    displayName: 'Limit',
    name: 'limit',
    type: 'number',
    displayOptions: { show: { resource: ['key'], operation: ['listCalls'] } },
    default: 50,
    description: 'Max number of results to return',
    typeOptions: { minValue: 1, maxValue: 100 },
  },
  {
    displayName: 'Filters',
    name: 'filters',
    type: 'collection',
    displayOptions: { show: { resource: ['key'], operation: ['listCalls'] } },
    placeholder: 'Add Filter',
    default: {},
    options: [
      {
        displayName: 'Key',
        name: 'key',
        type: 'string',
        default: '',
        description: "The ID of this key's agent (agt_…), as GET /me has it; its own without it",
      },
      {
        displayName: 'Since',
        name: 'since',
        type: 'string',
        default: '',
        description: 'Only those of this day (UTC, such as 2026-11-30) or time, or later',
      },
    ],
  },
];
