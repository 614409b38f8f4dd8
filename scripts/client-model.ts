// What the clients in Python and Go are generated from: the types and operations of the OpenAPI description, without the
// references and alternatives of JSON Schema, and with the names that src/client/resources.ts gives the operations.
import type { Calls } from '../src/client/calls.ts';
import { resourcesOf } from '../src/client/resources.ts';

/** The type of a value. `time` is an instant in RFC 3339; `json` any value. */
export type Type =
  | { readonly kind: 'string' | 'time' | 'integer' | 'number' | 'boolean' | 'json' }
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'named'; readonly name: string }
  | { readonly kind: 'list' | 'map' | 'nullable'; readonly of: Type }
  | { readonly kind: 'either'; readonly of: readonly Type[] };

export interface Field {
  readonly name: string;
  readonly type: Type;
  readonly isRequired: boolean;
  readonly doc: string;
}

/** A named type: an object with fields, or a name for another type. */
export type NamedType = { readonly name: string; readonly doc: string } & (
  | { readonly fields: readonly Field[] }
  | { readonly type: Type }
);

export interface Operation {
  /** The `operationId`, such as `createPayout`. */
  readonly id: string;
  /** The resource and the name of the function in it, such as `payouts` and `create`. */
  readonly resource: string;
  readonly name: string;
  readonly doc: string;
  readonly method: string;
  readonly path: string;
  readonly pathFields: readonly Field[];
  readonly query: readonly Field[];
  readonly body: {
    readonly type: Type | 'file';
    readonly isRequired: boolean;
    readonly media: string;
  } | null;
  readonly isConditional: boolean;
  /** It publishes a list of events, in several requests if one would be too large. */
  readonly isInBatches: boolean;
  /** A page of records, one record, a file, or nothing. `order`: of a list, the order in which new records come last. */
  readonly result:
    | { readonly kind: 'page'; readonly of: Type; readonly order: string | null }
    | { readonly kind: 'record'; readonly of: Type }
    | { readonly kind: 'file' | 'nothing' };
}

export interface ClientModel {
  readonly types: readonly NamedType[];
  readonly operations: readonly Operation[];
  /** The types of whole events, by event type. */
  readonly events: ReadonlyMap<string, string>;
}

const BATCHES =
  ' More are sent in several requests, one after the other, each all or nothing. A key `k` then becomes `k-0`, `k-1` and so on.';

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: DescribedOperation }>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>> & {
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

interface DescribedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content } | { readonly $ref: string }>>;
}

/** Reads a description. Throws if an operation has no name in src/client/resources.ts, or two types have the same name. */
export function clientModel(description: object): ClientModel {
  const described = JSON.parse(JSON.stringify(description)) as Described;
  const types = typesOf(described.components.schemas);
  const names = namesOfOperations();
  const operations = Object.entries(described.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const named = names.get(operation.operationId);
      if (!named) throw new Error(`${operation.operationId} has no function in src/client/resources.ts`);
      return {
        ...named,
        ...operationOf(described, types, { method: method.toUpperCase(), path, operation }),
      };
    }),
  );
  const events = Object.entries(described.webhooks).flatMap(([type, { post }]) => {
    const name = post.requestBody?.content['application/json']?.schema.$ref?.split('/').at(-1);
    return name === undefined ? [] : [[type, name] as const];
  });
  return { types: [...types.all.values()], operations, events: new Map(events) };
}

/** The resource and function of each operation. */
function namesOfOperations(): Map<string, { resource: string; name: string }> {
  const calls = {
    method: (operation: string) => ({ operation }),
    send: () => undefined,
  } as unknown as Calls;
  return new Map(
    Object.entries(resourcesOf(calls)).flatMap(([resource, functions]) =>
      Object.entries(functions as Record<string, { operation: string }>).map(
        ([name, { operation }]) => [operation, { resource, name }] as const,
      ),
    ),
  );
}

