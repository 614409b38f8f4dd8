import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import { oneRow, type Reader } from '../db/database.ts';
import { fail } from '../kernel/errors.ts';
import { type AccountId, type IdPrefix, uuidOf } from '../kernel/ids.ts';
import { fromJson, type Json } from '../kernel/json.ts';
import { MAX_JSON_INTEGER, normalizeCurrency } from '../kernel/money.ts';
import { clip } from '../kernel/strict-json.ts';
import {
  BOUNDS,
  type Bound,
  boundOf,
  formatInstant,
  INSTANT_OR_DAY,
  INSTANT_OR_DAY_RULE,
  parseInstantOrDay,
  type Span,
} from '../kernel/time.ts';
import { type Cursor, isBehind, readCursor, writeCursor } from './cursors.ts';
import {
  FAR,
  fromNearerEnd,
  fromStart,
  offsetOf,
  type PageCut,
  type PageQuery,
  rowsOf,
} from './page-cuts.ts';
import type { Columns } from './records.ts';
import type { List } from './schemas.ts';

/** The scope of a list. */
export interface ListScope {
  /** The UUID of the account. */
  readonly account: AccountId;
  /** The IANA name of the time zone that days are in. */
  readonly zone: string;
  /** The operation: a cursor belongs to one list. */
  readonly operation: string;
}

/** A query parameter that filters a list: its rule for people, its schema, and its SQL condition. */
export interface Filter {
  readonly rule: string;
  readonly schema: Record<string, unknown>;
  /** The condition, or null if the value breaks the rule. */
  condition(value: string, scope: ListScope): Sql | null;
}

export interface ListDefinition {
  /** Sort field -> column or expression, or several. For rows with UUID ids, `created_at` is the id. */
  readonly sort: Readonly<Record<string, string | readonly string[]>>;
  /** The unique expression that breaks ties, or several that are unique together. */
  readonly id: string | readonly string[];
  /** Sort fields whose expressions may be null. */
  readonly nullable?: readonly string[];
  /** The default order; `-created_at` if absent. */
  readonly defaultSort?: string;
  /** Whether a caller may limit counting with `max_total`. */
  readonly mayStopCounting?: boolean;
  /** Parameter -> filter. For times, `...instants('created_at', …)` adds all four operators. */
  readonly filters: Readonly<Record<string, Filter>>;
}

/** A checked list request. */
export interface ListQuery extends PageQuery {
  readonly order: Sql;
  readonly operation: string;
  readonly conditions: readonly Sql[];
  /** Where counting rows one by one may stop; null = the total is exact. */
  readonly maxTotal: number | null;
  /** The names of the given filters, for lists that can count some of them cheaply. */
  readonly given: ReadonlyMap<string, string>;
  /** The time zone that days in filters are in. */
  readonly zone: string;
}

const MAX_PER_PAGE = 100;
/** The largest page number: the largest integer that every JSON parser reads exactly (RFC 8259 section 6). */
export const MAX_PAGE = 2n ** 53n - 1n;
const PAGE_RULE = `page must be an integer from 1 to ${MAX_PAGE}`;
/** The largest `max_total`. */
export const MOST_COUNTED = 1_000_000;
const DEFAULT_PER_PAGE = 50;
export const DEFAULT_SORT = '-created_at';

