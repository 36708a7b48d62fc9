// Writes what the nodes say of operations, fields and events, from the openapi.json of a Mailroom.
//
//   npm run generate -- FILE_OR_URL            writes nodes/Mailroom/resources and nodes/MailroomTrigger/events.ts
//   npm run generate -- --check FILE_OR_URL    only fails where they are out of date
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { titleCase } from 'title-case';

const nodes = new URL('../nodes/', import.meta.url);
const RESOURCES = 'Mailroom/resources/';
const HEAD = '// Made from openapi.json by `npm run generate`: change it there.\n';
/** Resources whose name does not follow from the path, and paths that belong to another resource. */
const RESOURCE_OF_PATH = {
  links: 'conversation',
  me: 'key',
  calls: 'key',
  undo: 'conversation',
  mailboxes: 'inbox',
  'app-mail': 'appMail',
};
/** Parameters that the node sees to itself. */
const OWN_PARAMETERS = ['cursor', 'limit', 'count'];
/** What is said of no parameter but in another way. */
const NAMES = { q: 'Search', ids: 'IDs' };
/** Text of so many characters gets several rows. */
const LONG_TEXT = 5000;

async function main(args) {
  const check = args[0] === '--check';
  const source = args[check ? 1 : 0];
  if (!source) throw new Error('npm run generate -- [--check] FILE_OR_URL');
  const text = /^https?:/.test(source) ? await (await fetch(source)).text() : readFileSync(source, 'utf8');
  const files = describe(JSON.parse(text));
  const old = [...readdirSync(new URL(RESOURCES, nodes)).map((name) => RESOURCES + name), 'MailroomTrigger/events.ts'];
  const stale = [...new Set([...Object.keys(files), ...old])].filter((name) => files[name] !== read(name));
  if (check && stale.length > 0) {
    throw new Error(`Out of date: ${stale.join(', ')}. Run \`npm run generate\` in integrations/n8n.`);
  }
  for (const name of stale) {
    if (files[name]) writeFileSync(new URL(name, nodes), files[name]);
    else rmSync(new URL(name, nodes));
  }
  console.log(`${Object.keys(files).length} files, ${stale.length} of them new`);
}

function read(name) {
  const file = new URL(name, nodes);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** The files by name. */
function describe(openapi) {
  const byResource = new Map();
  for (const [path, methods] of Object.entries(openapi.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (operation.operationId === 'openapi') continue;
      const resource = resourceOf(path);
      byResource.set(resource, [...(byResource.get(resource) ?? []), readOperation(openapi, path, method, operation)]);
    }
  }
  const resources = [...byResource.keys()].sort();
  const files = { [`${RESOURCES}index.ts`]: indexFile(resources) };
  for (const resource of resources) {
    files[`${RESOURCES}${resource}.ts`] = resourceFile(resource, byResource.get(resource));
  }
  files['MailroomTrigger/events.ts'] = eventsFile(openapi.webhooks);
  return files;
}

function resourceOf(path) {
  const first = path.split('/')[1];
  return RESOURCE_OF_PATH[first] ?? camel(first).replace(/s$/, '');
}

function readOperation(openapi, path, method, operation) {
  const parameters = operation.parameters ?? [];
  const answer = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))[1];
  const schema = operation.requestBody?.content['application/json'].schema ?? { properties: {} };
  const inputs = [
    ...parameters.filter((one) => one.in === 'query').map((one) => ({ ...one.schema, ...one })),
    ...Object.entries(schema.properties ?? {}).map(([name, property]) => ({
      ...property,
      name,
      required: schema.required?.includes(name) ?? false,
      schema: property,
    })),
  ];
  const limit = inputs.find((input) => input.name === 'limit');
  return {
    name: camel(operation.operationId),
    method: method.toUpperCase(),
    path,
    summary: operation.summary,
    description: operation.description.split('\n\n')[0],
    id: parameters.find((one) => one.in === 'path'),
    fields: inputs.filter((input) => !OWN_PARAMETERS.includes(input.name)).map(readField),
    pageSize: limit?.schema.maximum,
    paged: inputs.some((input) => input.name === 'cursor'),
    takesIdempotencyKey: parameters.some((one) => one.name === 'Idempotency-Key'),
    keyDescription: parameters.find((one) => one.name === 'Idempotency-Key')?.description,
    download: 'application/octet-stream' in answer.content,
  };
}

function readField(input) {
  const nullable = input.schema.anyOf?.some((one) => one.type === 'null') ?? false;
  const schema = nullable ? input.schema.anyOf.find((one) => one.type !== 'null') : input.schema;
  const field = { name: input.name, description: input.description, required: input.required, nullable, schema };
  if (schema.type === 'object' && schema.properties) {
    return { ...field, kind: 'object', fields: readFields(schema) };
  }
  if (schema.type === 'array' && schema.items.type === 'object') {
    return { ...field, kind: 'objects', fields: readFields(schema.items) };
  }
  const kinds = { string: 'text', integer: 'number', boolean: 'boolean', array: 'list', object: 'json' };
  if (!kinds[schema.type]) throw new Error(`${input.name}: no field is made of ${JSON.stringify(schema)}`);
  return { ...field, kind: kinds[schema.type], fields: [] };
}

