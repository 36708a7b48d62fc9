// The node that starts a workflow with an event: it keeps a webhook in Mailroom while the workflow is active.
import type {
  IDataObject,
  IHookFunctions,
  INodeType,
  INodeTypeDescription,
  IWebhookFunctions,
  IWebhookResponseData,
} from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { refusal, request, send } from '../Mailroom/api';
import { events } from './events';
import { isGenuine } from './signature';

/** What is kept of the webhook that was made. */
interface StoredWebhook extends IDataObject {
  id?: string;
  secret?: string;
}

interface ListedWebhook {
  id: string;
  url: string;
  events: string[];
  state: string;
}

export class MailroomTrigger implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Mailroom Trigger',
    name: 'mailroomTrigger',
    icon: { light: 'file:../../icons/mailroom.svg', dark: 'file:../../icons/mailroom.dark.svg' },
    group: ['trigger'],
    version: 1,
    subtitle: '={{ $parameter["events"].join(", ") }}',
    description: 'Starts a workflow when something happens in a shared customer-email inbox',
    defaults: { name: 'Mailroom Trigger' },
    inputs: [],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'mailroomApi', required: true }],
    webhooks: [{ name: 'default', httpMethod: 'POST', responseMode: 'onReceived', path: 'webhook' }],
    properties: [
      {
        displayName:
          'The key of the credentials needs the scope admin, and n8n an address that Mailroom reaches by https. An event has IDs and one line, never the text of a mail: read the conversation with the Mailroom node.',
        name: 'notice',
        type: 'notice',
        default: '',
      },
      {
        displayName: 'Events',
        name: 'events',
        type: 'multiOptions',
        required: true,
        options: events,
        default: [],
        description: 'What starts the workflow',
      },
    ],
  };

  webhookMethods = {
    default: {
      async checkExists(this: IHookFunctions): Promise<boolean> {
        const stored = this.getWorkflowStaticData('node') as StoredWebhook;
        if (!stored.id || !stored.secret) return false;
        const current = (await listWebhooks(this)).find((webhook) => webhook.id === stored.id);
        const eventTypes = this.getNodeParameter('events', []) as string[];
        return (
          current !== undefined &&
          current.state === 'active' &&
          current.url === this.getNodeWebhookUrl('default') &&
          eventTypes.every((event) => current.events.includes(event))
        );
      },

      async create(this: IHookFunctions): Promise<boolean> {
        const url = this.getNodeWebhookUrl('default') as string;
        // The address is this node's own: what else leads to it was left behind, and its secret is not known any more.
        for (const stale of (await listWebhooks(this)).filter((webhook) => webhook.url === url)) {
          await removeWebhook(this, stale.id);
        }
        const eventTypes = this.getNodeParameter('events', []) as string[];
        const response = await request(this, { method: 'POST', path: '/webhooks', body: { url, events: eventTypes } });
        const { id, secret } = response.body as Required<StoredWebhook>;
        Object.assign(this.getWorkflowStaticData('node'), { id, secret });
        return true;
      },

      async delete(this: IHookFunctions): Promise<boolean> {
        const stored = this.getWorkflowStaticData('node') as StoredWebhook;
        if (stored.id) await removeWebhook(this, stored.id);
        delete stored.id;
        delete stored.secret;
        return true;
      },
    },
  };

  async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
    const { secret } = this.getWorkflowStaticData('node') as StoredWebhook;
    const body = this.getRequestObject().rawBody;
    if (!secret || !body || !isGenuine(secret, this.getHeaderData(), body, Date.now())) {
      this.getResponseObject().status(401).json({ error: 'The signature does not fit.' });
      return { noWebhookResponse: true };
    }
    const event = this.getBodyData();
    const eventTypes = this.getNodeParameter('events', []) as string[];
    // Every webhook also hears the events that are not by choice.
    if (!eventTypes.includes(String(event.type))) return { webhookResponse: { ignored: event.type } };
    return { workflowData: [this.helpers.returnJsonArray([event])] };
  }
}

async function listWebhooks(context: IHookFunctions): Promise<ListedWebhook[]> {
  return (await request(context, { method: 'GET', path: '/webhooks' })).body as ListedWebhook[];
}

/** One that is gone already is as good. */
async function removeWebhook(context: IHookFunctions, id: string): Promise<void> {
  const response = await send(context, { method: 'DELETE', path: `/webhooks/${encodeURIComponent(id)}` });
  if (response.statusCode >= 400 && response.statusCode !== 404) throw refusal(context, response);
}
