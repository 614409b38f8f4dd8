import sql, { join, raw, type Sql } from 'sql-template-tag';

/** A PATCH as SQL. */
export interface Changes {
  /** The assignments of an UPDATE. */
  readonly assignments: Sql;
  /** Whether any of them changes the row. */
  readonly differ: Sql;
}

/**
 * The changes of the fields in a PATCH: absent is unchanged, null clears. `columns` are the names that may be set; a JSON
 * column is written as JSON. Returns null if there are none.
 */
export function changesOf(input: object, columns: readonly string[]): Changes | null {
  const values = new Map(Object.entries(input));
  const named = columns
    .filter((column) => values.get(column) !== undefined)
    .map((column) => {
      const value: unknown = values.get(column);
      const stored = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
      return { column: raw(column), stored };
    });
  if (named.length === 0) return null;
  return {
    assignments: join(
      named.map(({ column, stored }) => sql`${column} = ${stored}`),
      ', ',
    ),
    differ: join(
      named.map(({ column, stored }) => sql`${column} is distinct from ${stored}`),
      ' or ',
    ),
  };
}

/** Only the assignments. */
export function assignmentsOf(input: object, columns: readonly string[]): Sql | null {
  return changesOf(input, columns)?.assignments ?? null;
}
