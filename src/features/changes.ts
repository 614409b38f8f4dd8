import sql, { join, raw, type Sql } from 'sql-template-tag';

/**
 * The assignments of an UPDATE for the fields that a PATCH really names: absent is unchanged, null clears.
 * `columns` are the names that may be set; a JSON column is written as JSON. null when nothing is to change.
 */
export function assignmentsOf(input: object, columns: readonly string[]): Sql | null {
  const values = new Map(Object.entries(input));
  const changes = columns
    .filter((column) => values.get(column) !== undefined)
    .map((column) => {
      const value: unknown = values.get(column);
      const stored = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
      return sql`${raw(column)} = ${stored}`;
    });
  return changes.length === 0 ? null : join(changes, ', ');
}
