import { REASONS, type ReasonName } from '../../kernel/errors.ts';
import { isKeyed } from '../../kernel/keyed-methods.ts';

/** A JSON schema, as far as the reference reads it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly default?: unknown;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: string;
}

/** A body: its media type, its schema and, where there is one, an example. */
interface Content {
  readonly type: string;
  readonly schema: Schema;
  readonly example: unknown;
}

/** An answer that is no refusal. */
export interface Answer {
  readonly status: number;
  readonly content: Content | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** A status that refuses, with the reasons of its `Payhook-Reason`; with the example of one of them. */
export interface Refusal {
  readonly status: number;
  readonly reasons: readonly ReasonName[];
  readonly example: { readonly body: unknown; readonly headers: Readonly<Record<string, string>> } | null;
}

/** Who may call an operation; each is enough. */
export interface Callers {
  readonly apiKey: boolean;
  /** The scope a token must hold. */
  readonly scope: string | null;
  /** The roles of users who may. */
  readonly roles: readonly string[];
  /** Whether a portal may, about its endpoints. */
  readonly portal: boolean;
}

export interface Operation {
  readonly id: string;
  readonly tag: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string | undefined;
  readonly callers: Callers;
  readonly parameters: readonly Parameter[];
  readonly body: (Content & { readonly required: boolean }) | null;
  /** The first is the one of the example, else the first of the description. */
  readonly answers: readonly Answer[];
  readonly refusals: readonly Refusal[];
}

/** What is described: the operations in their order, and the schemas that have names. */
export interface Description {
  readonly operations: readonly Operation[];
  readonly schemas: Readonly<Record<string, Schema>>;
  /** Reasons any operation of a method can give. */
  readonly everywhere: ReadonlySet<ReasonName>;
}

interface RawAnswer {
  readonly headers?: Readonly<Record<string, { readonly schema: Schema; readonly example?: string }>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
}

interface RawOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly 'x-roles': readonly string[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: RawAnswer & { readonly required: boolean };
  readonly responses: Readonly<Record<string, RawAnswer>>;
}

/** Reads the OpenAPI description this server makes. */
export function readDescription(openapi: Readonly<Record<string, unknown>>): Description {
  const { paths, components } = openapi as unknown as {
    paths: Record<string, Record<string, RawOperation>>;
    components: { schemas: Record<string, Schema> };
  };
  const operations = Object.entries(inlined(paths, components.schemas)).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => readOperation(method.toUpperCase(), path, raw)),
  );
  const schemas = Object.entries(inlined(components.schemas, components.schemas)).filter(
    ([name, schema]) => !isPlain(name, schema),
  );
  return { operations, schemas: Object.fromEntries(schemas), everywhere: commonReasons(operations) };
}

/** Bodies, pages, texts, maps and enumerations are described where they are used, not as records. */
function isPlain(name: string, { enum: words, type, properties, additionalProperties }: Schema): boolean {
  return (
    words !== undefined ||
    type === 'string' ||
    typeof additionalProperties === 'object' ||
    name.endsWith('Body') ||
    name.endsWith('Event') ||
    properties?.pagination !== undefined
  );
}

/** The value with what is no record in the place of its reference. */
function inlined<Value>(value: Value, schemas: Readonly<Record<string, Schema>>): Value {
  const walk = (inner: unknown): unknown => {
    if (Array.isArray(inner)) return inner.map(walk);
    if (typeof inner !== 'object' || inner === null) return inner;
    const { $ref, ...others } = inner as Schema;
    const name = $ref?.split('/').at(-1) ?? '';
    const named = schemas[name];
    if (named && isPlain(name, named)) {
      // what every text of the kind has in common is not repeated
      const { description, ...form } = named;
      return walk(named.type === 'string' ? { ...form, ...others } : { description, ...form, ...others });
    }
    return Object.fromEntries(Object.entries(inner).map(([key, each]) => [key, walk(each)]));
  };
  return walk(value) as Value;
}

