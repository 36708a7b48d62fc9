// Made from openapi.json by `npm run generate`: change it there.
import type { INodeProperties } from 'n8n-workflow';
import type { ApiOperation } from '../operation';

export const operations: Record<string, ApiOperation> = {
  'agent.undoAgent': {
    method: 'POST',
    path: '/agents/{id}/undo',
    fields: [{ name: 'since', kind: 'text', required: true }],
  },
  'agent.pauseAgent': { method: 'POST', path: '/agents/{id}/pause', fields: [] },
  'agent.resumeAgent': { method: 'POST', path: '/agents/{id}/resume', fields: [] },
};

export const properties: INodeProperties[] = [
  {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show: { resource: ['agent'] } },
    options: [
      {
        name: 'Let an Agent Work Again',
        value: 'resumeAgent',
        action: 'Let an agent work again',
        description: 'Lets an agent work again that paused itself. What it had scheduled stays drafts. One that a person or its limits paused is a 403: only an owner or an admin lets it work again, in the app or at the command line. No key resumes itself, because a paused one only reads.',
      },
      {
        name: 'Pause Yourself',
        value: 'pauseAgent',
        action: 'Pause yourself',
        description: 'Pauses the agent of this key: from then on its key only reads, and what it has scheduled becomes drafts again. A key pauses itself alone, with its ID of GET /me or as me. Only an owner or an admin lets it work again, in the app or at the command line.',
      },
      {
        name: 'Undo What an Agent Did',
        value: 'undoAgent',
        action: 'Undo what an agent did',
        description: 'Undoes what a key or connected app did since a time, of the last 30 days, as far as this key sees it: status, tags, assignments, topics and snoozes are put back, notes hidden, merges parted, splits joined, drafts discarded, messages that have not left stopped, bookings cancelled (with the scope send: the guests are told). left lists what stays, and why. With more, call again. since may also stand in the address.',
      },
    ],
    default: 'resumeAgent',
  },
  {
    displayName: 'Agent ID',
    name: 'id',
    type: 'string',
    displayOptions: { show: { resource: ['agent'], operation: ['undoAgent'] } },
    required: true,
    default: '',
    placeholder: 'agt_…',
    description: "The agent's ID",
  },
  {
    displayName: 'Since',
    name: 'since',
    type: 'string',
    displayOptions: { show: { resource: ['agent'], operation: ['undoAgent'] } },
    default: '',
    description: 'What it did from this day (UTC, such as 2026-11-30) or time on',
    required: true,
  },
  {
    displayName: 'Agent ID',
    name: 'id',
    type: 'string',
    displayOptions: { show: { resource: ['agent'], operation: ['pauseAgent'] } },
    required: true,
    default: '',
    placeholder: 'agt_…',
    description: "The agent's ID",
  },
  {
    displayName: 'Agent ID',
    name: 'id',
    type: 'string',
    displayOptions: { show: { resource: ['agent'], operation: ['resumeAgent'] } },
    required: true,
    default: '',
    placeholder: 'agt_…',
    description: "The agent's ID",
  },
];
