// Generates src/client/api.ts from the OpenAPI description: a type for every named component, body and query, and the
// table of operations from which the client builds its methods.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Alternatives } from '../src/contract/schemas.ts';

interface Schema {
  readonly 'x-alternatives'?: Alternatives;
  readonly $ref?: string | undefined;
  readonly type?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[] | undefined;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly maximum?: number;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const HEAD = `// Made by \`npm run generate\` from the description of the API: change the routes, not this file.
import type { Download } from './download.ts';
import type { Upload } from './upload.ts';

/** A page of a list with its exact total. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly pagination: Pagination;
}

/** Which page of a list. */
export interface PageQuery {
  /** Default 1. */
  readonly page?: number | undefined;
  /** Records a page: default 50, at most 100. */
  readonly per_page?: number | undefined;
  /** Instead of a page: what the one before calls next. */
  readonly after?: string | undefined;
}
`;

// The client throws it as ApiError.
const NOT_RECORDS = new Set(['Error']);
const PAGE_PARAMETERS = new Set(['page', 'per_page', 'after']);
const COMMENT_WIDTH = 108;

/** The text of src/client/api.ts, formatted. */
export function clientTypes(described: object): string {
  // through JSON, as a client reads it
  const { components, ...parsed } = JSON.parse(JSON.stringify(described)) as Described;
  const paths = withLists(parsed.paths, components.schemas);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const records = Object.entries(components.schemas).filter(
    ([name, schema]) => !NOT_RECORDS.has(name) && itemOf(schema) === undefined,
  );
  return formatted(
    [
      HEAD,
      ...records.map(([name, schema]) => declaration(name, schema)),
      `/** An event of Payhook: \`type\` decides the type of \`data\`. */
      export type PayhookEvent = ${eventNames(described).join(' | ')};`,
      ...operations.flatMap(({ operation }) => inputs(operation)),
      `/** Every operation of the API: what it takes, and what it gives. */
      export interface Operations {
        ${operations.map(({ operation }) => entry(operation)).join('\n')}
      }`,
      `/** How each operation is asked for; a list in \`order\` gets what is new at its end. */
      export const OPERATIONS = {
        ${operations.map(({ method, path, operation }) => `${operation.operationId}: ${route(method, path, operation)},`).join('\n')}
      } as const satisfies Readonly<Record<keyof Operations, object>>;`,
    ].join('\n\n'),
  );
}

/** The names of the events that the description says endpoints get. */
function eventNames(described: object): string[] {
  const { webhooks } = described as {
    webhooks: Record<string, { post: { requestBody: { content: Content } } }>;
  };
  return Object.values(webhooks).map(({ post }) =>
    typeOf(post.requestBody.content['application/json']?.schema ?? {}),
  );
}

/** The paths with the list envelopes inlined: the client has one type for all of them. */
function withLists(
  paths: Described['paths'],
  schemas: Described['components']['schemas'],
): Described['paths'] {
  return JSON.parse(JSON.stringify(paths), (_, value: Schema) => {
    const named = value?.$ref === undefined ? undefined : schemas[value.$ref.split('/').at(-1) ?? ''];
    return named && itemOf(named) ? named : value;
  }) as Described['paths'];
}

/** Code of src/client as biome formats it. */
export function formatted(code: string): string {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const { status, stdout, stderr } = spawnSync(
    `${root}node_modules/.bin/biome`,
    ['format', '--stdin-file-path=src/client/api.ts'],
    { cwd: root, input: code, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`biome: ${stderr}`);
  return stdout;
}

/** A named type. */
function declaration(name: string, schema: Schema): string {
  const doc = comment(describing(schema));
  if (schema['x-alternatives']) return doc + alternativesOf(name, schema, schema['x-alternatives']);
  return schema.properties
    ? `${doc}export interface ${name} ${typeOf(schema)}`
    : `${doc}export type ${name} = ${typeOf(schema)};`;
}

/** An input whose fields exclude each other: an interface for each alternative, which has the fields of all. */
function alternativesOf(
  name: string,
  { properties = {}, required = [] }: Schema,
  { decidedBy, alternatives }: Alternatives,
): string {
  const special = [
    ...new Set([
      ...(decidedBy === undefined ? [] : [decidedBy]),
      ...alternatives.flatMap(({ needs = [], accepts = [] }) => [...needs, ...accepts]),
    ]),
  ];
  const ofAll = Object.entries(properties).filter(([field]) => !special.includes(field));
  const types = alternatives.map(({ title, needs = [], accepts = [], values }) => {
    const own = special.map((field) => {
      const schema = properties[field] ?? {};
      if (field === decidedBy && values)
        return memberOf(field, { ...schema, $ref: undefined, enum: values }, [...required, ...needs]);
      const isTaken = needs.includes(field) || accepts.includes(field);
      return isTaken ? memberOf(field, schema, needs) : `readonly ${field}?: undefined;`;
    });
    return `export interface ${title} extends ${name}Fields {\n${own.join('\n')}\n}`;
  });
  return [
    `export type ${name} = ${alternatives.map(({ title }) => title).join(' | ')};`,
    `export interface ${name}Fields ${objectType(Object.fromEntries(ofAll), required)}`,
    ...types,
  ].join('\n\n');
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? '';
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.properties) return objectType(schema.properties, schema.required);
  if (typeof schema.additionalProperties === 'object')
    return `Readonly<Record<string, ${typeOf(schema.additionalProperties)}>>`;
  switch (schema.type) {
    case 'array':
      return `readonly (${typeOf(schema.items ?? {})})[]`;
    case 'string':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
    case 'null':
      return schema.type;
    case undefined:
      return 'unknown';
    default:
      throw new Error(`no type of TypeScript for ${JSON.stringify(schema)}`);
  }
}

function objectType(properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): string {
  const fields = Object.entries(properties).map(([name, schema]) => memberOf(name, schema, required));
  return `{\n${fields.join('\n')}\n}`;
}

const memberOf = (name: string, schema: Schema, required: readonly string[]): string =>
  field(name, typeOf(schema), { optional: !required.includes(name), doc: describing(schema) });

function field(name: string, type: string, about: { optional: boolean; doc?: string | undefined }): string {
  const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
  const missing = about.optional ? ' | undefined' : '';
  return `${comment(about.doc)}readonly ${key}${about.optional ? '?' : ''}: ${type}${missing};`;
}

/** The constraints of a schema beyond its type. */
function describing(schema: Schema): string | undefined {
  return schema.description ?? schema.anyOf?.map(describing).find((text) => text !== undefined);
}

function comment(text: string | undefined): string {
  if (text === undefined || text === '') return '';
  const lines = wrapped(text.replaceAll('*/', '* /'));
  return lines.length === 1
    ? `/** ${lines[0]} */\n`
    : `/**\n${lines.map((line) => ` * ${line}\n`).join('')} */\n`;
}

function wrapped(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 1 > COMMENT_WIDTH) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

const capital = (name: string) => name[0]?.toUpperCase() + name.slice(1);
const inQuery = ({ parameters }: Operation) => parameters.filter((parameter) => parameter.in === 'query');
const bodyOf = ({ requestBody }: Operation): Schema | 'file' | undefined => {
  if (!requestBody) return undefined;
  return requestBody.content['application/json']?.schema ?? 'file';
};

/** The result of an operation: the schema of its JSON, a file, or nothing. */
function resultOf({ operationId, responses }: Operation): Schema | 'file' | 'nothing' {
  const contents = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) => content);
  const results = contents.map((content) => {
    if (!content) return 'nothing';
    return content['application/json']?.schema ?? 'file';
  });
  const [first = 'nothing', ...others] = results;
  if (others.some((other) => JSON.stringify(other) !== JSON.stringify(first))) {
    throw new Error(`${operationId} has several successes of different shapes`);
  }
  return first;
}

