import { type Json, OPERATIONS } from '../api/fixtures.ts';

/** A field that a request can set, as the description of the running program has it. */
export interface Field {
  readonly name: string;
  readonly schema: Json;
  /** The value that tests send: the example of the description. */
  readonly example: Json;
  readonly isNullable: boolean;
}

/** A resource whose fields requests can set, and what a door cannot do with some of them. */
export interface Resource {
  /** The operations whose bodies are fields of the resource, such as `POST /v2/affiliates`. */
  readonly create: string;
  readonly change?: string;
  readonly put?: string;
  /** What a record needs from its surroundings: values of fields and of parameters of paths. */
  readonly prepare?: (api: Json) => Promise<Json>;
  /** The kind of file that creates records, and the fields that no column gives. */
  readonly file?: { readonly kind: string; readonly without: readonly string[] };
  /** The fields that an erasure of the person keeps. */
  readonly keptByErasure?: readonly string[];
  /** The command that creates a record, and the fields without an option. */
  readonly command?: { readonly words: readonly string[]; readonly without: readonly string[] };
  /** The fields that the form of the dashboard leaves to another control. */
  readonly withoutInput?: readonly string[];
}

/** Every resource that a request can create and change field by field. */
export const RESOURCES: Readonly<Record<string, Resource>> = {
  affiliates: {
    create: 'POST /v2/affiliates',
    change: 'PATCH /v2/affiliates/{affiliate_id}',
    put: 'PUT /v2/affiliates/by-external-id/{external_id}',
    // a file has no column with a sum per currency, nor one with keys
    file: { kind: 'affiliates', without: ['minimum_payout', 'metadata'] },
    keptByErasure: ['minimum_payout'],
    command: { words: ['affiliates', 'create'], without: [] },
    // "Pause payouts" says what it means for what is owed
    withoutInput: ['is_ready_for_payout'],
  },
};

/** `POST /v2/affiliates` as an operation of the description. */
export function operationOf(name: string) {
  const found = OPERATIONS.find(({ method, path }) => `${method} ${path}` === name);
  if (found === undefined) throw new Error(`the description has no operation ${name}`);
  return found;
}

/** The fields that the body of an operation can set. Throws for one without an example. */
export function fieldsOf(name: string): Field[] {
  const { properties } = operationOf(name).requestBody?.content['application/json']?.schema ?? {};
  return Object.entries<Json>(properties ?? {}).map(([field, schema]) => {
    if (schema.examples === undefined)
      throw new Error(`${field} of ${name} has no example: add one to its row`);
    const isNullable = schema.anyOf?.some(({ type }: Json) => type === 'null') ?? false;
    return { name: field, schema, example: schema.examples[0], isNullable };
  });
}

/** A body with the example of each field. */
export const examplesOf = (fields: readonly Field[]): Json =>
  Object.fromEntries(fields.map(({ name, example }) => [name, example]));
