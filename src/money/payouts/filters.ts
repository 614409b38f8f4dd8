import sql, { join, raw, type Sql } from 'sql-template-tag';
import { Type } from 'typebox';
import { fail } from '../../kernel/errors.ts';
import { MAX_JSON_INTEGER, normalizeCurrency } from '../../kernel/money.ts';
import {
  type Bound,
  boundOf,
  formatInstant,
  INSTANT_OR_DAY,
  INSTANT_OR_DAY_RULE,
  parseInstantOrDay,
  type Span,
} from '../../kernel/time.ts';
import { UTC } from '../../kernel/zones.ts';
import { DESTINATION_TYPES } from '../../terms/payments.ts';
import { paidThroughInForce } from '../ledger/destinations.ts';

type Operator = 'eq' | 'ne' | 'in' | 'nin' | 'gt' | 'gte' | 'lt' | 'lte';
type Value = string | number | boolean;

/** Filters as stored and shown: every field with its operators spelled out. */
export type NormalFilters = Readonly<
  Record<string, Readonly<Partial<Record<Operator, Value | readonly Value[]>>>>
>;

/**
 * Report filters as conditions. Those on the affiliate (alias `a`) and `commissionBound` (alias `c`) also apply to
 * debts; `commissionOther` do not, so that no date or product excludes a debt. `method` is over groups joined to their
 * affiliate `a` and `destinationsInForce`, `total` over a group's `amount`.
 */
export interface PayoutFilters {
  readonly normal: NormalFilters | null;
  readonly affiliate: readonly Sql[];
  readonly commissionBound: readonly Sql[];
  readonly commissionOther: readonly Sql[];
  readonly method: readonly Sql[];
  readonly total: readonly Sql[];
  /** Inactive affiliates are only included when the filters name the status. */
  readonly namesAffiliateStatus: boolean;
  /** Affiliates who are not ready are only included when the filters name that field. */
  readonly namesReadiness: boolean;
  readonly affiliateIds: readonly number[];
  readonly programIds: readonly number[];
}

interface Field {
  readonly column: string;
  readonly kind: 'affiliate' | 'commissionBound' | 'commissionOther' | 'method' | 'total';
  readonly type: string;
  readonly operators: readonly Operator[];
  readonly rule: string;
  /** The JSON schema of one value. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** The value as stored, or null if it breaks the rule. */
  read(value: unknown): Value | null;
}

const MEMBERSHIP = ['eq', 'ne', 'in', 'nin'] as const;
const ORDER = ['gt', 'gte', 'lt', 'lte'] as const;
const MAX_CONDITIONS = 50;
const MAX_VALUES = 1000;

const readId = (value: unknown) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : null;
const readText = (value: unknown) =>
  typeof value === 'string' && value.length > 0 && value.length <= 255 ? value : null;
const readWord = (words: readonly string[]) => (value: unknown) =>
  typeof value === 'string' && words.includes(value) ? value : null;

function word(kind: Field['kind'], column: string, words: readonly string[], title: string): Field {
  return {
    kind,
    column,
    type: 'text',
    operators: MEMBERSHIP,
    rule: `one of ${words.join(', ')}`,
    schema: { ...Type.Enum([...words]), title },
    read: readWord(words),
  };
}

const id = {
  type: 'int8',
  operators: MEMBERSHIP,
  rule: `an integer from 1 to ${MAX_JSON_INTEGER}`,
  schema: { type: 'integer', minimum: 1 },
  read: readId,
} as const;
const text = {
  type: 'text',
  operators: MEMBERSHIP,
  rule: 'a text of 1 to 255 characters',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  read: readText,
} as const;

const FIELDS: Readonly<Record<string, Field>> = {
  affiliate_id: { kind: 'affiliate', column: 'a.id', ...id },
  program_id: { kind: 'commissionBound', column: 'c.program_id', ...id },
  product_id: { kind: 'commissionOther', column: 'c.product_id', ...text },
  order_id: { kind: 'commissionOther', column: 'c.order_id', ...text },
  payout_method: word('method', paidThroughInForce, DESTINATION_TYPES, 'DestinationType'),
  affiliate_status: word('affiliate', 'a.status', ['active', 'inactive'], 'AffiliateStatus'),
  type: word(
    'commissionOther',
    'c.type',
    ['sale', 'recurring', 'bonus', 'adjustment', 'clawback'],
    'CommissionType',
  ),
  is_ready_for_payout: {
    kind: 'affiliate',
    column: 'a.is_ready_for_payout',
    type: 'boolean',
    operators: ['eq'],
    rule: 'true or false',
    schema: { type: 'boolean' },
    read: (value) => (typeof value === 'boolean' ? value : null),
  },
  currency: {
    kind: 'commissionBound',
    column: 'c.currency',
    type: 'text',
    operators: ['eq', 'in'],
    rule: 'an ISO 4217 currency code',
    schema: { title: 'Currency', type: 'string' },
    read: (value) => (typeof value === 'string' ? normalizeCurrency(value) : null),
  },
  total: {
    kind: 'total',
    column: 'amount',
    type: 'numeric',
    operators: ['eq', ...ORDER],
    rule: 'an integer of minor units',
    schema: { type: 'integer' },
    read: (value) => (typeof value === 'number' && Number.isSafeInteger(value) ? value : null),
  },
  occurred_at: {
    kind: 'commissionOther',
    column: 'c.occurred_at',
    type: 'timestamptz',
    operators: ORDER,
    rule: INSTANT_OR_DAY_RULE,
    schema: INSTANT_OR_DAY,
    read: (value) => (typeof value === 'string' && parseInstantOrDay(value, UTC) !== null ? value : null),
  },
};

