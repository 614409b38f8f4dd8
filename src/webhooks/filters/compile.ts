import { type Failure, fail } from '../../kernel/errors.ts';

/** The JSON of a filter, as in a request. */
export type Filter = Readonly<Record<string, unknown>>;

/** One condition of a filter. */
export interface Condition {
  readonly path: string;
  readonly operator: string;
  readonly value: unknown;
  /** The location in the payload, as a jsonpath. */
  readonly at: string;
  /** The condition, as a jsonpath predicate. */
  readonly test: string;
}

/** A filter as evaluated by PostgreSQL. */
export interface CompiledFilter {
  /**
   * A strict jsonpath predicate (PostgreSQL, "JSON Functions and Operators"): a value that is missing or of another type
   * is unknown.
   */
  readonly test: string;
  readonly conditions: readonly Condition[];
  /** The same with each `$contains` as a variable that is computed outside the jsonpath; null = there is none. */
  readonly fast: { readonly test: string; readonly contains: readonly Contained[] } | null;
}

/** A `$contains`: variable `c0` for the first, and so on. */
export interface Contained {
  /** The location in the payload, as a jsonpath. */
  readonly at: string;
  readonly value: string | number | boolean;
}

const MOST_BYTES = 4096;
const MOST_CONDITIONS = 50;
const MOST_CONTAINS = 5;
const MOST_SEGMENTS = 10;
const DEEPEST = 5;
const MEMBERS = [
  'id',
  'object',
  'type',
  'timestamp',
  'account_id',
  'api_version',
  'is_test',
  'changes',
  'data',
];

type Scalar = string | number | boolean | null;
const isScalar = (value: unknown): value is Scalar => value === null || typeof value !== 'object';
const isOrdered = (value: unknown): value is string | number =>
  typeof value === 'string' || typeof value === 'number';
const isObject = (value: unknown): value is Filter =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// JSON strings and numbers are also valid in jsonpath
const literal = (value: Scalar): string => JSON.stringify(value);

/** Makes the predicate that a location contains a value. */
type Contains = (at: string, value: Contained['value']) => string;

interface Operator {
  /** The rule for its value, checked by `isRight`. */
  readonly rule: string;
  isRight(value: unknown): boolean;
  /** The predicate over a location. */
  test(at: string, value: never, contains: Contains): string;
}

