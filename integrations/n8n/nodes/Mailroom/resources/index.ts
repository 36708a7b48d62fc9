// Made from openapi.json by `npm run generate`: change it there.
import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import type { ApiOperation } from '../operation';
import * as agent from './agent';
import * as answer from './answer';
import * as appMail from './appMail';
import * as booking from './booking';
import * as bookingType from './bookingType';
import * as contact from './contact';
import * as conversation from './conversation';
import * as document from './document';
import * as event from './event';
import * as field from './field';
import * as help from './help';
import * as inbox from './inbox';
import * as key from './key';
import * as message from './message';
import * as report from './report';
import * as rule from './rule';
import * as sandbox from './sandbox';
import * as tag from './tag';
import * as team from './team';
import * as topic from './topic';
import * as webhook from './webhook';

export const resources: INodePropertyOptions[] = [
  { name: 'Agent', value: 'agent' },
  { name: 'Answer', value: 'answer' },
  { name: 'App Mail', value: 'appMail' },
  { name: 'Booking', value: 'booking' },
  { name: 'Booking Type', value: 'bookingType' },
  { name: 'Contact', value: 'contact' },
  { name: 'Conversation', value: 'conversation' },
  { name: 'Document', value: 'document' },
  { name: 'Event', value: 'event' },
  { name: 'Field', value: 'field' },
  { name: 'Help', value: 'help' },
  { name: 'Inbox', value: 'inbox' },
  { name: 'Key', value: 'key' },
  { name: 'Message', value: 'message' },
  { name: 'Report', value: 'report' },
  { name: 'Rule', value: 'rule' },
  { name: 'Sandbox', value: 'sandbox' },
  { name: 'Tag', value: 'tag' },
  { name: 'Team', value: 'team' },
  { name: 'Topic', value: 'topic' },
  { name: 'Webhook', value: 'webhook' },
];

/** By resource and operation. */
export const operations: Record<string, ApiOperation> = {
  ...agent.operations,
  ...answer.operations,
  ...appMail.operations,
  ...booking.operations,
  ...bookingType.operations,
  ...contact.operations,
  ...conversation.operations,
  ...document.operations,
  ...event.operations,
  ...field.operations,
  ...help.operations,
  ...inbox.operations,
  ...key.operations,
  ...message.operations,
  ...report.operations,
  ...rule.operations,
  ...sandbox.operations,
  ...tag.operations,
  ...team.operations,
  ...topic.operations,
  ...webhook.operations,
};

export const properties: INodeProperties[] = [
  ...agent.properties,
  ...answer.properties,
  ...appMail.properties,
  ...booking.properties,
  ...bookingType.properties,
  ...contact.properties,
  ...conversation.properties,
  ...document.properties,
  ...event.properties,
  ...field.properties,
  ...help.properties,
  ...inbox.properties,
  ...key.properties,
  ...message.properties,
  ...report.properties,
  ...rule.properties,
  ...sandbox.properties,
  ...tag.properties,
  ...team.properties,
  ...topic.properties,
  ...webhook.properties,
];
