import type { TSchema } from 'typebox';
import type { Validator } from 'typebox/compile';
import { fail, nameSome } from '../kernel/errors.ts';
import { IDENTIFIER_RULE, isIdentifier } from '../kernel/names.ts';
import { clip, type JsonPath, nameOfPath, type StrictJson } from '../kernel/strict-json.ts';

interface SchemaError {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: Record<string, unknown>;
  readonly message: string;
}

const errorsOf = (validator: Validator, value: unknown) =>
  validator.Errors(value) as unknown as SchemaError[];

const compiled = new WeakMap<TSchema, Validator>();

/** Compiles a schema on first use, so that the server starts faster. */
async function validatorOf(schema: TSchema): Promise<Validator> {
  let validator = compiled.get(schema);
  if (!validator) {
    const { Compile } = await import('typebox/compile');
    const { Set: addFormat } = await import('typebox/format');
    addFormat('identifier', isIdentifier);
    validator = Compile(schema) as unknown as Validator;
    compiled.set(schema, validator);
  }
  return validator;
}

/**
 * Checks a JSON body against its schema without changing it. Numbers are checked as written. Those in the field
 * `passedOn`, such as `data`, or `events.*.data` in each item of a list, only need to be storable by PostgreSQL. Throws
 * `unknown_field` or `invalid_body` with a message that names the field and the rule.
 */
export async function checkBody(
  schema: TSchema,
  {
    value,
    roundedNumbers,
    unstorableNumber,
  }: Pick<StrictJson, 'value' | 'roundedNumbers' | 'unstorableNumber'>,
  passedOn?: string,
): Promise<void> {
  const validator = await validatorOf(schema);
  const isValid = validator.Check(value);
  if (isValid && roundedNumbers.length === 0 && unstorableNumber === null) return;
  const suspects = isValid ? null : await suspectsIn(schema, value);
  if (suspects?.unknown) {
    const { names, count } = suspects.unknown;
    throw fail('unknown_field', `unknown field ${nameSome(names, count)}`);
  }
  const errors = suspects ? errorsOf(validator, suspects.value) : [];
  const unknown = errors.find((error) => error.keyword === 'additionalProperties');
  if (unknown) {
    const names = (unknown.params.additionalProperties as string[]).map((key) =>
      field(unknown.instancePath, key),
    );
    throw fail('unknown_field', `unknown field ${nameSome(names)}`);
  }
  const rounded = roundedNumbers.find(({ path }) => passedOn === undefined || !isIn(passedOn, path));
  const refused = rounded ?? unstorableNumber;
  if (refused) throw fail('invalid_body', `${nameOfPath(refused.path)} ${refused.rule}`);
  if (!isValid) throw fail('invalid_body', explain(errors));
}

/** Further errors would add nothing to the message. */
const MOST_ERRORS = 20;

/** The parts of a value that may be wrong. */
interface Suspects {
  /** The value without unknown keys. Valid items of its lists are holes that no check visits. */
  readonly value: unknown;
  /** The unknown keys of the first object that has any: the first of them as spelled in messages, and their number. */
  readonly unknown: { readonly names: readonly string[]; readonly count: number } | null;
}

interface Structure {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly additionalProperties?: boolean | TSchema;
  readonly items?: TSchema;
}

/**
 * Narrows a value to its invalid parts. Finding errors takes far longer than detecting that there are some, so errors are
 * searched only in invalid parts, and only in the first ones.
 */
async function suspectsIn(schema: TSchema, value: unknown, path: JsonPath = []): Promise<Suspects> {
  const { properties, additionalProperties, items } = schema as Structure;
  if (Array.isArray(value) && items !== undefined) {
    const isGood = await validatorOf(items);
    const bad: unknown[] = [];
    bad.length = value.length;
    let unknown: Suspects['unknown'] = null;
    let count = 0;
    for (const [index, item] of value.entries()) {
      if (count === MOST_ERRORS) break;
      if (isGood.Check(item)) continue;
      const inner = await suspectsIn(items, item, [...path, index]);
      count += 1;
      bad[index] = inner.value;
      unknown ??= inner.unknown;
    }
    return { value: bad, unknown };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || properties === undefined)
    return { value, unknown: null };
  const isUnknown = (key: string) => additionalProperties === false && !Object.hasOwn(properties, key);
  const others = Object.keys(value).filter(isUnknown);
  let unknown: Suspects['unknown'] =
    others.length === 0
      ? null
      : {
          names: others.slice(0, MOST_ERRORS).map((key) => nameOfPath([...path, key])),
          count: others.length,
        };
  const kept: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    if (isUnknown(key)) continue;
    const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const inner =
      known === undefined ? { value: item, unknown: null } : await suspectsIn(known, item, [...path, key]);
    kept.push([key, inner.value]);
    unknown ??= inner.unknown;
  }
  return { value: Object.fromEntries(kept), unknown };
}

