// Made from openapi.json by `npm run generate`: change it there.
import type { INodeProperties } from 'n8n-workflow';
import type { ApiOperation } from '../operation';

export const operations: Record<string, ApiOperation> = {
  'answer.searchAnswers': {
    method: 'GET',
    path: '/answers',
    fields: [{ name: 'q', kind: 'text' }, { name: 'language', kind: 'text' }],
    pageSize: 100,
  },
};

export const properties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['answer'] } },
    options: [
      {
        name: "Search the Team's Answers",
        value: 'searchAnswers',
        action: 'Search the team answers',
        description: 'Answers and saved replies that this key can see, best match first; without q, the newest first. What is retired or past its last day is left out.',
      },
    ],
    default: 'searchAnswers',
  },
  {
    displayName: 'Limit',
    name: 'limit',
    type: 'number',
    displayOptions: { show: { resource: ['answer'], operation: ['searchAnswers'] } },
    default: 50,
    description: 'Max number of results to return',
    typeOptions: { minValue: 1, maxValue: 100 },
  },
  {
    displayName: 'Filters',
    name: 'filters',
    type: 'collection',
    displayOptions: { show: { resource: ['answer'], operation: ['searchAnswers'] } },
    placeholder: 'Add Filter',
    default: {},
    options: [
      {
        displayName: 'Language',
        name: 'language',
        type: 'string',
        default: '',
        description: 'Only answers in this language, two letters such as en',
      },
      {
        displayName: 'Search',
        name: 'q',
        type: 'string',
        default: '',
        description: 'A question or words. Words in the title count most; spelling is forgiven.',
      },
    ],
  },
];
