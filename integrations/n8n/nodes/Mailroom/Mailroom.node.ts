// The node that calls the operations of the API.
import { createHash } from 'node:crypto';
import type {
  IDataObject,
  IExecuteFunctions,
  INodeExecutionData,
  INodeType,
  INodeTypeDescription,
} from 'n8n-workflow';
import { NodeApiError, NodeConnectionTypes, NodeOperationError } from 'n8n-workflow';
import type { ApiRequest } from './api';
import { request, requestItems } from './api';
import type { ApiField, ApiOperation } from './operation';
import { fillPath, toInput } from './operation';
import { operations, properties, resources } from './resources';

export class Mailroom implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Mailroom',
    name: 'mailroom',
    icon: { light: 'file:../../icons/mailroom.svg', dark: 'file:../../icons/mailroom.dark.svg' },
    group: ['transform'],
    version: 1,
    subtitle: '={{ $parameter["operation"] + ": " + $parameter["resource"] }}',
    description: 'Work in a shared customer-email inbox',
    defaults: { name: 'Mailroom' },
    usableAsTool: true,
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'mailroomApi', required: true }],
    properties: [
      {
        displayName: 'Resource',
        name: 'resource',
        type: 'options',
        noDataExpression: true,
        options: resources,
        default: 'conversation',
      },
      ...properties,
    ],
  };

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const results: INodeExecutionData[] = [];
    for (let index = 0; index < this.getInputData().length; index++) {
      try {
        results.push(...(await runOperation(this, index)));
      } catch (error) {
        if (!this.continueOnFail()) throw asNodeError(this, error, index);
        results.push({ json: describeError(error), pairedItem: { item: index } });
      }
    }
    return [results];
  }
}

async function runOperation(context: IExecuteFunctions, index: number): Promise<INodeExecutionData[]> {
  const resource = context.getNodeParameter('resource', index) as string;
  const name = context.getNodeParameter('operation', index) as string;
  const operation = operations[`${resource}.${name}`];
  if (!operation) throw new NodeOperationError(context.getNode(), `${resource} has no operation ${name}`, { itemIndex: index });
  const apiRequest = prepareRequest(context, operation, index);
  if (operation.download) return [await download(context, apiRequest, index)];
  const body = operation.pageSize
    ? await readItems(context, operation, apiRequest, index)
    : (await request(context, apiRequest)).body;
  const items = Array.isArray(body) ? body : [body];
  return items.map((json: IDataObject) => ({ json, pairedItem: { item: index } }));
}

function prepareRequest(context: IExecuteFunctions, operation: ApiOperation, index: number): ApiRequest {
  const collection = operation.method === 'GET' ? 'filters' : 'additionalFields';
  const optional = context.getNodeParameter(collection, index, {}) as IDataObject;
  const values = { ...optional, ...requiredValues(context, operation.fields, index) };
  const input = toInput(operation.fields, values);
  const { path } = operation;
  const apiRequest: ApiRequest = {
    method: operation.method,
    path: path.includes('{id}') ? fillPath(path, context.getNodeParameter('id', index)) : path,
    download: operation.download,
    itemIndex: index,
  };
  if (operation.method === 'GET') apiRequest.query = input;
  if (operation.method === 'POST') apiRequest.body = input;
  if (operation.takesIdempotencyKey) {
    apiRequest.idempotencyKey = String(optional.idempotencyKey ?? '') || idempotencyKey(context, apiRequest, index);
  }
  return apiRequest;
}

function requiredValues(context: IExecuteFunctions, fields: ApiField[], index: number): IDataObject {
  const required = fields.filter((field) => field.required);
  return Object.fromEntries(required.map(({ name }) => [name, context.getNodeParameter(name, index)])) as IDataObject;
}

/** The same when n8n tries the node again for the same item, so that nothing is made twice. */
function idempotencyKey(context: IExecuteFunctions, apiRequest: ApiRequest, index: number): string {
  const run = context.getWorkflowDataProxy(index).$runIndex as number;
  const of = [context.getExecutionId(), context.getNode().id, run, index, apiRequest.path, apiRequest.body];
  return `n8n-${createHash('sha256').update(JSON.stringify(of)).digest('hex')}`;
}

async function readItems(
  context: IExecuteFunctions,
  operation: ApiOperation,
  apiRequest: ApiRequest,
  index: number,
): Promise<IDataObject[]> {
  const pageSize = operation.pageSize as number;
  const everything = operation.paged && (context.getNodeParameter('returnAll', index) as boolean);
  const maxItems = everything ? Number.POSITIVE_INFINITY : (context.getNodeParameter('limit', index) as number);
  const items = await requestItems(context, apiRequest, pageSize, maxItems);
  return items.slice(0, maxItems);
}

async function download(
  context: IExecuteFunctions,
  apiRequest: ApiRequest,
  index: number,
): Promise<INodeExecutionData> {
  const field = context.getNodeParameter('binaryPropertyName', index) as string;
  const { body, headers } = await request(context, apiRequest);
  const file = await context.helpers.prepareBinaryData(
    Buffer.from(body as ArrayBuffer),
    fileName(headers['content-disposition']),
    headers['content-type'],
  );
  return { json: {}, binary: { [field]: file }, pairedItem: { item: index } };
}

/** The name of RFC 6266, of which `filename*` has every character. */
export function fileName(disposition: string | undefined): string | undefined {
  const full = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '');
  if (full) return decodeURIComponent(full[1]);
  return /filename="([^"]*)"/i.exec(disposition ?? '')?.[1];
}

function asNodeError(context: IExecuteFunctions, error: unknown, itemIndex: number): Error {
  if (error instanceof NodeApiError) return error;
  return new NodeOperationError(context.getNode(), error as Error, { itemIndex });
}

function describeError(error: unknown): IDataObject {
  const { message, httpCode } = error as { message: string; httpCode?: string | null };
  return httpCode ? { error: message, status: Number(httpCode) } : { error: message };
}