/** Whether a path leads into a field. `*` in the field's name is any index. */
function isIn(name: string, path: JsonPath): boolean {
  return name
    .split('.')
    .every((part, index) => (part === '*' ? typeof path[index] === 'number' : path[index] === part));
}

/** A JSON pointer (RFC 6901) and a key of it, as spelled in messages. */
function field(pointer: string, key?: string): string {
  const path: JsonPath = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  return nameOfPath(key === undefined ? path : [...path, key]);
}

function explain(errors: readonly SchemaError[]): string {
  const first = errors[0];
  if (!first) return 'the body is invalid';
  const isKey = first.schemaPath.endsWith('/propertyNames');
  const name = `${isKey ? 'the key ' : ''}${field(first.instancePath)}`;
  if (first.keyword === 'required') {
    const missing = (first.params.requiredProperties as string[]).map((key) =>
      field(first.instancePath, key),
    );
    return `${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} required`;
  }
  const nullable = errors.some(
    (error) => error.instancePath === first.instancePath && error.params.type === 'null' && error !== first,
  );
  return `${name} must ${rule(first)}${nullable ? ', or be null' : ''}`;
}

function rule({ keyword, params, message }: SchemaError): string {
  const limit = params.limit as number;
  switch (keyword) {
    case 'type':
      return params.type === 'object' ? 'be a JSON object' : `be ${article(String(params.type))}`;
    case 'enum':
      return `be one of ${(params.allowedValues as unknown[]).join(', ')}`;
    case 'format':
      return params.format === 'identifier'
        ? IDENTIFIER_RULE.replace(/^must /, '')
        : message.replace(/^must /, '');
    case 'minItems':
      return `have at least ${limit} ${limit === 1 ? 'item' : 'items'}`;
    case 'maxItems':
      return `have at most ${limit} items`;
    case 'maxProperties':
      return `have at most ${limit} keys`;
    case 'minLength':
      return limit === 1 ? 'not be empty' : `have at least ${limit} characters`;
    case 'maxLength':
      return `have at most ${limit} characters`;
    case 'minimum':
      return `be at least ${limit}`;
    case 'maximum':
      return `be at most ${limit}`;
    case 'multipleOf':
      return params.multipleOf === 1 ? 'be a whole number' : `be a multiple of ${params.multipleOf}`;
    default:
      return message.replace(/^must /, '');
  }
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

/**
 * The query of a request, each parameter once. Throws `invalid_query` for a repeated parameter, or text PostgreSQL cannot
 * store.
 */
export function readQuery(search: string): Map<string, string> {
  const query = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(search)) {
    if (query.has(name)) throw fail('invalid_query', `${clip(name)} is given twice`);
    if ((name + value).includes('\0'))
      throw fail('invalid_query', `${clip(name)} must not contain NUL characters`);
    query.set(name, value);
  }
  return query;
}

/**
 * Checks the query of an operation that is not a list. Parameters are text: booleans and integers are parsed, nothing
 * else is coerced. Throws `unknown_query_parameter` or `invalid_query`.
 */
export async function checkQuery(
  schema: TSchema | undefined,
  query: ReadonlyMap<string, string>,
): Promise<Record<string, unknown>> {
  const properties = ((schema as { properties?: Record<string, TSchema> } | undefined)?.properties ??
    {}) as Record<string, TSchema & { type?: string }>;
  const values: Record<string, unknown> = {};
  for (const [name, text] of query) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!property) {
      const known = Object.keys(properties);
      const hint = known.length
        ? `; this operation takes ${known.join(', ')}`
        : '; this operation takes none';
      throw fail('unknown_query_parameter', `unknown query parameter ${clip(name)}${hint}`);
    }
    values[name] = fromText(property.type, text);
  }
  if (schema) {
    const validator = await validatorOf(schema);
    if (!validator.Check(values)) {
      throw fail('invalid_query', explain(errorsOf(validator, values)));
    }
  }
  return values;
}

function fromText(type: string | undefined, text: string): unknown {
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  if (type === 'integer' && /^\d{1,16}$/.test(text)) return Number(text);
  return text;
}