/** The filter fields with their operators, for the description. */
export const FILTER_FIELDS: readonly { name: string; operators: readonly string[]; rule: string }[] =
  Object.entries(FIELDS).map(([name, { operators, rule }]) => ({ name, operators, rule }));

/** The JSON schema of `filters`, for the API description. `readFilters` checks input by its own rules. */
export const filtersSchema = {
  title: 'PayoutFilters',
  description:
    'the value that each field must have, a list of possible values, or an object of operators; all must hold',
  type: 'object',
  additionalProperties: false,
  properties: {
    ...Object.fromEntries(Object.entries(FIELDS).map(([name, field]) => [name, conditionSchema(field)])),
    status: {
      type: 'string',
      const: 'unpaid',
      description: 'always true: a payout takes unpaid commissions only',
    },
  },
};

function conditionSchema({ operators, rule, schema }: Field) {
  const list = { type: 'array', minItems: 1, maxItems: MAX_VALUES, items: schema };
  const properties = Object.fromEntries(
    operators.map((operator) => [operator, isList(operator) ? list : schema]),
  );
  const spelledOut = { type: 'object', additionalProperties: false, minProperties: 1, properties };
  if (!operators.includes('eq')) return { description: rule, ...spelledOut };
  return { description: rule, anyOf: [schema, ...(operators.includes('in') ? [list] : []), spelledOut] };
}

/**
 * Reads the `filters` of create and preview. Days are in the given time zone. null, `{}` and `[]` (PHP's empty object)
 * mean no filters. Throws `unknown_filter`, `unknown_operator`, `invalid_filter` or `too_many_filters`, naming the field.
 */
