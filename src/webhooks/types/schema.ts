import { type Failure, fail } from '../../kernel/errors.ts';
import { type JsonPath, nameOfPath } from '../../kernel/strict-json.ts';
import { check, KEYWORDS, type Operand, type Pattern, type Schema, type Violation } from './keywords.ts';

/** A schema that was checked, ready to check values. */
export interface CompiledSchema {
  readonly schema: Schema;
  /** The schema that each `$ref` names. */
  readonly targets: ReadonlyMap<string, Schema>;
  readonly patterns: ReadonlyMap<string, Pattern>;
}

/** The maximum size of a schema, in bytes of JSON. */
const MOST_SCHEMA_BYTES = 65_536;
/** The maximum number of steps for one value: about 30 ms. */
export const MOST_STEPS = 1_000_000;
const MOST_SCHEMAS = 2000;
const DEEPEST = 40;
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const OF_THE_WHOLE = ['$schema', '$id'];
const TYPES = ['null', 'boolean', 'number', 'integer', 'string', 'array', 'object'];

interface Walk {
  readonly seen: Map<Schema, JsonPath>;
  readonly patterns: Map<string, Pattern>;
  readonly references: { readonly ref: string; readonly at: JsonPath }[];
  readonly texts: Map<string, Schema>;
}

/**
 * Checks a JSON schema of the field `name`: it must consist of keywords in `KEYWORDS`, refer to nothing outside itself, and end for
 * every value. Throws `invalid_schema` naming the place and the rule.
 */
export function compileSchema(schema: unknown, name: string): CompiledSchema {
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  if (bytes > MOST_SCHEMA_BYTES)
    throw refuse([name], `must be at most ${MOST_SCHEMA_BYTES} bytes of JSON, not ${bytes}`);
  const walk: Walk = { seen: new Map(), patterns: new Map(), references: [], texts: new Map() };
  visit(schema, [name], walk);
  const targets = new Map<string, Schema>();
  for (const { ref, at } of walk.references) {
    const target = walk.texts.get(ref);
    if (target === undefined) throw refuse(at, `must name a schema within this one, such as #/$defs/price`);
    targets.set(ref, target);
  }
  refuseCycles(walk, targets);
  return { schema: schema as Schema, targets, patterns: walk.patterns };
}

/** The first violation of a schema by a value that takes at most `steps`, or null. Counts what it took. */
export function violationOf(
  { schema, targets, patterns }: CompiledSchema,
  value: unknown,
  budget: { steps: number },
): Violation | null {
  const run = { targets, patterns, left: budget.steps, depth: 0 };
  const found = check(schema, value, run);
  budget.steps = Math.max(run.left, 0);
  if (run.left >= 0) return found;
  return { path: [], named: [], rule: 'takes too many steps to check against its schema' };
}

const refuse = (path: JsonPath, rule: string): Failure =>
  fail('invalid_schema', `${nameOfPath(path)} ${rule}`);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A JSON pointer (RFC 6901) into the schema, as a fragment. */
