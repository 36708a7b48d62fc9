// Made from openapi.json by `npm run generate`: change it there.
import type { INodeProperties } from 'n8n-workflow';
import type { ApiOperation } from '../operation';

export const operations: Record<string, ApiOperation> = { 'rule.listRules': { method: 'GET', path: '/rules', fields: [] } };

export const properties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['rule'] } },
    options: [
      {
        name: 'List Rules',
        value: 'listRules',
        action: 'List rules',
        description: 'Every rule of the team, in the order in which they run, but those for an inbox that the key does not see. A test key sees none: rules do not run in the sandbox.',
      },
    ],
    default: 'listRules',
  },
];