export function readFilters(input: unknown, zone: string): PayoutFilters {
  const normal: Record<string, Record<string, Value | Value[]>> = {};
  if (
    !isObject(input) &&
    input !== null &&
    input !== undefined &&
    !(Array.isArray(input) && input.length === 0)
  ) {
    throw fail('invalid_filter', 'filters must be a JSON object or null');
  }
  for (const [name, condition] of Object.entries(isObject(input) ? input : {})) {
    if (name === 'status') checkStatus(condition);
    else normal[name] = readCondition(name, condition);
  }
  checkSize(normal);
  checkSpans(normal, zone);
  if (normal.total && !normal.currency) {
    throw fail(
      'invalid_filter',
      'filters.total needs filters.currency, because it is in minor units of a currency',
    );
  }
  return {
    normal: Object.keys(normal).length === 0 ? null : normal,
    affiliate: conditionsOf(normal, zone, 'affiliate'),
    commissionBound: conditionsOf(normal, zone, 'commissionBound'),
    commissionOther: conditionsOf(normal, zone, 'commissionOther'),
    method: conditionsOf(normal, zone, 'method'),
    total: conditionsOf(normal, zone, 'total'),
    namesAffiliateStatus: normal.affiliate_status !== undefined,
    namesReadiness: normal.is_ready_for_payout !== undefined,
    affiliateIds: idsOf(normal.affiliate_id),
    programIds: idsOf(normal.program_id),
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Some clients send a report's filters along. This one only repeats what create does.
function checkStatus(condition: unknown): void {
  const values = isObject(condition) && Object.keys(condition).length === 1 ? condition.eq : condition;
  if (values !== 'unpaid')
    throw fail(
      'invalid_filter',
      'filters.status can only be "unpaid": a payout takes only unpaid commissions',
    );
}

function readCondition(name: string, condition: unknown): Record<string, Value | Value[]> {
  const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
  if (!field) {
    throw fail(
      'unknown_filter',
      `unknown filter ${name.slice(0, 100)}; the filters are ${Object.keys(FIELDS).join(', ')}`,
    );
  }
  if (Array.isArray(condition)) return readOperators(name, field, { in: condition });
  if (isObject(condition)) return readOperators(name, field, condition);
  return readOperators(name, field, { eq: condition });
}

function readOperators(name: string, field: Field, operators: Record<string, unknown>) {
  const entries = Object.entries(operators);
  if (entries.length === 0) throw fail('invalid_filter', `filters.${name} has no operator`);
  return Object.fromEntries(
    entries.map(([operator, value]) => {
      if (!field.operators.includes(operator as Operator)) {
        const known = field.operators.join(', ');
        throw fail(
          'unknown_operator',
          `filters.${name} has no operator ${operator.slice(0, 50)}; it has ${known}`,
        );
      }
      const path = `filters.${name}.${operator}`;
      return [operator, isList(operator) ? readList(path, field, value) : readValue(path, field, value)];
    }),
  );
}

function isList(operator: string): boolean {
  return operator === 'in' || operator === 'nin';
}

function readList(path: string, field: Field, value: unknown): Value[] {
  if (!Array.isArray(value) || value.length === 0)
    throw fail('invalid_filter', `${path} must be a list with at least one value`);
  if (value.length > MAX_VALUES) throw fail('too_many_filters', `${path} has more than ${MAX_VALUES} values`);
  return value.map((item) => readValue(path, field, item));
}

function readValue(path: string, field: Field, value: unknown): Value {
  const read = field.read(value);
  if (read === null) throw fail('invalid_filter', `${path} must be ${field.rule}, not ${shorten(value)}`);
  return read;
}

function shorten(value: unknown): string {
  const shown = JSON.stringify(value) ?? 'nothing';
  return shown.length > 80 ? `${shown.slice(0, 80)}…` : shown;
}

function checkSize(normal: NormalFilters): void {
  const conditions = Object.values(normal).flatMap((operators) => Object.values(operators));
  const values = conditions.flat();
  if (conditions.length > MAX_CONDITIONS)
    throw fail('too_many_filters', `more than ${MAX_CONDITIONS} conditions`);
  if (values.length > MAX_VALUES)
    throw fail('too_many_filters', `more than ${MAX_VALUES} values in all filters`);
}

/** Throws for an empty range: it is a typo, not a request for an empty payout. */
function checkSpans(normal: NormalFilters, zone: string): void {
  for (const name of ['total', 'occurred_at']) {
    const { gt, gte, lt, lte } = normal[name] ?? {};
    const lower = gte ?? gt;
    const upper = lte ?? lt;
    if (lower === undefined || upper === undefined) continue;
    const [from, until] =
      name === 'total'
        ? [Number(lower), Number(upper)]
        : [
            edgeOf(gte === undefined ? 'gt' : 'gte', lower, zone),
            edgeOf(lte === undefined ? 'lt' : 'lte', upper, zone) - 1,
          ];
    const open = gte === undefined || lte === undefined;
    const empty = name === 'total' && open ? from >= until : from > until;
    if (empty)
      throw fail(
        'invalid_filter',
        `filters.${name}: the lower bound ${lower} is above the upper bound ${upper}`,
      );
  }
}

const spanOf = (value: unknown, zone: string): Span =>
  parseInstantOrDay(String(value), zone) ?? { from: 0, until: 0 };

function edgeOf(operator: Bound, value: unknown, zone: string): number {
  const bound = boundOf(operator, spanOf(value, zone));
  return 'from' in bound ? bound.from : bound.until;
}

function conditionsOf(normal: NormalFilters, zone: string, kind: Field['kind']): Sql[] {
  return Object.entries(normal).flatMap(([name, operators]) => {
    const field = FIELDS[name];
    if (field?.kind !== kind) return [];
    return Object.entries(operators).map(([operator, value]) =>
      name === 'occurred_at'
        ? timeCondition(field, boundOf(operator as Bound, spanOf(value, zone)))
        : condition(field, operator, value),
    );
  });
}

const SYMBOLS: Readonly<Record<string, string>> = { gt: '>', gte: '>=', lt: '<', lte: '<=' };

// `ne` and `nin` also match missing values: a commission without a program is not in program 5.
function condition(field: Field, operator: string, value: unknown): Sql {
  const column = raw(field.column);
  const type = raw(field.type);
  switch (operator) {
    case 'eq':
      return sql`${column} = ${value}::${type}`;
    case 'ne':
      return sql`${column} is distinct from ${value}::${type}`;
    case 'in':
      return sql`${column} = any(${value}::${type}[])`;
    case 'nin':
      return sql`(${column} is null or ${column} <> all(${value}::${type}[]))`;
    default:
      return sql`${column} ${raw(SYMBOLS[operator] ?? '=')} ${value}::${type}`;
  }
}

function timeCondition(field: Field, bound: ReturnType<typeof boundOf>): Sql {
  const column = raw(field.column);
  return 'from' in bound
    ? sql`${column} >= ${formatInstant(bound.from)}::timestamptz`
    : sql`${column} < ${formatInstant(bound.until)}::timestamptz`;
}

function idsOf(operators: NormalFilters[string] | undefined): number[] {
  return Object.values(operators ?? {})
    .flat()
    .map(Number);
}

/** Joins conditions with `and`; an empty list is `true`. */
export function all(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? sql`true` : join(conditions, ' and ');
}