const compared = (symbol: string): Operator => ({
  rule: 'must be a number or a text',
  isRight: isOrdered,
  test: (at, value: string | number) => `${at} ${symbol} ${literal(value)}`,
});
const equal = (symbol: string): Operator => ({
  rule: 'must be a text, a number, true, false or null',
  isRight: isScalar,
  test: (at, value: Scalar) => `${at} ${symbol} ${literal(value)}`,
});
const listed = (symbol: string, joint: string): Operator => ({
  rule: 'must be a list of 1 to 50 values of one type: texts, numbers, or true and false',
  isRight: (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= 50 &&
    value.every((each) => each !== null && isScalar(each) && typeof each === typeof value[0]),
  test: (at, values: readonly Scalar[]) =>
    values.map((value) => `${at} ${symbol} ${literal(value)}`).join(joint),
});

const OPERATORS: Readonly<Record<string, Operator>> = {
  $eq: equal('=='),
  $ne: equal('!='),
  $gt: compared('>'),
  $gte: compared('>='),
  $lt: compared('<'),
  $lte: compared('<='),
  $in: listed('==', ' || '),
  $nin: listed('!=', ' && '),
  $exists: {
    rule: 'must be true or false',
    isRight: (value) => typeof value === 'boolean',
    // a missing key is an error inside exists(); a filter around it turns that into false
    test: (at, value: boolean) => `${value ? '' : '!'}exists($ ? (exists(${at.replace('$', '@')})))`,
  },
  $startsWith: {
    rule: 'must be a text that is not empty',
    isRight: (value) => typeof value === 'string' && value !== '',
    test: (at, value: string) => `${at} starts with ${literal(value)}`,
  },
  $contains: {
    rule: 'must be a text that is not empty, a number, true or false',
    isRight: (value) => value !== null && value !== '' && isScalar(value),
    test: (at, value: Contained['value'], contains) => contains(at, value),
  },
};

const inJsonpath: Contains = (at, value) => {
  const element = `exists(${at}[*] ? (@ == ${literal(value)}))`;
  // flag q: the text is not a regular expression
  return typeof value === 'string' ? `${at} like_regex ${literal(value)} flag "q" || ${element}` : element;
};

/**
 * Checks a filter and compiles it for PostgreSQL. The cost of each condition is at
 * most linear in what it reads. Throws `invalid_filter`, `unknown_operator`, `too_many_filters` naming the location and
 * the rule.
 */
export function compileFilter(filter: Filter): CompiledFilter {
  const bytes = Buffer.byteLength(JSON.stringify(filter));
  if (bytes > MOST_BYTES) throw refuse('filter', `must be at most ${MOST_BYTES} bytes of JSON, not ${bytes}`);
  const conditions: Condition[] = [];
  const test = allOf(filter, 'filter', DEEPEST, { found: conditions, contains: inJsonpath });
  if (conditions.length > MOST_CONDITIONS) {
    throw fail(
      'too_many_filters',
      `filter has ${conditions.length} conditions; the maximum is ${MOST_CONDITIONS}`,
    );
  }
  if (conditions.filter(({ operator }) => operator === '$contains').length > MOST_CONTAINS) {
    throw fail('too_many_filters', `filter must have at most ${MOST_CONTAINS} $contains`);
  }
  return {
    test: strictly(test),
    fast: fastForm(filter, 'filter'),
    conditions: conditions.map((each) => ({ ...each, at: strictly(each.at), test: strictly(each.test) })),
  };
}

function fastForm(filter: Filter, name: string): CompiledFilter['fast'] {
  const contained: Contained[] = [];
  const contains: Contains = (at, value) => `$c${contained.push({ at: strictly(at), value }) - 1} == true`;
  const test = allOf(filter, name, DEEPEST, { found: [], contains });
  return contained.length === 0 ? null : { test: strictly(test), contains: contained };
}

/** The state of a compilation, and how it handles `$contains`. */
interface Compiling {
  readonly found: Condition[];
  readonly contains: Contains;
}

const strictly = (path: string) => `strict ${path}`;

/** All conditions of an object: paths, `$and` and `$or`. */
function allOf(filter: unknown, name: string, depth: number, compiling: Compiling): string {
  if (!isObject(filter)) throw refuse(name, 'must be a JSON object of conditions');
  if (depth < 0) throw refuse(name, `must not be nested more than ${DEEPEST} deep`);
  const entries = Object.entries(filter);
  if (entries.length === 0) throw refuse(name, 'must have a condition');
  return entries
    .map(([key, value]) => {
      const place = `${name}.${clip(key)}`;
      if (key !== '$and' && key !== '$or') return ofPath(key, value, place, compiling);
      if (!Array.isArray(value) || value.length === 0) throw refuse(place, 'must be a list of filters');
      const each = value.map((one, index) => allOf(one, `${place}[${index}]`, depth - 1, compiling));
      return `(${each.join(key === '$and' ? ' && ' : ' || ')})`;
    })
    .join(' && ');
}

/** The conditions on one path. */
function ofPath(path: string, value: unknown, place: string, { found, contains }: Compiling): string {
  const at = placeOf(path, place);
  if (Array.isArray(value))
    throw refuse(place, 'must be a value or an object of operators; use $in for a list');
  const operators = isObject(value) ? Object.entries(value) : [['$eq', value] as const];
  if (operators.length === 0) throw refuse(place, 'must have an operator');
  return operators
    .map(([operator, operand]) => {
      const where = isObject(value) ? `${place}.${clip(operator)}` : place;
      const rule = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined;
      if (rule === undefined) {
        const known = Object.keys(OPERATORS).join(', ');
        throw fail(
          'unknown_operator',
          `${where} is not an operator; the operators are ${known}, and $and and $or around paths`,
        );
      }
      if (!rule.isRight(operand)) throw refuse(where, rule.rule);
      const test = `(${rule.test(at, operand as never, contains)})`;
      found.push({ path, operator, value: operand, at, test });
      return test;
    })
    .join(' && ');
}

/** `data.items.0.sku` as jsonpath. A number is an index in a list. */
function placeOf(path: string, place: string): string {
  const segments = path.split('.');
  if (path.startsWith('$'))
    throw fail('unknown_operator', `${place} is not an operator here; only $and and $or are`);
  if (segments.some((segment) => segment === '')) {
    throw refuse(place, 'must be a path such as data.amount, without empty parts');
  }
  if (segments.length > MOST_SEGMENTS) throw refuse(place, `must have at most ${MOST_SEGMENTS} parts`);
  if (!MEMBERS.includes(segments[0] ?? '')) {
    throw refuse(place, `must begin with a member of the payload: ${MEMBERS.join(', ')}`);
  }
  const steps = segments.map((segment) =>
    /^\d{1,6}$/.test(segment) ? `[${Number(segment)}]` : `.${JSON.stringify(segment)}`,
  );
  return `$${steps.join('')}`;
}

const clip = (text: string) => (text.length > 100 ? `${text.slice(0, 100)}…` : text);

const refuse = (place: string, rule: string): Failure => fail('invalid_filter', `${place} ${rule}`);
