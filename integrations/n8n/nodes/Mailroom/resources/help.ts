// Made from openapi.json by `npm run generate`: change it there.
import type { INodeProperties } from 'n8n-workflow';
import type { ApiOperation } from '../operation';

export const operations: Record<string, ApiOperation> = {
  'help.help': { method: 'GET', path: '/help', fields: [{ name: 'tool', kind: 'text', required: true }] },
};

export const properties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['help'] } },
    options: [
      {
        name: 'Explain a Tool',
        value: 'help',
        action: 'Explain a tool',
        description: 'What an MCP tool does and takes, in full: its description, its scope, the JSON Schema of its arguments with all limits, and an example. The list of tools has all of this shorter.',
      },
    ],
    default: 'help',
  },
  {
    displayName: 'Tool',
    name: 'tool',
    type: 'string',
    displayOptions: { show: { resource: ['help'], operation: ['help'] } },
    default: '',
    description: 'The name of a tool',
    required: true,
  },
];