const pointerTo = (path: JsonPath): string =>
  ['#', ...path.slice(1).map((part) => String(part).replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');

function visit(schema: unknown, path: JsonPath, walk: Walk): void {
  if (typeof schema !== 'boolean' && !isObject(schema))
    throw refuse(path, 'must be a JSON schema: an object, true or false');
  if (walk.texts.size === MOST_SCHEMAS) throw refuse(path, `is beyond ${MOST_SCHEMAS} schemas, the maximum`);
  if (path.length > DEEPEST) throw refuse(path, `is nested more than ${DEEPEST} deep`);
  walk.texts.set(pointerTo(path), schema);
  if (typeof schema === 'boolean') return;
  walk.seen.set(schema, path);
  for (const [name, operand] of Object.entries(schema)) {
    if (name.startsWith('x-')) continue;
    const at = [...path, name];
    const keyword = KEYWORDS.get(name);
    if (keyword === undefined)
      throw refuse(at, `is not a keyword that is checked; those are ${[...KEYWORDS.keys()].join(', ')}`);
    if (OF_THE_WHOLE.includes(name) && path.length > 1)
      throw refuse(at, 'may only be at the top of the schema');
    if (name === '$schema' && String(operand).replace(/#$/, '') !== DIALECT)
      throw refuse(at, `must be ${DIALECT}`);
    OPERANDS[keyword.operand](operand, at, walk);
  }
}

const must =
  (isRight: (operand: unknown) => boolean, rule: string) =>
  (operand: unknown, at: JsonPath): void => {
    if (!isRight(operand)) throw refuse(at, rule);
  };
const isNumber = (operand: unknown): operand is number => typeof operand === 'number';
const isNames = (operand: unknown) =>
  Array.isArray(operand) &&
  operand.every((each) => typeof each === 'string') &&
  new Set(operand).size === operand.length;
const areTypes = (operand: unknown) =>
  [operand].flat().every((each) => TYPES.includes(each as string)) &&
  (!Array.isArray(operand) || (operand.length > 0 && isNames(operand)));

/** Checks the value of a keyword, and the schemas within it. */
const OPERANDS: Readonly<Record<Operand, (operand: unknown, at: JsonPath, walk: Walk) => void>> = {
  any: () => {},
  text: must((operand) => typeof operand === 'string', 'must be a text'),
  flag: must((operand) => typeof operand === 'boolean', 'must be true or false'),
  number: must(isNumber, 'must be a number'),
  'positive number': must((operand) => isNumber(operand) && operand > 0, 'must be a number above 0'),
  count: must(
    (operand) => Number.isSafeInteger(operand) && (operand as number) >= 0,
    'must be a whole number from 0',
  ),
  names: must(isNames, 'must be a list of different texts'),
  types: must(areTypes, `must be one of ${TYPES.join(', ')}, or a list of them`),
  values: must((operand) => Array.isArray(operand) && operand.length > 0, 'must be a list that is not empty'),
  pattern: (operand, at, { patterns }) => {
    const pattern = typeof operand === 'string' ? patternOf(operand) : null;
    if (pattern === null)
      throw refuse(
        at,
        'must begin with ^ and consist of characters and classes such as [a-z0-9] or \\d, at most one of which repeats ' +
          'without a limit: others could take very long',
      );
    patterns.set(operand as string, pattern);
  },
  reference: (operand, at, { references }) => {
    if (typeof operand !== 'string') throw refuse(at, 'must be a text');
    references.push({ ref: operand, at });
  },
  schema: visit,
  'list of schemas': (operand, at, walk) => {
    if (!Array.isArray(operand) || operand.length === 0) throw refuse(at, 'must be a list of schemas');
    for (const [index, each] of operand.entries()) visit(each, [...at, index], walk);
  },
  'schemas by name': (operand, at, walk) => {
    if (!isObject(operand)) throw refuse(at, 'must be an object of schemas');
    for (const [name, each] of Object.entries(operand)) visit(each, [...at, name], walk);
  },
  'names by name': must(
    (operand) => isObject(operand) && Object.values(operand).every(isNames),
    'must be an object of lists of different texts',
  ),
};

const PIECE =
  /(?:\[(?:[^\\[\]]|\\.)+\]|\\[dDwWsS^$\\.*+?()[\]{}|/-]|[^\\^$*+?()[\]{}|])(?:\{(\d{1,3})(?:(,)(\d{0,3}))?\}|([*+?]))?/suy;
const MOST_REPEATED = 256;
const MOST_WAYS = 32;

/**
 * A regular expression that takes time in proportion to the text: it begins at the start, has no groups and no alternatives, and at most
 * one of its pieces repeats without a limit. The others together match in at most 32 ways. Null for any other.
 */
export function patternOf(text: string): Pattern | null {
  if (!text.startsWith('^')) return null;
  const end = text.endsWith('$') && !/(?:^|[^\\])(?:\\\\)*\\\$$/.test(text) ? text.length - 1 : text.length;
  let [endless, ways, length] = [0, 1, 1];
  PIECE.lastIndex = 1;
  while (PIECE.lastIndex < end) {
    const piece = PIECE.exec(text);
    if (piece === null || PIECE.lastIndex > end) return null;
    const [, least, comma, most, sign] = piece;
    if (sign === '*' || sign === '+' || (comma !== undefined && most === '')) endless += 1;
    else if (sign === '?') ways *= 2;
    else if (comma !== undefined) ways *= Math.max(Number(most) - Number(least) + 1, 1);
    length += Number(most || least || 1);
  }
  if (endless > 1 || ways > MOST_WAYS || length > MOST_REPEATED) return null;
  try {
    return { expression: new RegExp(text, 'u'), weight: length * ways };
  } catch {
    return null;
  }
}

/** Refuses a schema that leads back to itself without a step into the value. */
function refuseCycles({ seen }: Walk, targets: ReadonlyMap<string, Schema>): void {
  const done = new Set<Schema>();
  const open = new Set<Schema>();
  const follow = (schema: Schema): void => {
    if (typeof schema === 'boolean' || done.has(schema)) return;
    if (open.has(schema))
      throw refuse(
        seen.get(schema) ?? [],
        'leads back to itself about the same value, so no check of it would end',
      );
    open.add(schema);
    for (const [name, operand] of Object.entries(schema)) {
      if (!KEYWORDS.get(name)?.inPlace) continue;
      const next = name === '$ref' ? [targets.get(operand as string)] : [operand].flat();
      for (const each of next) follow(each as Schema);
    }
    open.delete(schema);
    done.add(schema);
  };
  for (const schema of seen.keys()) follow(schema);
}