/** Reads page, per_page, sort, max_total and filters. Throws `invalid_query` or `unknown_query_parameter` naming the parameter. */
export function parseList(
  definition: ListDefinition,
  query: ReadonlyMap<string, string>,
  scope: ListScope,
): ListQuery {
  const conditions: Sql[] = [];
  const given = new Map<string, string>();
  let page: string | undefined;
  let cursor: Cursor | undefined;
  let perPage = DEFAULT_PER_PAGE;
  let sort: string | undefined;
  let maxTotal: number | null = null;
  for (const [name, value] of query) {
    const filter = Object.hasOwn(definition.filters, name) ? definition.filters[name] : undefined;
    if (filter) {
      const condition = filter.condition(value, scope);
      if (condition === null) throw fail('invalid_query', `${name} must be ${filter.rule}`);
      conditions.push(condition);
      given.set(name, value);
    } else if (name === 'page') {
      page = integer(value) ?? refuse(PAGE_RULE);
      if (BigInt(page) > MAX_PAGE) refuse(PAGE_RULE);
    } else if (name === 'per_page') {
      perPage = Number(integer(value) ?? 0);
      if (perPage < 1 || perPage > MAX_PER_PAGE)
        refuse(`per_page must be an integer from 1 to ${MAX_PER_PAGE}`);
    } else if (name === 'after') {
      cursor = cursorOf(value, scope.operation);
    } else if (name === 'sort') {
      sort = value;
    } else if (name === 'max_total' && definition.mayStopCounting) {
      maxTotal = Number(integer(value) ?? 0);
      if (maxTotal < 1 || maxTotal > MOST_COUNTED)
        refuse(`max_total must be an integer from 1 to ${MOST_COUNTED}`);
    } else {
      const own = ['page', 'per_page', 'after', 'sort', ...(definition.mayStopCounting ? ['max_total'] : [])];
      const known = [...own, ...Object.keys(definition.filters)].join(', ');
      throw fail(
        'unknown_query_parameter',
        `unknown query parameter ${clip(name)}; this list takes ${known}`,
      );
    }
  }
  if (cursor && page !== undefined) refuse('page and after exclude each other: after says where to continue');
  if (cursor && sort !== undefined && sort !== cursor.sort)
    refuse(`after is of a list with sort=${clip(cursor.sort)}: omit sort, or start again without after`);
  const chosen = sort ?? cursor?.sort ?? definition.defaultSort ?? DEFAULT_SORT;
  const { columns, isDescending, isNullable } = orderOf(definition, chosen);
  if (cursor && cursor.key.length !== columns.length) refuse(AFTER_RULE);
  const direction = isDescending ? 'desc' : 'asc';
  return {
    page: cursor?.page ?? page ?? '1',
    perPage,
    sort: chosen,
    order: raw(columns.map((column) => `${column} ${direction}`).join(', ')),
    operation: scope.operation,
    columns,
    after: cursor
      ? { key: cursor.key, condition: isBehind(columns, cursor.key, { isDescending, isNullable }) }
      : null,
    conditions,
    maxTotal,
    given,
    zone: scope.zone,
  };
}

const AFTER_RULE = 'after must be the unchanged `next` of a page of this list';

function cursorOf(value: string, operation: string): Cursor {
  const cursor = readCursor(value);
  return cursor?.list === operation ? cursor : refuse(AFTER_RULE);
}

function refuse(message: string): never {
  throw fail('invalid_query', message);
}

function integer(text: string): string | null {
  return /^\+?0*[1-9][0-9]*$/.test(text) ? text.replace(/^\+?0*/, '') : null;
}

function orderOf(definition: ListDefinition, sort: string) {
  const isDescending = sort.startsWith('-');
  const field = isDescending ? sort.slice(1) : sort;
  if (!Object.hasOwn(definition.sort, field)) {
    refuse(`sort must be one of ${Object.keys(definition.sort).join(', ')}, with - in front for descending`);
  }
  const columns = [...new Set([definition.sort[field] ?? [], definition.id].flat())];
  return { columns, isDescending, isNullable: definition.nullable?.includes(field) ?? false };
}

/** A query `n` of the number of rows of another query, counted up to `max_total` if given. */
export function counting({ maxTotal }: Pick<ListQuery, 'maxTotal'>, found: Sql): Sql {
  const most = maxTotal === null ? empty : sql`limit ${maxTotal}::int`;
  return sql`select count(*)::int8 as n from (${found} ${most}) counted`;
}

export interface Page<T> {
  readonly json: Json<List<T>>;
  readonly total: bigint;
}

export interface PageSource<T> {
  readonly list: ListQuery;
  /** Names the statement, together with the order, so that frequent reads stay prepared. */
  readonly name: string;
  /** Whether the name identifies one SQL text; by default, if no filter is given. */
  readonly isPrepared?: boolean;
  /** The table, with the alias used for its columns here and in the definition's columns. */
  readonly table: string;
  readonly alias: string;
  /** The condition that always applies, the account first. */
  readonly where: Sql;
  /** The columns of one record. */
  readonly record: Columns<T>;
  /** Joins that only the record needs, not the total or the search for the page. */
  readonly join?: Sql;
  /** CTEs for the total and the search for the page. */
  readonly ctes?: Sql;
  /** An exact total cheaper than counting, if there is one: a query of one column `n`. */
  readonly total?: Sql;
  /** Finds the rows of the page through indexes, if filtering the table would not use them. */
  readonly find?: (page: PageCut) => Sql;
  /** Whether rows are cheap to find from both ends: a page near the end is then found from there. */
  readonly fromBothEnds?: boolean;
}