interface Types {
  readonly all: Map<string, NamedType>;
  /** The type of a schema; an object without a name of its own gets this one. */
  of(schema: Schema, name: string): Type;
  /** The type of the records, if the schema is a page of a list. */
  ofItems(schema: Schema | undefined): Type | null;
}

function typesOf(schemas: Readonly<Record<string, Schema>>): Types {
  const all = new Map<string, NamedType>();
  const resolved = (schema: Schema | undefined) =>
    schema?.$ref === undefined ? schema : schemas[nameIn(schema.$ref)];

  const add = (name: string, type: NamedType): Type => {
    const known = all.get(name);
    if (known && JSON.stringify(known) !== JSON.stringify(type))
      throw new Error(`two types are named ${name}`);
    all.set(name, type);
    return { kind: 'named', name };
  };
  const object = (schema: Schema, name: string): Type => {
    const fields = Object.entries(schema.properties ?? {}).map(([field, one]) => ({
      name: field,
      type: identified(of(one, name + pascal(field)), field),
      isRequired: schema.required?.includes(field) ?? false,
      doc: docOf(one),
    }));
    return add(name, { name, doc: docOf(schema), fields });
  };
  const alternatives = (choices: readonly Schema[], name: string): Type => {
    const others = choices.filter(({ type }) => type !== 'null');
    const objects = others.filter(({ properties }) => properties).length;
    const given = others.map((one, index) => of(one, objects > 1 ? `${name}${index + 1}` : name));
    const [first = { kind: 'json' } as const] = given;
    const type: Type = given.length > 1 ? { kind: 'either', of: given } : first;
    return others.length < choices.length ? { kind: 'nullable', of: type } : type;
  };
  const of = (schema: Schema, name: string): Type => {
    if (schema.$ref !== undefined) {
      const target = resolved(schema) ?? {};
      return isPlain(target) ? of(target, name) : { kind: 'named', name: nameIn(schema.$ref) };
    }
    const [one, ...more] = schema.allOf ?? [];
    if (one) return of(more.length === 0 ? one : merged(schema, resolved), name);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices && !schema.properties) return alternatives(choices, name);
    if (schema.properties) return object(schema, name);
    const values = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
    if (values.length > 0 && values.every((value) => typeof value === 'string')) {
      return { kind: 'words', words: values };
    }
    const entries = Object.values(schema.patternProperties ?? {})[0] ?? schema.additionalProperties;
    if (typeof entries === 'object') return { kind: 'map', of: of(entries, `${name}Value`) };
    switch (schema.type) {
      case 'array':
        return { kind: 'list', of: of(schema.items ?? {}, `${name}Item`) };
      case 'object':
        return { kind: 'map', of: { kind: 'json' } };
      case 'string':
        return { kind: schema.format === 'date-time' ? 'time' : 'string' };
      case 'integer':
      case 'number':
      case 'boolean':
        return { kind: schema.type };
      default:
        return { kind: typeof values[0] === 'boolean' ? 'boolean' : 'json' };
    }
  };
  const ofItems = (schema: Schema | undefined): Type | null => {
    const list = resolved(schema);
    const items = list?.properties?.pagination && list.properties.data?.items;
    return items ? of(items, 'Item') : null;
  };
  for (const [name, schema] of Object.entries(schemas)) {
    if (name === 'Error' || ofItems(schema) || isPlain(schema)) continue;
    const type = of(schema, name);
    if (type.kind !== 'named' || type.name !== name) add(name, { name, doc: docOf(schema), type });
  }
  return { all, of, ofItems };
}

/** Texts, times and maps: languages have types for them. */
const isPlain = (schema: Schema): boolean =>
  (schema.type === 'string' && schema.enum === undefined && schema.const === undefined) ||
  (schema.properties === undefined && typeof schema.additionalProperties === 'object');

const nameIn = (reference: string) => reference.split('/').at(-1) ?? '';

