import sql, { join, type Sql } from 'sql-template-tag';

// An entry of `event_types` is a type, or a prefix with `*` as its last segment: `payout.*` matches all types
// that begin with `payout.`. No entries (null) match all types. The rule is implemented only here.

const prefixOf = (entry: string): string | null => (entry.endsWith('*') ? entry.slice(0, -1) : null);

/** Whether an entry matches a type. */
export function covers(entry: string, type: string): boolean {
  const prefix = prefixOf(entry);
  return prefix === null ? entry === type : type.startsWith(prefix);
}

/**
 * The entries that match a type: `a.b.c`, `a.b.*`, `a.*`. An index finds the endpoints that have one of them.
 */
export function entriesFor(type: string): string[] {
  const parts = type.split('.');
  return [type, ...parts.slice(1).map((_, index) => `${parts.slice(0, index + 1).join('.')}.*`)];
}

/** SQL: whether one of the entries matches the type in a column. */
export function isCovered(column: Sql, entries: readonly string[] | null): Sql {
  if (entries === null) return sql`true`;
  const each = entries.map((entry) => {
    const prefix = prefixOf(entry);
    return prefix === null ? sql`${column} = ${entry}` : sql`starts_with(${column}, ${prefix})`;
  });
  return each.length === 0 ? sql`false` : sql`(${join(each, ' or ')})`;
}
