// The tools of `payhook mcp`, made from the OpenAPI description of the server.

/** What an operation does: it reads, changes something else than money, or changes who is owed or paid, how much, or where to. */
export type Effect = 'read' | 'write' | 'money';

/** An operation of the API as a tool. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly effect: Effect;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** The arguments that are parts of the path, and those of the query by their names in the API. */
  readonly pathNames: readonly string[];
  readonly queryNames: ReadonlyMap<string, string>;
  /** The arguments that must be given. */
  readonly required: readonly string[];
  readonly hasBody: boolean;
  readonly isConditional: boolean;
  /** What the caller must be allowed to do, and the scopes that an access token needs; null: closed to access tokens. */
  readonly capability: string;
  readonly scopes: readonly string[] | null;
  /** JSON Schema of its arguments. */
  readonly inputSchema: object;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: object;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly 'x-capability': string;
  /** Its answer contains a secret, or a link that signs in. */
  readonly 'x-secret'?: true;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Response | Reference>>;
}

interface Reference {
  readonly $ref: string;
}
type Content = Readonly<Record<string, { readonly schema: object }>>;
interface Response {
  readonly content?: Content;
}

export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>;
}

/** Operations that read with a body. */
const READING = new Set([
  'previewPayout',
  'previewPayoutAffiliates',
  'previewPayoutExclusions',
  'testWebhookEndpointFilter',
]);

/** Capabilities of which every change is one of money, except these operations; a new operation is one of money too. */
const OF_MONEY = new Set(['write', 'approve']);
const NOT_MONEY = new Set(['createAffiliate', 'createProgram']);

/** Users, keys and applications outlive the conversation, and their responses contain secrets; files are not JSON. */
const CLOSED = new Set(['people', 'self', 'files', 'tax_ids']);

/** The tools of all operations that a conversation may use at all. */
export function toolsOf(description: Description): Tool[] {
  return Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const effect = effectOf(method, operation);
      return effect === null || !isJson(description, operation)
        ? []
        : [toolOf(description, { method: method.toUpperCase() as Tool['method'], path, operation, effect })];
    }),
  );
}

function effectOf(method: string, operation: Operation): Effect | null {
  const { operationId: id, 'x-capability': capability } = operation;
  if (operation['x-secret']) return null;
  if (method === 'get' || READING.has(id)) return capability === 'files' ? null : 'read';
  if (CLOSED.has(capability)) return null;
  return OF_MONEY.has(capability) && !NOT_MONEY.has(id) ? 'money' : 'write';
}

/** Whether it takes and returns JSON, or nothing. */
function isJson(description: Description, { requestBody, responses }: Operation): boolean {
  const results = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, response]) => resolved<Response>(description, response).content);
  return [requestBody?.content, ...results].every((content) => !content || 'application/json' in content);
}

function resolved<Value extends object>(description: Description, value: Value | Reference): Value {
  if (!('$ref' in value)) return value;
  const [group = '', name = ''] = value.$ref.split('/').slice(-2);
  return description.components[group]?.[name] as Value;
}

/** A name of the query that every assistant accepts: `created_at[gte]` is `created_at_gte`. */
const plain = (name: string) => name.replaceAll(/\W+/g, '_').replace(/_$/, '');

function toolOf(
  description: Description,
  about: { method: Tool['method']; path: string; operation: Operation; effect: Effect },
): Tool {
  const { method, path, operation, effect } = about;
  const parameters = (operation.parameters ?? []).map((one) => resolved<Parameter>(description, one));
  const body = operation.requestBody?.content['application/json'];
  const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
  const inQuery = parameters.filter((one) => one.in === 'query');
  // a part of the path may have the name of a parameter of the query
  const queryNames = new Map(
    inQuery.map(({ name }) => [inPath.includes(name) ? `${name}_in_query` : plain(name), name] as const),
  );
  const isConditional = parameters.some(({ name }) => name === 'If-Match');
  const properties: Record<string, object> = {};
  for (const one of parameters.filter(({ in: place }) => place === 'path'))
    properties[one.name] = schemaOf(one);
  for (const [argument, name] of queryNames) {
    const parameter = inQuery.find((one) => one.name === name);
    if (parameter) properties[argument] = schemaOf(parameter);
  }
  if (body) properties.body = body.schema;
  if (isConditional)
    properties.if_match = {
      type: 'integer',
      description: 'the `revision` you have seen; refused if it has changed',
    };
  if (effect !== 'read' && method !== 'DELETE') {
    properties.idempotency_key = {
      type: 'string',
      description: 'only to repeat a call whose outcome was unknown: the key that its error named',
    };
  }
  const required = [
    ...inPath,
    ...[...queryNames].flatMap(([argument, name]) =>
      inQuery.some((one) => one.name === name && one.required) ? [argument] : [],
    ),
    ...(body && operation.requestBody?.required ? ['body'] : []),
  ];
  const oauth = operation.security.find((one) => 'oauth2' in one)?.oauth2;
  return {
    name: operation.operationId,
    description: textOf(operation),
    ...{ effect, method, path, queryNames, required, isConditional },
    pathNames: inPath,
    hasBody: body !== undefined,
    capability: operation['x-capability'],
    scopes: oauth ?? null,
    inputSchema: withDefinitions(description, {
      type: 'object',
      properties,
      ...(required.length > 0 ? { required } : {}),
      additionalProperties: false,
    }),
  };
}

function textOf({ summary, description }: Operation): string {
  return description === undefined || description === `${summary}.`
    ? `${summary}.`
    : `${summary}. ${description}`;
}

const schemaOf = ({ description, schema }: Parameter): object =>
  description === undefined ? schema : { ...schema, description };

const REFERENCE = /^#\/components\/schemas\/(\w+)$/;

/** A schema with the named schemas that it uses, so that it needs no other document. */
function withDefinitions({ components }: Description, schema: object): object {
  const $defs: Record<string, unknown> = {};
  const moved = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (key, inner: unknown) => {
      const name = key === '$ref' && typeof inner === 'string' ? REFERENCE.exec(inner)?.[1] : undefined;
      if (name === undefined) return inner;
      if (!(name in $defs)) {
        $defs[name] = {};
        $defs[name] = moved(components.schemas?.[name] ?? {});
      }
      return `#/$defs/${name}`;
    });
  const result = moved(schema) as object;
  return Object.keys($defs).length > 0 ? { ...result, $defs } : result;
}
