import type { JsonPath } from '../../kernel/strict-json.ts';
import { canonical, isEqual, type Kind, kindOf, lengthOf, type Steps, shown, type Value } from './values.ts';

// The keywords of JSON Schema 2020-12 that Payhook checks, in one table: what each must have as its value, and what it asks of a
// value. Every application of a schema and every comparison is a step, and the number of steps is limited, so a hostile schema cannot
// keep the process busy (docs/decisions/0127).

/** A JSON schema that `compileSchema` accepted. */
export type Schema = boolean | Readonly<Record<string, unknown>>;

/** Where a value violates a schema. */
export interface Violation {
  readonly path: JsonPath;
  /** The same path with `*` for keys that the schema does not name: they may be about a person. */
  readonly named: JsonPath;
  /** In words that follow the path. */
  readonly rule: string;
}

/** A regular expression, and the most time it takes for each character of a text, in characters read. */
export interface Pattern {
  readonly expression: RegExp;
  readonly weight: number;
}

/** One check of a value. */
export interface Run extends Steps {
  /** The schemas that `$ref` names. */
  readonly targets: ReadonlyMap<string, Schema>;
  readonly patterns: ReadonlyMap<string, Pattern>;
  depth: number;
}

/** What the value of a keyword must be. */
export type Operand =
  | 'any'
  | 'text'
  | 'flag'
  | 'number'
  | 'positive number'
  | 'count'
  | 'names'
  | 'types'
  | 'values'
  | 'pattern'
  | 'reference'
  | 'schema'
  | 'list of schemas'
  | 'schemas by name'
  | 'names by name';

interface Asked<Of> {
  readonly value: Of;
  /** The schema with the keyword. */
  readonly of: Readonly<Record<string, unknown>>;
  readonly run: Run;
}

interface Keyword {
  readonly operand: Operand;
  /** It asks something of such values only; undefined = of all. */
  readonly of?: Kind;
  /** Its schemas are about the same value, not about a part of it. */
  readonly inPlace?: true;
  check?(operand: never, asked: Asked<never>): Violation | null;
}

const MOST_DEEP = 400;
const TOO_MUCH: Violation = { path: [], named: [], rule: 'takes too many steps to check' };

/** The first violation of a schema by a value, or null. */
export function check(schema: Schema, value: unknown, run: Run): Violation | null {
  run.left -= run.depth > MOST_DEEP ? Number.POSITIVE_INFINITY : 1;
  if (run.left < 0) return TOO_MUCH;
  if (typeof schema === 'boolean') return schema ? null : at('is not allowed');
  run.depth += 1;
  const kind = kindOf(value);
  let found: Violation | null = null;
  for (const [name, operand] of Object.entries(schema)) {
    const keyword = KEYWORDS.get(name);
    if (keyword?.check === undefined || (keyword.of ?? kind) !== kind) continue;
    found = keyword.check(operand as never, { value: value as never, of: schema, run });
    if (found !== null) break;
  }
  run.depth -= 1;
  return found;
}

const at = (rule: string): Violation => ({ path: [], named: [], rule });
const when = (isBad: boolean, rule: () => string): Violation | null => (isBad ? at(rule()) : null);

/** The violation of a part as one of the whole. */
const within = (key: string | number, found: Violation | null, isNamed = true): Violation | null =>
  found && {
    path: [key, ...found.path],
    named: [isNamed ? key : '*', ...found.named],
    rule: found.rule,
  };

/** The first violation that a list has. */
function first<Item>(items: Iterable<Item>, of: (item: Item) => Violation | null): Violation | null {
  for (const item of items) {
    const found = of(item);
    if (found !== null) return found;
  }
  return null;
}

const isOf = (type: string, value: unknown) =>
  type === kindOf(value) || (type === 'integer' && Number.isInteger(value));

/** The number of items that match `contains`. */
const contained = ({ value, of, run }: Asked<unknown[]>): number =>
  value.filter((item) => check(of.contains as Schema, item, run) === null).length;

