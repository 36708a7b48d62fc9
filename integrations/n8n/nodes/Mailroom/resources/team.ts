// Made from openapi.json by `npm run generate`: change it there.
import type { INodeProperties } from 'n8n-workflow';
import type { ApiOperation } from '../operation';

export const operations: Record<string, ApiOperation> = { 'team.listTeam': { method: 'GET', path: '/team', fields: [] } };

export const properties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['team'] } },
    options: [
      {
        name: 'List the Team',
        value: 'listTeam',
        action: 'List the team',
        description: 'The people with their roles and what they look after, and the agents. A test key sees the agents of the sandbox alone.',
      },
    ],
    default: 'listTeam',
  },
];
