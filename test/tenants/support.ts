import { describe as describeApi } from '../../src/http/openapi.ts';
import { ROUTES } from '../../src/http/routes.ts';
import type { World } from '../support/world.ts';

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly format?: string;
  readonly minimum?: number;
  readonly minLength?: number;
}

export interface Operation {
  readonly operationId: string;
  readonly method: string;
  /** With its parameters in braces. */
  readonly path: string;
  readonly pathParameters: readonly string[];
  readonly queryParameters: readonly string[];
  readonly body: Schema | undefined;
  /** The media type of the body. */
  readonly mediaType: string | undefined;
}

interface Described {
  readonly paths: Record<
    string,
    Record<
      string,
      {
        operationId: string;
        parameters: { name: string; in: string }[];
        requestBody?: { content: Record<string, { schema: Schema }> };
      }
    >
  >;
}

/** Every operation of the description, as a client reads it. */
export const OPERATIONS: readonly Operation[] = Object.entries(
  (JSON.parse(JSON.stringify(describeApi(ROUTES))) as Described).paths,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, parameters, requestBody }]) => {
    const named = (place: string) => parameters.filter((each) => each.in === place).map(({ name }) => name);
    const [mediaType, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
    return {
      operationId,
      method: method.toUpperCase(),
      path,
      pathParameters: named('path'),
      queryParameters: named('query'),
      body: content?.schema,
      mediaType,
    };
  }),
);

/** Names of fields, parameters and columns that point to a record of the account. */
export const REFERENCES = [
  'payout_id',
  'affiliate_id',
  'program_id',
  'commission_id',
  'key_id',
  'id', // of a webhook endpoint, as the interface calls it
  'event_id',
  'webhook_endpoint_id',
] as const;
export type Reference = (typeof REFERENCES)[number];
export type Ids = Readonly<Record<Reference, string | number>>;

/**
 * A body that passes the schema: what is required, besides the references among `also`, which take their value from
 * `ids`. Made from the description, so that a new operation is asked without a line here.
 */
export function sampleBody(schema: Schema, ids: Ids, also: ReadonlySet<string> = new Set()): unknown {
  return sample(schema, '', ids, also);
}

const sizeOf = (schema: Schema) => Math.max(schema.minimum ?? 1, 1);

function sample(schema: Schema, name: string, ids: Ids, also: ReadonlySet<string>): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return sample(schema.anyOf[0] as Schema, name, ids, also);
  if ((REFERENCES as readonly string[]).includes(name)) return ids[name as Reference];
  if (schema.type === 'object') {
    const wanted = Object.entries(schema.properties ?? {}).filter(
      ([key]) => schema.required?.includes(key) || also.has(key) || DEFAULTS[key] !== undefined,
    );
    return Object.fromEntries(wanted.map(([key, property]) => [key, sample(property, key, ids, also)]));
  }
  if (DEFAULTS[name] !== undefined) return DEFAULTS[name];
  if (schema.type === 'array') return [sample(schema.items ?? {}, name, ids, also)];
  if (schema.type === 'boolean') return true;
  if (schema.type === 'integer' || schema.type === 'number') return sizeOf(schema);
  return schema.format === 'email' ? 'a@example.com' : `some-${name}`;
}

// what the schema leaves open and the operation wants
const DEFAULTS: Readonly<Record<string, unknown>> = {
  email: 'sample@example.com',
  amount: 100,
  currency: 'usd',
  description: 'some description',
};

/** Every row that belongs to each account, apart from when its keys were last used. */
export async function dump(world: World): Promise<string> {
  // rows of a partition are rows of its parent
  const tables = await world.query<{ name: string }>(
    `select relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
     where a.attname = 'account_id' and c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
       and not c.relispartition order by 1`,
  );
  const parts: string[] = [];
  for (const { name } of [...tables, { name: 'accounts' }]) {
    const stored = await world.query<{ row: string }>(
      `select (to_jsonb(t) - 'last_used_at')::text as row from ${name} t order by 1`,
    );
    parts.push(`${name}\n${stored.map(({ row }) => row).join('\n')}`);
  }
  return parts.join('\n');
}
