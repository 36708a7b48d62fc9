// Made from openapi.json by `npm run generate`: change it there.
import type { INodeProperties } from 'n8n-workflow';
import type { ApiOperation } from '../operation';

export const operations: Record<string, ApiOperation> = { 'field.listFields': { method: 'GET', path: '/fields', fields: [] } };

export const properties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['field'] } },
    options: [
      {
        name: 'List Fields',
        value: 'listFields',
        action: 'List fields',
        description: 'Every field of the workspace by key: what it belongs to, what its values can be, and the choices where it has some',
      },
    ],
    default: 'listFields',
  },
];