/**
 * One page and the exact total in one statement, so that both come from one snapshot. PostgreSQL builds the JSON, and
 * only the page's rows become records. One more row is read, which shows whether there is a next page. Throws
 * `invalid_query` for a cursor with impossible values.
 */
export async function listPage<T>(db: Reader, source: PageSource<T>): Promise<Page<T>> {
  const { list, record } = source;
  const [table, alias] = [raw(source.table), raw(source.alias)];
  const where = join([source.where, ...list.conditions], ' and ');
  const after = list.after?.condition ?? sql`true`;
  const offset = offsetOf(list);
  const limit = rowsOf(list);
  const find = (cut: PageCut) =>
    source.find?.(cut) ??
    sql`select ${alias}.* from ${table} ${alias}
        where ${where} and ${after} and ${offset}::int8 < (select n from total) ${cut.page}`;
  const isFar = source.fromBothEnds === true && offset >= FAR;
  const found = isFar ? fromNearerEnd(list, find) : find(fromStart(list, after));
  const key = raw(list.columns.map((column) => `(${column})::text`).join(', '));
  const shown = sql`select ${alias}.* from found_rows ${alias} order by ${list.order}`;
  const isPrepared = list.after === null && !isFar && (source.isPrepared ?? list.given.size === 0);
  const { total, data, next } = await oneRow<{
    total: bigint;
    data: Json<T[]>;
    next: Json<Cursor['key']> | null;
  }>(
    db,
    sql`with ${source.ctes ? sql`${source.ctes},` : empty} total as materialized (
          ${source.total ?? counting(list, sql`select from ${table} ${alias} where ${where}`)}),
        found_rows as materialized (${found})
        select (select n from total) as total,
               (select coalesce(json_agg(row_to_json(page)), '[]') from (
                  select ${record} from (${shown} limit ${limit - 1n}::int8) ${alias} ${source.join ?? empty}
                  where ${offset}::int8 < (select n from total) order by ${list.order}) page)::text as data,
               case when (select count(*) from found_rows) = ${limit}::int8 then (
                 select json_build_array(${key})::text from (${shown} offset ${limit - 2n}::int8 limit 1) ${alias}) end as next`,
    // there are few of these, and they are read often
    isPrepared ? `list_${source.name}_${list.sort}${list.maxTotal === null ? '' : '_max'}` : undefined,
  ).catch((error: unknown) => {
    // a value of another type than its column: the cursor was not created here
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    throw list.after !== null && code.startsWith('22') ? fail('invalid_query', AFTER_RULE) : error;
  });
  return pageOf(list, data, total, next === null ? null : fromJson(next));
}

/**
 * The records of a page in the envelope of lists. `total` counts those of all pages, and `last` is the key of the page's
 * last row if more follow.
 */
export function pageOf<T>(
  list: ListQuery,
  data: Json<T[]>,
  total: bigint,
  last: Cursor['key'] | null,
): Page<T> {
  const { operation, sort, perPage } = list;
  const pages = (total + BigInt(perPage) - 1n) / BigInt(perPage);
  const page = String(BigInt(list.page) + 1n);
  const next = last === null ? null : writeCursor({ list: operation, sort, page, key: last });
  const pagination = `{"page":${list.page},"limit":${perPage},"total":${total},"pages":${pages},"next":${JSON.stringify(next)}}`;
  return { json: `{"data":${data},"pagination":${pagination}}` as Json<List<T>>, total };
}

/** A filter by one of several words. */
export function oneOf(
  values: readonly string[],
  condition: (value: string, account: AccountId) => Sql,
): Filter {
  return {
    rule: `one of ${values.join(', ')}`,
    schema: { type: 'string', enum: [...values] },
    condition: (value, { account }) => (values.includes(value) ? condition(value, account) : null),
  };
}

