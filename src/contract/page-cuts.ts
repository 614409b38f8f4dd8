import sql, { raw, type Sql } from 'sql-template-tag';
import type { Cursor } from './cursors.ts';

/** How a page is cut from ordered rows, counted from one of their ends. */
export interface PageCut {
  /** The condition of rows after the given cursor. The total does not depend on it. */
  readonly after: Sql;
  /** Whether the rows are read in descending order. */
  readonly isDescending: boolean;
  /** The number of rows up to the end of the page. */
  readonly end: Sql;
  /** `order by … limit …` of all rows up to the end of the page: what each part of a union can contribute. */
  readonly upTo: Sql;
  /** `order by … limit … offset …` of the page itself, plus one more row if there is one. */
  readonly page: Sql;
}

/** A checked request for a page. */
export interface PageQuery {
  readonly page: string;
  readonly perPage: number;
  /** The requested field, with `-` in front for descending. */
  readonly sort: string;
  /** The columns of the order, the tie-breaker last. A cursor holds their values. */
  readonly columns: readonly string[];
  /** The key of the cursor, and the condition of rows after it; null = no cursor. */
  readonly after: { readonly key: Cursor['key']; readonly condition: Sql } | null;
}

/** The number of rows before a page from which it is worth checking whether its other end is nearer. */
export const FAR = 1000n;

/** The number of rows before the page, after the cursor if there is one; at most what int8 holds with room for a page. */
export function offsetOf(list: Pick<PageQuery, 'page' | 'perPage' | 'after'>): bigint {
  if (list.after !== null) return 0n;
  const offset = (BigInt(list.page) - 1n) * BigInt(list.perPage);
  const beyond = 2n ** 62n;
  return offset < beyond ? offset : beyond;
}

/** The number of rows read for a page: one more shows whether there is a next page. */
export const rowsOf = ({ perPage }: Pick<PageQuery, 'perPage'>): bigint => BigInt(perPage) + 1n;

/** The page counted from the first row. */
export function fromStart(list: PageQuery, after: Sql): PageCut {
  const [offset, limit] = [offsetOf(list), rowsOf(list)];
  const isDescending = list.sort.startsWith('-');
  const order = orderOf(list, isDescending);
  const end = sql`${offset + limit}::int8`;
  return {
    after,
    isDescending,
    end,
    upTo: sql`order by ${order} limit ${end}`,
    page: sql`order by ${order} limit ${limit}::int8 offset ${offset}::int8`,
  };
}

/** The same rows counted from the last one, in the opposite order. Needs the CTE `total`. */
function fromEnd(list: PageQuery): PageCut {
  const [offset, limit] = [offsetOf(list), rowsOf(list)];
  const isDescending = !list.sort.startsWith('-');
  const order = orderOf(list, isDescending);
  const end = sql`(select greatest(n - ${offset}::int8, 0) from total)`;
  return {
    after: sql`true`,
    isDescending,
    end,
    upTo: sql`order by ${order} limit ${end}`,
    page: sql`order by ${order} limit least(${limit}::int8, ${end}) offset greatest(${end} - ${limit}::int8, 0)`,
  };
}

/** The query of a page without a cursor, found from the nearer end of the list. */
export function fromNearerEnd(list: PageQuery, find: (cut: PageCut) => Sql): Sql {
  const isFirstHalf = sql`${offsetOf(list)}::int8 <= (select n from total) / 2`;
  return sql`
    select * from (${find(fromStart(list, sql`true`))}) first_half where ${isFirstHalf}
    union all
    select * from (${find(fromEnd(list))}) second_half where not (${isFirstHalf})`;
}

const orderOf = ({ columns }: PageQuery, isDescending: boolean): Sql =>
  raw(columns.map((column) => `${column} ${isDescending ? 'desc' : 'asc'}`).join(', '));