function readFields(schema) {
  return Object.entries(schema.properties).map(([name, property]) =>
    readField({ ...property, name, required: schema.required?.includes(name) ?? false, schema: property }),
  );
}

function indexFile(resources) {
  const imports = resources.map((name) => `import * as ${name} from './${name}';\n`);
  const options = resources.map((name) => ({ name: words(name), value: name })).sort(byName('name'));
  return `${HEAD}import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import type { ApiOperation } from '../operation';
${imports.join('')}
export const resources: INodePropertyOptions[] = ${print(options)};

/** By resource and operation. */
export const operations: Record<string, ApiOperation> = {
${resources.map((name) => `  ...${name}.operations,\n`).join('')}};

export const properties: INodeProperties[] = [
${resources.map((name) => `  ...${name}.properties,\n`).join('')}];
`;
}

function resourceFile(resource, operations) {
  const table = Object.fromEntries(operations.map((one) => [`${resource}.${one.name}`, wireOperation(one)]));
  const bySummary = [...operations].sort((a, b) => byName('name')({ name: a.summary }, { name: b.summary }));
  const properties = [
    {
      displayName: 'Operation',
      name: 'operation',
      type: 'options',
      noDataExpression: true,
      displayOptions: { show: { resource: [resource] } },
      options: bySummary.map((one) => ({
        name: titleCase(one.summary),
        value: one.name,
        // Its rule knows no apostrophe.
        action: one.summary.replace("'s ", ' '),
        description: sentence(one.description),
      })),
      default: bySummary[0].name,
    },
    ...operations.flatMap((one) => operationProperties(resource, one)),
  ];
  return `${HEAD}import type { INodeProperties } from 'n8n-workflow';
import type { ApiOperation } from '../operation';

export const operations: Record<string, ApiOperation> = ${print(table)};

export const properties: INodeProperties[] = ${print(properties)};
`;
}

function wireOperation({ method, path, fields, pageSize, paged, takesIdempotencyKey, download }) {
  return compact({
    method,
    path,
    fields: fields.map(wireField),
    pageSize,
    paged: paged || undefined,
    takesIdempotencyKey: takesIdempotencyKey || undefined,
    download: download || undefined,
  });
}

function wireField({ name, kind, required, nullable, fields }) {
  return compact({
    name,
    kind,
    required: required || undefined,
    nullable: nullable || undefined,
    fields: fields.length > 0 ? fields.map(wireField) : undefined,
  });
}

function operationProperties(resource, operation) {
  const displayOptions = { show: { resource: [resource], operation: [operation.name] } };
  const place = ({ displayName, name, type, ...rest }) => ({ displayName, name, type, displayOptions, ...rest });
  const properties = [];
  if (operation.id) properties.push(place(idProperty(operation)));
  const required = operation.fields.filter((field) => field.required);
  properties.push(...required.map((field) => place({ ...property(field), required: true })));
  if (operation.paged) properties.push(place(RETURN_ALL));
  if (operation.pageSize) {
    const limit = place({ ...LIMIT, typeOptions: { minValue: 1, ...(operation.paged ? {} : { maxValue: operation.pageSize }) } });
    if (operation.paged) limit.displayOptions = { show: { ...displayOptions.show, returnAll: [false] } };
    properties.push(limit);
  }
  if (operation.download) properties.push(place(FILE_FIELD));
  const optional = operation.fields.filter((field) => !field.required).map(property);
  if (operation.takesIdempotencyKey) optional.push(idempotencyKey(operation));
  if (optional.length > 0) properties.push(place(collection(operation, optional)));
  return properties;
}

const RETURN_ALL = {
  displayName: 'Return All',
  name: 'returnAll',
  type: 'boolean',
  default: false,
  description: 'Whether to return all results or only up to a given limit',
};
const LIMIT = {
  displayName: 'Limit',
  name: 'limit',
  type: 'number',
  default: 50,
  description: 'Max number of results to return',
};
const FILE_FIELD = {
  displayName: 'Put Output File in Field',
  name: 'binaryPropertyName',
  type: 'string',
  required: true,
  default: 'data',
  hint: 'The name of the output binary field to put the file in',
};

function idProperty({ id }) {
  const thing = /^The (.+)'s id\.$/.exec(id.description)?.[1];
  return {
    displayName: thing ? `${titleCase(thing)} ID` : 'Address',
    name: 'id',
    type: 'string',
    required: true,
    default: '',
    ...(thing ? { placeholder: `${/[a-z]+_/.exec(id.schema.pattern)[0]}…` } : {}),
    description: sentence(id.description),
  };
}