/** A filter by an exact text. */
export function exactly(column: string): Filter {
  return {
    rule: 'a text that is not empty',
    schema: { type: 'string', minLength: 1 },
    condition: (value) => (value === '' ? null : sql`${raw(column)} = ${value}`),
  };
}

/** A filter by an integer id. */
export function numberId(condition: (id: string) => Sql): Filter {
  return {
    rule: `an integer from 1 to ${MAX_JSON_INTEGER}`,
    schema: { type: 'integer', minimum: 1, maximum: Number(MAX_JSON_INTEGER) },
    condition: (value) => {
      const id = integer(value);
      return id !== null && id.length <= 16 && BigInt(id) <= MAX_JSON_INTEGER ? condition(id) : null;
    },
  };
}

/** A filter by a currency, in any case. */
export function currency(column: string): Filter {
  return {
    rule: 'an ISO 4217 currency code',
    schema: { title: 'Currency', type: 'string' },
    condition: (value) => {
      const code = normalizeCurrency(value);
      return code === null ? null : sql`${raw(column)} = ${code}`;
    },
  };
}

/** A filter by an opaque id. */
export function opaqueId(prefix: IdPrefix, column: string): Filter {
  return {
    rule: `an id that begins with ${prefix}_`,
    schema: { type: 'string', pattern: `^${prefix}_[0-9a-f]{32}$` },
    condition: (value) => {
      const uuid = uuidOf(prefix, value);
      return uuid === null ? null : sql`${raw(column)} = ${uuid}`;
    },
  };
}

/** The same, or `none` for rows without one. */
export function opaqueIdOrNone(prefix: IdPrefix, column: string): Filter {
  const { rule, condition } = opaqueId(prefix, column);
  return {
    rule: `${rule}, or none`,
    schema: { type: 'string', pattern: `^(${prefix}_[0-9a-f]{32}|none)$` },
    condition: (value, scope) => (value === 'none' ? sql`${raw(column)} is null` : condition(value, scope)),
  };
}

/** The span of time allowed by the filters `name[…]` of a request, in milliseconds; null = no bound. */
export function spanOf(
  name: string,
  { given, zone }: Pick<ListQuery, 'given' | 'zone'>,
): { from: number | null; until: number | null } {
  let [from, until] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const operator of BOUNDS) {
    const at = parseInstantOrDay(given.get(`${name}[${operator}]`) ?? '', zone);
    if (at === null) continue;
    const bound = boundOf(operator, at);
    if ('from' in bound) from = Math.max(from, bound.from);
    else until = Math.min(until, bound.until);
  }
  return { from: Number.isFinite(from) ? from : null, until: Number.isFinite(until) ? until : null };
}

/**
 * The four filters `name[gte|gt|lte|lt]` over an instant. `before(ms)` and `from(ms)` return the condition for a row
 * before, or at and after, an instant in milliseconds. A day means the whole day in the account's time zone.
 */
function span(name: string, before: (at: string) => Sql, from: (at: string) => Sql): Record<string, Filter> {
  const conditionOf = (operator: Bound, at: Span): Sql => {
    const bound = boundOf(operator, at);
    return 'from' in bound ? from(formatInstant(bound.from)) : before(formatInstant(bound.until));
  };
  const filter = (operator: Bound): Filter => ({
    rule: INSTANT_OR_DAY_RULE,
    schema: INSTANT_OR_DAY,
    condition: (value, { zone }) => {
      const at = parseInstantOrDay(value, zone);
      return at === null ? null : conditionOf(operator, at);
    },
  });
  return Object.fromEntries(BOUNDS.map((operator) => [`${name}[${operator}]`, filter(operator)]));
}

/** Filters over a column of instants. */
export function instants(name: string, column: string): Record<string, Filter> {
  const field = raw(column);
  return span(
    name,
    (at) => sql`${field} < ${at}::timestamptz`,
    (at) => sql`${field} >= ${at}::timestamptz`,
  );
}

/** Filters over the instant inside a UUID id, which the primary key supports. */
export function idInstants(name: string, column: string): Record<string, Filter> {
  const field = raw(column);
  return span(
    name,
    (at) => sql`${field} < id_floor(${at}::timestamptz)`,
    (at) => sql`${field} >= id_floor(${at}::timestamptz)`,
  );
}
