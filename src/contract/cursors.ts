import sql, { join, raw, type Sql } from 'sql-template-tag';

/** A position between two rows of a list, given in `after`. */
export interface Cursor {
  /** The operation of the list. */
  readonly list: string;
  /** The order of the list, with `-` in front for descending. */
  readonly sort: string;
  /** The number of the page that begins there, in digits, counted from the start of the walk. */
  readonly page: string;
  /** The sort values of the last row before it, as text. */
  readonly key: readonly (string | null)[];
}

/** Encodes a cursor as an opaque text. */
export function writeCursor({ list, sort, page, key }: Cursor): string {
  return Buffer.from(JSON.stringify([list, sort, page, key])).toString('base64url');
}

/** Decodes a cursor, or returns null. PostgreSQL decides whether its key fits the columns. */
export function readCursor(text: string): Cursor | null {
  if (!/^[\w-]{1,4000}$/.test(text)) return null;
  try {
    const read: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (!Array.isArray(read) || read.length !== 4) return null;
    const [list, sort, page, key] = read as unknown[];
    const isKey = Array.isArray(key) && key.every((part) => part === null || typeof part === 'string');
    if (typeof list !== 'string' || typeof sort !== 'string' || typeof page !== 'string' || !isKey)
      return null;
    if (!/^[1-9][0-9]{0,15}$/.test(page)) return null;
    return { list, sort, page, key: key as (string | null)[] };
  } catch {
    return null;
  }
}

/**
 * The condition of rows after a cursor: compares like rows, column by column, all ascending or all descending. As in
 * `order by`, null comes last, and first when descending. Columns in `nullable` are compared one by one; the others are
 * compared together, which an index over them supports.
 */
export function isBehind(
  columns: readonly string[],
  key: Cursor['key'],
  { isDescending, isNullable }: { isDescending: boolean; isNullable: boolean },
): Sql {
  const compare = raw(isDescending ? '<' : '>');
  if (!isNullable) return sql`(${raw(columns.join(', '))}) ${compare} (${join([...key])})`;
  const [column, ...rest] = columns;
  const [value = null] = key;
  if (column === undefined) return sql`false`;
  const field = raw(column);
  const behind =
    value === null
      ? isDescending
        ? sql`${field} is not null`
        : sql`false`
      : isDescending
        ? sql`${field} < ${value}`
        : sql`(${field} > ${value} or ${field} is null)`;
  const same = value === null ? sql`${field} is null` : sql`${field} = ${value}`;
  return sql`(${behind} or (${same} and ${isBehind(rest, key.slice(1), { isDescending, isNullable })}))`;
}
