// Made from openapi.json by `npm run generate`: change it there.
import type { INodePropertyOptions } from 'n8n-workflow';

export const events: INodePropertyOptions[] = [
  {
    name: 'Agent Paused',
    value: 'agent.paused',
    description: 'An agent was paused: its key only reads now',
  },
  {
    name: 'Ask Completed',
    value: 'ask.completed',
    description: 'Everything asked of a client is in',
  },
  { name: 'Booking Cancelled', value: 'booking.cancelled', description: 'A booking was cancelled' },
  { name: 'Booking Created', value: 'booking.created', description: 'Someone booked a time' },
  {
    name: 'Client Replied',
    value: 'client.replied',
    description: 'Someone wrote back on a conversation',
  },
  {
    name: 'Conversation Assigned',
    value: 'conversation.assigned',
    description: 'A conversation was given to someone or to nobody',
  },
  {
    name: 'Conversation Created',
    value: 'conversation.created',
    description: 'A conversation began',
  },
  { name: 'Draft Approved', value: 'draft.approved', description: 'A person approved a draft' },
  {
    name: 'Draft Waiting',
    value: 'draft.waiting',
    description: 'A draft waits for a person to approve it',
  },
  {
    name: 'Message Failed',
    value: 'message.failed',
    description: 'An e-mail could not be delivered',
  },
  {
    name: 'Message Flagged',
    value: 'message.flagged',
    description: 'A message came in that looks dangerous or gives orders to software',
  },
  { name: 'Message Sent', value: 'message.sent', description: 'An e-mail went out' },
  {
    name: 'Satisfaction Rated',
    value: 'satisfaction.rated',
    description: 'A customer said how a closed conversation was',
  },
  { name: 'Scout Held', value: 'scout.held', description: 'A likely scam was held' },
  { name: 'Target Missed', value: 'target.missed', description: 'A response target was missed' },
  { name: 'Turn Changed', value: 'turn.changed', description: 'Whose turn it is changed' },
  { name: 'Webhook Test', value: 'webhook.test', description: 'Someone pressed Send test event' },
];
