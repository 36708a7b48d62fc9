// Made from openapi.json by `npm run generate`: change it there.
import type { INodeProperties } from 'n8n-workflow';
import type { ApiOperation } from '../operation';

export const operations: Record<string, ApiOperation> = {
  'bookingType.listBookingTypes': { method: 'GET', path: '/booking-types', fields: [] },
  'bookingType.findSlots': {
    method: 'GET',
    path: '/booking-types/{id}/slots',
    fields: [
      { name: 'from', kind: 'text' },
      { name: 'to', kind: 'text' },
      { name: 'zone', kind: 'text' },
      { name: 'part', kind: 'text' },
    ],
    pageSize: 500,
  },
};

export const properties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['bookingType'] } },
    options: [
      {
        name: 'Find Free Times',
        value: 'findSlots',
        action: 'Find free times',
        description: "The free times of a booking type, soonest first: within its hosts' hours, outside of their bookings and busy calendars, and within what the type allows",
      },
      {
        name: 'List Booking Types',
        value: 'listBookingTypes',
        action: 'List booking types',
        description: 'Every booking type that can be booked and that this key can see, by name',
      },
    ],
    default: 'findSlots',
  },
  {
    displayName: 'Booking Type ID',
    name: 'id',
    type: 'string',
    displayOptions: { show: { resource: ['bookingType'], operation: ['findSlots'] } },
    required: true,
    default: '',
    placeholder: 'bkt_…',
    description: "The booking type's ID",
  },
  {
    displayName: 'Limit',
    name: 'limit',
    type: 'number',
    displayOptions: { show: { resource: ['bookingType'], operation: ['findSlots'] } },
    default: 50,
    description: 'Max number of results to return',
    typeOptions: { minValue: 1, maxValue: 500 },
  },
  {
    displayName: 'Filters',
    name: 'filters',
    type: 'collection',
    displayOptions: { show: { resource: ['bookingType'], operation: ['findSlots'] } },
    placeholder: 'Add Filter',
    default: {},
    options: [
      {
        displayName: 'From',
        name: 'from',
        type: 'string',
        default: '',
        description: 'The first day; today without it',
      },
      {
        displayName: 'Part',
        name: 'part',
        type: 'options',
        options: [
          { name: 'Morning', value: 'morning' },
          { name: 'Afternoon', value: 'afternoon' },
          { name: 'Evening', value: 'evening' },
        ],
        default: 'morning',
        description: 'Only times of this part of the day in the zone: before 12:00, from 12:00 to 17:00, or later',
      },
      {
        displayName: 'To',
        name: 'to',
        type: 'string',
        default: '',
        description: 'The last day, at most 31 days in all; two weeks in all without it',
      },
      {
        displayName: 'Zone',
        name: 'zone',
        type: 'string',
        default: '',
        description: "The time zone of the days and of local, such as Europe/Berlin; the first host's without it",
      },
    ],
  },
];
