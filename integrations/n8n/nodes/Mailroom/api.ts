// Calls the API: one request, or the pages of a list. A refusal is told with the API's own sentence.
import type {
  IDataObject,
  IExecuteFunctions,
  IHookFunctions,
  IHttpRequestMethods,
  JsonObject,
} from 'n8n-workflow';
import { NodeApiError, NodeOperationError, sleep } from 'n8n-workflow';

export type ApiContext = IExecuteFunctions | IHookFunctions;

export interface ApiRequest {
  method: IHttpRequestMethods;
  path: string;
  query?: IDataObject;
  body?: IDataObject;
  idempotencyKey?: string;
  /** The answer is a file. */
  download?: boolean;
  itemIndex?: number;
}

export interface ApiResponse {
  statusCode: number;
  headers: Record<string, string | undefined>;
  body: unknown;
}

const REPEATS = 3;
/** Seconds that a request waits at the most before it is repeated. */
const LONGEST_WAIT = 60;
const PAGES = 1000;

/** One request; a status of refusal is an error. */
export async function request(context: ApiContext, apiRequest: ApiRequest): Promise<ApiResponse> {
  const response = await send(context, apiRequest);
  if (response.statusCode >= 400) throw refusal(context, response, apiRequest.itemIndex);
  return response;
}

/** One request, whatever its answer. After 429 and 503, which did nothing, it is repeated when the API says so. */
export async function send(context: ApiContext, apiRequest: ApiRequest): Promise<ApiResponse> {
  const { baseUrl } = await context.getCredentials<{ baseUrl: string }>('mailroomApi');
  for (let repeat = 0; ; repeat++) {
    const response = await sendOnce(context, prefix(baseUrl) + apiRequest.path, apiRequest);
    const wait = waitSeconds(response);
    if (wait === undefined || repeat === REPEATS) return response;
    await sleep(wait * 1000);
  }
}

async function sendOnce(context: ApiContext, url: string, apiRequest: ApiRequest): Promise<ApiResponse> {
  try {
    return (await context.helpers.httpRequestWithAuthentication.call(context, 'mailroomApi', {
      method: apiRequest.method,
      url,
      qs: apiRequest.query,
      body: apiRequest.body,
      headers: apiRequest.idempotencyKey ? { 'Idempotency-Key': apiRequest.idempotencyKey } : {},
      json: !apiRequest.download,
      encoding: apiRequest.download ? 'arraybuffer' : undefined,
      returnFullResponse: true,
      ignoreHttpStatusErrors: true,
    })) as ApiResponse;
  } catch (error) {
    throw new NodeApiError(context.getNode(), error as JsonObject, { itemIndex: apiRequest.itemIndex });
  }
}

/** The prefix of the API, whether or not it was entered with the address. */
export function prefix(baseUrl: string): string {
  return `${baseUrl.trim().replace(/(\/api\/v1)?\/*$/, '')}/api/v1`;
}

function waitSeconds(response: ApiResponse): number | undefined {
  if (response.statusCode !== 429 && response.statusCode !== 503) return undefined;
  const seconds = Number(response.headers['retry-after'] ?? Number.NaN);
  return seconds <= LONGEST_WAIT ? seconds : undefined;
}

/** The error of a refusal: its sentence, and the status that it came with. */
export function refusal(context: ApiContext, response: ApiResponse, itemIndex?: number): NodeApiError {
  const { error, ...rest } = readBody(response.body);
  const message = typeof error === 'string' ? error : `Mailroom answered with status ${response.statusCode}`;
  const requestId = response.headers['x-request-id'];
  return new NodeApiError(context.getNode(), { ...rest, message } as JsonObject, {
    message,
    description: `Status ${response.statusCode}${requestId ? `, request ${requestId}` : ''}`,
    httpCode: String(response.statusCode),
    itemIndex,
  });
}

/** The JSON of an answer; that of a refused download comes as bytes. */
function readBody(body: unknown): IDataObject {
  if (body === null || body === undefined) return {};
  if (typeof body === 'object' && !(body instanceof ArrayBuffer) && !ArrayBuffer.isView(body)) {
    return body as IDataObject;
  }
  try {
    return JSON.parse(typeof body === 'string' ? body : Buffer.from(body as ArrayBuffer).toString()) as IDataObject;
  } catch {
    return {};
  }
}

/** The first `maxItems` items of a list, over as many pages as that takes. */
export async function requestItems(
  context: ApiContext,
  apiRequest: ApiRequest,
  pageSize: number,
  maxItems: number,
): Promise<IDataObject[]> {
  const items: IDataObject[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page++) {
    const query: IDataObject = { ...apiRequest.query, limit: Math.min(pageSize, maxItems - items.length) };
    if (cursor) query.cursor = cursor;
    const response = await request(context, { ...apiRequest, query });
    items.push(...(response.body as IDataObject[]));
    const next = nextCursor(response.headers.link);
    if (!next || next === cursor || items.length >= maxItems) return items;
    cursor = next;
  }
  throw new NodeOperationError(context.getNode(), `The list has more than ${PAGES} pages. Narrow it.`, {
    itemIndex: apiRequest.itemIndex,
  });
}

/** The cursor of the next page. The rest of the link is not followed, so the key stays with the address of the credentials. */
export function nextCursor(link: string | undefined): string | undefined {
  const next = /<([^>]*)>\s*;\s*rel="next"/.exec(link ?? '');
  return next ? (new URL(next[1], 'http://mailroom.invalid').searchParams.get('cursor') ?? undefined) : undefined;
}
