// Made from openapi.json by `npm run generate`: change it there.
import type { INodeProperties } from 'n8n-workflow';
import type { ApiOperation } from '../operation';

export const operations: Record<string, ApiOperation> = {
  'report.getReports': {
    method: 'GET',
    path: '/reports',
    fields: [
      { name: 'from', kind: 'text' },
      { name: 'to', kind: 'text' },
      { name: 'mailbox', kind: 'text' },
      { name: 'zone', kind: 'text' },
    ],
  },
};

export const properties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['report'] } },
    options: [
      {
        name: 'Read Reports',
        value: 'getReports',
        action: 'Read reports',
        description: 'The figures of the reports page, of the inboxes that this key can see. They come from counters that are a few seconds behind, and cost the same however much mail there is.',
      },
    ],
    default: 'getReports',
  },
  {
    displayName: 'Filters',
    name: 'filters',
    type: 'collection',
    displayOptions: { show: { resource: ['report'], operation: ['getReports'] } },
    placeholder: 'Add Filter',
    default: {},
    options: [
      {
        displayName: 'From',
        name: 'from',
        type: 'string',
        default: '',
        description: 'The first day; the last 28 days if left out',
      },
      {
        displayName: 'Mailbox',
        name: 'mailbox',
        type: 'string',
        default: '',
        description: 'Only this inbox (an ID such as mbx_…)',
      },
      {
        displayName: 'To',
        name: 'to',
        type: 'string',
        default: '',
        description: 'The last day; today if left out',
      },
      {
        displayName: 'Zone',
        name: 'zone',
        type: 'string',
        default: '',
        description: 'The time zone of days and hours, such as Europe/Berlin; UTC if left out',
      },
    ],
  },
];
