import { raw, type Sql } from 'sql-template-tag';

/**
 * Columns of a row as a JSON object, an expression for a statement. In: the alias of the row and the names of columns. On a
 * node of Citus `row_to_json` can lose the names, if the row is that of a subquery or of an outer join.
 */
export const jsonOf = (alias: string, columns: readonly string[]): Sql =>
  raw(`json_build_object(${columns.map((column) => `'${column}', ${alias}.${column}`).join(', ')})`);
