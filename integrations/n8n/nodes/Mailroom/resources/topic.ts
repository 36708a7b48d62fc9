// Made from openapi.json by `npm run generate`: change it there.
import type { INodeProperties } from 'n8n-workflow';
import type { ApiOperation } from '../operation';

export const operations: Record<string, ApiOperation> = { 'topic.listTopics': { method: 'GET', path: '/topics', fields: [] } };

export const properties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['topic'] } },
    options: [
      {
        name: 'List Topics',
        value: 'listTopics',
        action: 'List topics',
        description: 'Every topic of the workspace by name, with how many of the open conversations this key can see are about it',
      },
    ],
    default: 'listTopics',
  },
];