/** The record type of a list; undefined when it is no list. */
function itemOf(schema: Schema | 'file' | 'nothing'): Schema | undefined {
  return typeof schema === 'object' && schema.properties?.pagination
    ? schema.properties.data?.items
    : undefined;
}

/** The named types of an operation's input, where the description has no name for it. */
function inputs(operation: Operation): string[] {
  const name = capital(operation.operationId);
  const body = bodyOf(operation);
  return [
    ...(typeof body === 'object' && body.$ref === undefined ? [declaration(`${name}Body`, body)] : []),
    ...(inQuery(operation).length > 0 ? [queryType(`${name}Query`, inQuery(operation))] : []),
  ];
}

function queryType(name: string, parameters: readonly Parameter[]): string {
  const isList = parameters.some((parameter) => parameter.name === 'per_page');
  const own = parameters.filter((parameter) => !(isList && PAGE_PARAMETERS.has(parameter.name)));
  const fields = own.map((parameter) => {
    const { schema, required = false } = parameter;
    const isBoolean = schema.enum?.join() === 'true,false';
    const type = isBoolean ? 'boolean' : typeOf(schema);
    return field(parameter.name, type, { optional: !required, doc: rule(parameter) });
  });
  if (fields.length === 0) return `export type ${name} = PageQuery;`;
  return `export interface ${name} ${isList ? 'extends PageQuery ' : ''}{\n${fields.join('\n')}\n}`;
}