/** The parts of an `allOf` as one object. */
function merged({ allOf = [], ...rest }: Schema, resolved: (schema: Schema) => Schema | undefined): Schema {
  const parts = [...allOf.map((part) => resolved(part) ?? part), rest];
  return {
    ...rest,
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required = [] }) => required),
  };
}

/** Ids in requests are numbers in the description, because the interface says so; they are whole. */
function identified(type: Type, field: string): Type {
  if (type.kind === 'nullable') return { ...type, of: identified(type.of, field) };
  return type.kind === 'number' && field.endsWith('_id') ? { kind: 'integer' } : type;
}

function docOf(schema: Schema): string {
  const text = schema.description ?? schema.anyOf?.map(docOf).find((one) => one !== '') ?? '';
  return text.startsWith('RFC 3339, UTC') ? '' : text;
}

/** `payout_method` or `payoutMethod` as `PayoutMethod`. */
export function pascal(name: string): string {
  const parts = name.split(/[^A-Za-z0-9]+/).filter((part) => part !== '');
  return parts.map((part) => part[0]?.toUpperCase() + part.slice(1)).join('');
}

type Part = Omit<Operation, 'resource' | 'name'>;

function operationOf(
  { components }: Described,
  types: Types,
  { method, path, operation }: { method: string; path: string; operation: DescribedOperation },
): Part {
  const resolve = <Value>(value: Value | { readonly $ref: string }): Value => {
    const reference = (value as { $ref?: string }).$ref;
    if (reference === undefined) return value as Value;
    const [group = '', name = ''] = reference.split('/').slice(-2);
    return components[group]?.[name] as Value;
  };
  const { operationId: id, summary, description, requestBody } = operation;
  const isInBatches = id === 'publishEventBatch';
  const parameters = (operation.parameters ?? []).map((one) => resolve<Parameter>(one));
  const field = ({ name, required = false, description: about, schema }: Parameter): Field => ({
    name,
    type: ofQuery(schema) ?? types.of(schema, pascal(id) + pascal(name)),
    isRequired: required,
    doc: [about ?? docOf(schema), schema.default === undefined ? '' : `default \`${schema.default}\``]
      .filter((text) => text !== '')
      .join('; '),
  });
  const [media, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const query = parameters.filter((one) => one.in === 'query');
  return {
    id,
    doc: `${summary}.${description && description !== `${summary}.` ? ` ${description}` : ''}${isInBatches ? BATCHES : ''}`,
    method,
    path,
    pathFields: parameters
      .filter((one) => one.in === 'path')
      .map((one) => ({ ...field(one), isRequired: true })),
    query: query.map(field),
    body:
      media === undefined || content === undefined
        ? null
        : {
            type: media === 'application/json' ? types.of(content.schema, `${pascal(id)}Body`) : 'file',
            isRequired: requestBody?.required ?? false,
            media,
          },
    isConditional: parameters.some((one) => one.name === 'If-Match'),
    isInBatches,
    result: resultOf(
      Object.entries(operation.responses)
        .filter(([status]) => status.startsWith('2'))
        .map(([, response]) => resolve<{ content?: Content }>(response).content),
      { types, id, sort: query.find(({ name }) => name === 'sort')?.schema },
    ),
  };
}

/** The texts `true` and `false` of a query are a boolean. */
const ofQuery = (schema: Schema): Type | null =>
  schema.enum?.join() === 'true,false' ? { kind: 'boolean' } : null;

function resultOf(
  contents: readonly (Content | undefined)[],
  { types, id, sort }: { types: Types; id: string; sort: Schema | undefined },
): Operation['result'] {
  const [content] = contents;
  if (!content) return { kind: 'nothing' };
  const json = content['application/json'];
  if (!json) return { kind: 'file' };
  const item = types.ofItems(json.schema);
  if (!item) return { kind: 'record', of: types.of(json.schema, `${pascal(id)}Result`) };
  const order = sort?.enum?.includes('id') ? 'id' : ((sort?.default as string | undefined) ?? null);
  return { kind: 'page', of: item, order };
}