function readOperation(method: string, path: string, raw: RawOperation): Operation {
  const answers = Object.entries(raw.responses).map(([status, answer]) => ({
    status: Number(status),
    reasons: (answer.headers?.['Payhook-Reason']?.schema.enum ?? null) as readonly ReasonName[] | null,
    content: contentOf(answer),
    headers: headersOf(answer),
  }));
  const good = answers.filter(({ reasons }) => reasons === null);
  const isShown = ({ content, headers }: (typeof answers)[number]) =>
    content?.example !== undefined || Object.keys(headers).length > 0;
  return {
    id: raw.operationId,
    tag: raw.tags[0] ?? '',
    method,
    path,
    summary: raw.summary,
    description: raw.description,
    callers: callersOf(raw),
    parameters: raw.parameters,
    body: bodyOf(raw.requestBody),
    answers: [...good.filter(isShown), ...good.filter((answer) => !isShown(answer))],
    refusals: answers.flatMap(({ status, reasons, content, headers }) =>
      reasons === null
        ? []
        : [{ status, reasons, example: content?.example ? { body: content.example, headers } : null }],
    ),
  };
}

function contentOf({ content = {} }: RawAnswer): Content | null {
  const types = Object.entries(content);
  const first = types.find(([, { example }]) => example !== undefined) ?? types[0];
  return first ? { type: first[0], schema: first[1].schema, example: first[1].example } : null;
}

function bodyOf(raw: RawOperation['requestBody']): Operation['body'] {
  const content = raw ? contentOf(raw) : null;
  return content && { ...content, required: raw?.required ?? false };
}

function headersOf({ headers = {} }: RawAnswer): Record<string, string> {
  const examples = Object.entries(headers).flatMap(([name, { example }]) =>
    example === undefined ? [] : [[name, example]],
  );
  return Object.fromEntries(examples);
}

function callersOf({ security, 'x-roles': roles }: RawOperation): Callers {
  const find = (scheme: string) => security.find((each) => scheme in each)?.[scheme];
  return {
    apiKey: find('apiKey') !== undefined,
    scope: find('oauth2')?.[0] ?? null,
    roles,
    portal: find('portal') !== undefined,
  };
}

/** Reasons that all operations give, or all that write, or all that take an Idempotency-Key. */
function commonReasons(operations: readonly Operation[]): ReadonlySet<ReasonName> {
  const groups = [
    operations,
    operations.filter(({ method }) => method !== 'GET'),
    operations.filter(({ method }) => isKeyed(method)),
  ];
  const given = (operation: Operation) => operation.refusals.flatMap(({ reasons }) => reasons);
  const common = groups.flatMap((group) => {
    const sets = group.map((operation) => new Set(given(operation)));
    return [...(sets[0] ?? [])].filter((reason) => sets.every((set) => set.has(reason)));
  });
  return new Set(common);
}

/** The meaning of a reason. */
export const meaningOf = (reason: ReasonName): string => REASONS[reason].meaning;

/** The name a reference leads to, or null when the schema is none. */
export function nameOf(schema: Schema): string | null {
  return schema.$ref?.split('/').at(-1) ?? null;
}

/** The schema without null, and whether null is allowed. */
export function withoutNull(schema: Schema): { readonly schema: Schema; readonly nullable: boolean } {
  const { anyOf, ...around } = schema;
  if (!anyOf) return { schema, nullable: false };
  const rest = anyOf.filter(({ type }) => type !== 'null');
  const nullable = rest.length < anyOf.length;
  const [only] = rest;
  if (rest.length === 1 && only) return { schema: { ...only, ...around }, nullable };
  return { schema: { ...schema, anyOf: rest }, nullable };
}

/** What an answer is made of: a record by name, a page of records, something without a name, a file, nothing. */
export type Shape =
  | { readonly kind: 'record' | 'page'; readonly name: string }
  | { readonly kind: 'object'; readonly schema: Schema }
  | { readonly kind: 'file' }
  | { readonly kind: 'nothing' };

export function shapeOf({ content }: Answer): Shape {
  if (content === null) return { kind: 'nothing' };
  if (content.type !== 'application/json') return { kind: 'file' };
  const name = nameOf(content.schema);
  if (name !== null) return { kind: 'record', name };
  const { data, pagination } = content.schema.properties ?? {};
  const item = data?.items && pagination ? nameOf(data.items) : null;
  return item === null ? { kind: 'object', schema: content.schema } : { kind: 'page', name: item };
}