/** The meaning of a parameter, where its type does not fully express it. */
function rule({ description, schema }: Parameter): string | undefined {
  const known = schema.enum && schema.default === undefined;
  const standard = schema.default === undefined ? '' : `; default \`${schema.default}\``;
  const text = (known ? '' : (description ?? schema.description ?? '')) + standard;
  return text === '' ? undefined : text;
}

/** The types of one operation. */
function entry(operation: Operation): string {
  const { operationId, parameters, summary, description } = operation;
  const name = capital(operationId);
  const body = bodyOf(operation);
  const result = resultOf(operation);
  const item = itemOf(result);
  const path = parameters.filter((parameter) => parameter.in === 'path');
  const headers = parameters.filter((parameter) => parameter.in === 'header');
  const members = [
    ...(path.length === 0 ? [] : [`readonly path: [${path.map(pathElement).join(', ')}];`]),
    ...queryMember(operation, name),
    ...(body === undefined ? [] : [bodyMember(operation, body, name)]),
    ...(headers.length === 0
      ? []
      : [`readonly header: ${headers.map((one) => `'${one.name}'`).join(' | ')};`]),
    `readonly result: ${item ? `Page<${typeOf(item)}>` : resultType(result)};`,
  ];
  return `${comment(`${summary}.${description ? ` ${description}` : ''}`)}readonly ${operationId}: {\n${members.join('\n')}\n};`;
}

const pathElement = ({ name, schema }: Parameter) => `${name}: ${typeOf({ ...schema, enum: undefined })}`;

function queryMember(operation: Operation, name: string): string[] {
  const query = inQuery(operation);
  if (query.length === 0) return [];
  return [`readonly query${query.some(({ required }) => required) ? '' : '?'}: ${name}Query;`];
}

function bodyMember({ requestBody }: Operation, body: Schema | 'file', name: string): string {
  if (body === 'file') return 'readonly body: Upload;';
  return `readonly body${requestBody?.required ? '' : '?'}: ${body.$ref === undefined ? `${name}Body` : typeOf(body)};`;
}

function resultType(result: Schema | 'file' | 'nothing'): string {
  if (result === 'nothing') return 'undefined';
  return result === 'file' ? 'Download' : typeOf(result);
}

/** The request of an operation, as data. */
function route(method: string, path: string, operation: Operation): string {
  const body = bodyOf(operation);
  const result = resultOf(operation);
  const takes = [
    ...(body === undefined ? [] : [body === 'file' ? 'file' : 'body']),
    ...(inQuery(operation).length > 0 ? ['query'] : []),
  ];
  const gives = itemOf(result) ? 'page' : typeof result === 'object' ? 'record' : result;
  const sort = inQuery(operation).find(({ name }) => name === 'sort')?.schema;
  const order = sort?.enum?.includes('id') ? 'id' : sort?.default;
  const fileType = body === 'file' ? Object.keys(operation.requestBody?.content ?? {})[0] : undefined;
  const more = Object.entries({ fileType, order }).flatMap(([name, value]) =>
    value === undefined ? [] : [`, ${name}: '${value}'`],
  );
  return `{ method: '${method}', path: '${path}', takes: [${takes.map((part) => `'${part}'`).join(', ')}], gives: '${gives}'${more.join('')} }`;
}