function idempotencyKey({ keyDescription }) {
  return {
    displayName: 'Idempotency Key',
    name: 'idempotencyKey',
    type: 'string',
    default: '',
    description: sentence(`${keyDescription} Without it, one for each item, which is the same when n8n tries again.`),
  };
}

function collection({ method }, options) {
  const [displayName, name, placeholder] =
    method === 'GET' ? ['Filters', 'filters', 'Add Filter'] : ['Additional Fields', 'additionalFields', 'Add Field'];
  return { displayName, name, type: 'collection', placeholder, default: {}, options: options.sort(byName('displayName')) };
}

/** The parameter of a field. */
function property(field) {
  const { name, kind, schema, nullable } = field;
  const description = sentence(nullable ? `${field.description} Empty is null.` : field.description);
  const base = { displayName: words(name), name };
  if (kind === 'object' || kind === 'objects') {
    const values = { displayName: words(name), name: 'values', values: field.fields.map(property).sort(byName('displayName')) };
    const several = kind === 'objects' ? { typeOptions: { multipleValues: true } } : {};
    return { ...base, type: 'fixedCollection', ...several, default: {}, description, options: [values] };
  }
  if (kind === 'boolean') {
    const whether = `Whether to set it: ${lowerFirst(sentence(field.description))}`;
    return { ...base, type: 'boolean', default: schema.default ?? false, description: sentence(whether) };
  }
  if (kind === 'list') {
    return { ...base, type: 'string', typeOptions: { multipleValues: true }, default: [], description };
  }
  if (kind === 'json') return { ...base, type: 'json', default: '{}', description };
  if (kind === 'number') {
    const typeOptions = { minValue: schema.minimum, maxValue: schema.maximum };
    return { ...base, type: 'number', typeOptions, default: schema.default ?? schema.minimum, description };
  }
  if (schema.enum) {
    const options = schema.enum.map((value) => ({ name: words(value), value }));
    if (options.length > 4) options.sort(byName('name'));
    return { ...base, type: 'options', options, default: schema.default ?? schema.enum[0], description };
  }
  const rows = schema.maxLength >= LONG_TEXT ? { typeOptions: { rows: 5 } } : {};
  const placeholder = name === 'email' ? { placeholder: 'name@email.com' } : {};
  return { ...base, type: 'string', ...rows, default: '', ...placeholder, description };
}

function eventsFile(webhooks) {
  const options = Object.entries(webhooks).map(([value, { post }]) => ({
    name: titleCase(value.replace('.', ' ')),
    value,
    description: sentence(post.summary),
  }));
  return `${HEAD}import type { INodePropertyOptions } from 'n8n-workflow';

export const events: INodePropertyOptions[] = ${print(options.sort(byName('name')))};
`;
}

/** As n8n writes descriptions: a single sentence without its period, several with them. */
function sentence(text) {
  const spaced = text
    .replace(/`/g, '')
    .replace(/\s+/g, ' ')
    .replace(/\bid\b/g, 'ID')
    .replace(/\bids\b/gi, 'IDs')
    .replace(/https:\/\/(?=[ ,.]|$)/g, 'https')
    .trim()
    .replace(/\.$/, '');
  const first = spaced.charAt(0).toUpperCase() + spaced.slice(1);
  return /\. /.test(first) ? `${first}.` : first;
}

function lowerFirst(text) {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function camel(name) {
  return name.replace(/[-_]([a-z])/g, (_, letter) => letter.toUpperCase());
}

function words(name) {
  const spaced = name.replace(/([A-Z])/g, ' $1').replace(/[-_]/g, ' ').toLowerCase();
  return (NAMES[name] ?? titleCase(spaced)).replace(/\bId\b/g, 'ID').replace(/\bUrl\b/g, 'URL').replace(/\bHtml\b/g, 'HTML');
}

function byName(key) {
  return (a, b) => a[key].localeCompare(b[key], 'en');
}

function compact(object) {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

/** A literal, in one line where it fits. */
function print(value, indent = '') {
  if (typeof value !== 'object') return quote(value);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const inner = `${indent}  `;
  const parts = Object.entries(value).map(([key, one]) => {
    const label = Array.isArray(value) ? '' : `${/^[a-zA-Z]\w*$/.test(key) ? key : quote(key)}: `;
    return label + print(one, inner);
  });
  if (parts.length === 0) return open + close;
  const line = Array.isArray(value) ? `[${parts.join(', ')}]` : `{ ${parts.join(', ')} }`;
  if (line.length + indent.length <= 100 && !line.includes('\n')) return line;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}

function quote(value) {
  if (typeof value !== 'string') return JSON.stringify(value);
  return value.includes("'") ? JSON.stringify(value) : `'${value.replace(/\\/g, '\\\\').replace(/\n/g, '\\n')}'`;
}

await main(process.argv.slice(2));