const limit = (isBad: (limit: number, value: number) => boolean, rule: string): Keyword => ({
  operand: 'number',
  of: 'number',
  check: (most: number, { value }: Asked<number>) => when(isBad(most, value), () => `${rule} ${most}`),
});
const size = (
  of: Kind,
  sizeOf: (value: never, run: Run) => number,
  [isBad, rule, unit]: readonly [(limit: number, size: number) => boolean, string, string],
): Keyword => ({
  operand: 'count',
  of,
  check: (most: number, { value, run }: Asked<never>) =>
    when(isBad(most, sizeOf(value, run)), () => `must have ${rule} ${most} ${unit}`),
});
const BELOW = [(least: number, found: number) => found < least, 'at least'] as const;
const ABOVE = [(most: number, found: number) => found > most, 'at most'] as const;
const keysOf = (value: Value) => Object.keys(value).length;
const itemsOf = (value: readonly unknown[]) => value.length;

const ANNOTATION: Keyword = { operand: 'any' };

export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ['$schema', { operand: 'text' }],
  ['$id', { operand: 'text' }],
  ['$defs', { operand: 'schemas by name' }],
  ['definitions', { operand: 'schemas by name' }],
  ...['$comment', 'title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'].map(
    (name) => [name, ANNOTATION] as const,
  ),
  ...['format', 'contentEncoding', 'contentMediaType'].map((name) => [name, ANNOTATION] as const),
  [
    'type',
    {
      operand: 'types',
      check: (type: string | string[], { value }) => {
        const types = [type].flat();
        return when(!types.some((each) => isOf(each, value)), () => `must be ${types.join(' or ')}`);
      },
    },
  ],
  [
    'const',
    {
      operand: 'any',
      check: (only: unknown, { value, run }) =>
        when(!isEqual(only, value, run), () => `must be ${shown(only)}`),
    },
  ],
  [
    'enum',
    {
      operand: 'values',
      check: (values: unknown[], { value, run }) =>
        when(
          !values.some((each) => isEqual(each, value, run)),
          () => `must be one of ${shown(values).slice(1, -1)}`,
        ),
    },
  ],
  // objects
  [
    'required',
    {
      operand: 'names',
      of: 'object',
      check: (names: string[], { value, run }: Asked<Value>) =>
        first(names, (name) => {
          run.left -= 1;
          return Object.hasOwn(value, name) ? null : within(name, at('is required'));
        }),
    },
  ],
  [
    'properties',
    {
      operand: 'schemas by name',
      of: 'object',
      check: (schemas: Readonly<Record<string, Schema>>, { value, run }: Asked<Value>) =>
        first(Object.entries(schemas), ([name, schema]) => {
          run.left -= 1;
          return Object.hasOwn(value, name) ? within(name, check(schema, value[name], run)) : null;
        }),
    },
  ],
  [
    'additionalProperties',
    {
      operand: 'schema',
      of: 'object',
      check: (schema: Schema, { value, of, run }: Asked<Value>) => {
        const known = (of.properties ?? {}) as Value;
        return first(Object.entries(value), ([name, each]) => {
          run.left -= 1;
          return Object.hasOwn(known, name) ? null : within(name, check(schema, each, run), false);
        });
      },
    },
  ],
  [
    'propertyNames',
    {
      operand: 'schema',
      of: 'object',
      check: (schema: Schema, { value, run }: Asked<Value>) =>
        first(Object.keys(value), (name) => {
          const found = check(schema, name, run);
          return within(name, found && at(`has a key that ${found.rule}`), false);
        }),
    },
  ],
  [
    'dependentRequired',
    {
      operand: 'names by name',
      of: 'object',
      check: (names: Readonly<Record<string, string[]>>, { value, run }: Asked<Value>) =>
        first(Object.entries(names), ([name, needed]) => {
          run.left -= 1 + needed.length;
          const missing = Object.hasOwn(value, name)
            ? needed.find((each) => !Object.hasOwn(value, each))
            : undefined;
          return missing === undefined ? null : within(missing, at(`is required with ${name}`));
        }),
    },
  ],
  ['minProperties', size('object', keysOf, [...BELOW, 'keys'])],
  ['maxProperties', size('object', keysOf, [...ABOVE, 'keys'])],
  // lists
  [
    'prefixItems',
    {
      operand: 'list of schemas',
      of: 'array',
      check: (schemas: Schema[], { value, run }: Asked<unknown[]>) =>
        first(schemas.slice(0, value.length).entries(), ([index, schema]) =>
          within(index, check(schema, value[index], run)),
        ),
    },
  ],
  [
    'items',
    {
      operand: 'schema',
      of: 'array',
      check: (schema: Schema, { value, of, run }: Asked<unknown[]>) => {
        const skipped = Array.isArray(of.prefixItems) ? of.prefixItems.length : 0;
        return first(value.entries(), ([index, item]) =>
          index < skipped ? null : within(index, check(schema, item, run)),
        );
      },
    },
  ],
  [
    'contains',
    {
      operand: 'schema',
      of: 'array',
      check: (_: Schema, asked: Asked<unknown[]>) => {
        const [least, most] = [asked.of.minContains ?? 1, asked.of.maxContains ?? Number.POSITIVE_INFINITY];
        const found = contained(asked);
        return when(
          found < (least as number) || found > (most as number),
          () => `has ${found} items that contains describes`,
        );
      },
    },
  ],
  ['minContains', { operand: 'count' }],
  ['maxContains', { operand: 'count' }],
  ['minItems', size('array', itemsOf, [...BELOW, 'items'])],
  ['maxItems', size('array', itemsOf, [...ABOVE, 'items'])],
  [
    'uniqueItems',
    {
      operand: 'flag',
      of: 'array',
      check: (isUnique: boolean, { value, run }: Asked<unknown[]>) => {
        if (!isUnique || run.left < 0) return null;
        const texts = value.map(canonical);
        run.left -= texts.reduce((sum, text) => sum + text.length, 0) >> 2;
        return when(new Set(texts).size < texts.length, () => 'must not have the same item twice');
      },
    },
  ],
  // texts and numbers
  ['minLength', size('string', lengthOf, [...BELOW, 'characters'])],
  ['maxLength', size('string', lengthOf, [...ABOVE, 'characters'])],
  [
    'pattern',
    {
      operand: 'pattern',
      of: 'string',
      check: (text: string, { value, run }: Asked<string>) => {
        const { expression, weight } = run.patterns.get(text) as Pattern;
        run.left -= (value.length * weight) >> 4;
        return when(run.left >= 0 && !expression.test(value), () => `must match ${text}`);
      },
    },
  ],
  ['minimum', limit((least, value) => value < least, 'must be at least')],
  ['maximum', limit((most, value) => value > most, 'must be at most')],
  ['exclusiveMinimum', limit((bound, value) => value <= bound, 'must be more than')],
  ['exclusiveMaximum', limit((bound, value) => value >= bound, 'must be less than')],
  [
    'multipleOf',
    {
      operand: 'positive number',
      of: 'number',
      check: (unit: number, { value }: Asked<number>) =>
        when(!Number.isInteger(value / unit), () => `must be a multiple of ${unit}`),
    },
  ],
  // other schemas about the same value
  [
    '$ref',
    {
      operand: 'reference',
      inPlace: true,
      check: (ref: string, { value, run }) => check(run.targets.get(ref) as Schema, value, run),
    },
  ],
  [
    'allOf',
    {
      operand: 'list of schemas',
      inPlace: true,
      check: (schemas: Schema[], { value, run }) => first(schemas, (each) => check(each, value, run)),
    },
  ],
  [
    'anyOf',
    {
      operand: 'list of schemas',
      inPlace: true,
      check: (schemas: Schema[], { value, run }) =>
        when(
          !schemas.some((each) => check(each, value, run) === null),
          () => 'must match one of the schemas of anyOf',
        ),
    },
  ],
  [
    'oneOf',
    {
      operand: 'list of schemas',
      inPlace: true,
      check: (schemas: Schema[], { value, run }) => {
        const matching = schemas.filter((each) => check(each, value, run) === null).length;
        return when(matching !== 1, () => `must match one schema of oneOf, not ${matching}`);
      },
    },
  ],
  [
    'not',
    {
      operand: 'schema',
      inPlace: true,
      check: (schema: Schema, { value, run }) =>
        when(check(schema, value, run) === null, () => 'must not match the schema of not'),
    },
  ],
  [
    'if',
    {
      operand: 'schema',
      inPlace: true,
      check: (schema: Schema, { value, of, run }) => {
        const then = check(schema, value, run) === null ? of.then : of.else;
        return then === undefined ? null : check(then as Schema, value, run);
      },
    },
  ],
  ['then', { operand: 'schema', inPlace: true }],
  ['else', { operand: 'schema', inPlace: true }],
]);
