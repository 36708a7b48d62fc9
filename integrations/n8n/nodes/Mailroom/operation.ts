// What the node has to know of an operation of the API, and how its parameters become a request.
import type { IDataObject } from 'n8n-workflow';

export interface ApiField {
  name: string;
  kind: 'text' | 'number' | 'boolean' | 'list' | 'json' | 'object' | 'objects';
  required?: true;
  /** Null means something: it is sent where the field is there and empty. */
  nullable?: true;
  /** Those of an object, or of each object of a list. */
  fields?: ApiField[];
}

export interface ApiOperation {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  fields: ApiField[];
  /** How many items the API gives at once, where there can be more than that. */
  pageSize?: number;
  /** The list goes on with a cursor. */
  paged?: true;
  takesIdempotencyKey?: true;
  /** The answer is a file. */
  download?: true;
}

/** The path of one thing; whatever was entered as its id, it leads to this operation. */
export function fillPath(path: string, entered: unknown): string {
  const id = String(entered ?? '').trim();
  if (['', '.', '..'].includes(id)) throw new InputError('id: is required');
  return path.replace('{id}', () => encodeURIComponent(id));
}

/** The input of an operation; what is empty is left out. */
export function toInput(fields: ApiField[], values: IDataObject): IDataObject {
  const input: IDataObject = {};
  for (const field of fields) {
    if (!(field.name in values)) continue;
    const value = toValue(field, values[field.name]);
    if (value !== undefined) input[field.name] = value as IDataObject;
  }
  return input;
}

function toValue(field: ApiField, value: unknown): unknown {
  if (value === undefined || value === null || value === '') {
    return field.nullable && value !== undefined ? null : undefined;
  }
  switch (field.kind) {
    case 'text':
      return toText(value);
    case 'number':
      return Number(value);
    case 'boolean':
      return typeof value === 'string' ? value === 'true' : value;
    case 'list':
      return toList(value);
    case 'json':
      return typeof value === 'string' ? parseJson(field.name, value) : value;
    case 'object':
      return toObject(field, grouped(field.name, value));
    case 'objects': {
      const items = grouped(field.name, value) ?? [];
      const list = Array.isArray(items) ? items : [items];
      return list.length > 0 ? list.map((item) => toObject(field, item)) : undefined;
    }
  }
}

/** Times of n8n are objects that can say themselves. */
function toText(value: unknown): string {
  const time = value as { toISO?: () => string | null };
  if (typeof time.toISO === 'function') return time.toISO() ?? '';
  return value instanceof Date ? value.toISOString() : String(value);
}

/** An expression may give a list, or its items with commas between them. */
function toList(value: unknown): string[] | undefined {
  const items = Array.isArray(value) ? value : String(value).split(',');
  const texts = items.map((item) => toText(item).trim()).filter((item) => item !== '');
  return texts.length > 0 ? texts : undefined;
}

function toObject(field: ApiField, value: unknown): IDataObject | undefined {
  return value ? toInput(field.fields ?? [], value as IDataObject) : undefined;
}

/** The form puts what was entered into a group; an expression gives the value itself, or JSON. */
function grouped(name: string, value: unknown): unknown {
  const group = (typeof value === 'string' ? parseJson(name, value) : value) as { values?: unknown };
  return Array.isArray(group) || !('values' in group) ? emptyAsMissing(group) : group.values;
}

function emptyAsMissing(value: unknown): unknown {
  return Object.keys(value as object).length > 0 ? value : undefined;
}

function parseJson(name: string, text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null) throw new InputError(`${name}: must be JSON, such as {"key": "value"}`);
  return value;
}

/** What was entered cannot be sent. */
export class InputError extends Error {}
