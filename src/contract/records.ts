import sql, { join, raw, type Sql } from 'sql-template-tag';
import type { Static, TObject } from 'typebox';
import { maybeRow, oneRow, type Reader } from '../db/database.ts';
import type { Json } from '../kernel/json.ts';

declare const record: unique symbol;

/** The SQL of each field of a record, in the order in which they are shown. */
export type Fields<T> = { readonly [Field in keyof T]-?: Sql | string };

/** The columns of a record of type T, as a SELECT lists them. */
export type Columns<T> = Sql & { readonly [record]: (value: T) => T };

/** The columns that make the record of a schema. The compiler requires exactly one for each field. */
export function columnsOf<Schema extends TObject>(
  _schema: Schema,
  fields: Fields<Static<Schema>>,
): Columns<Static<Schema>> {
  const columns = Object.entries<Sql | string>(fields).map(
    ([name, value]) => sql`${typeof value === 'string' ? raw(value) : value} as ${raw(`"${name}"`)}`,
  );
  return join(columns) as Columns<Static<Schema>>;
}

/** Where records are read from. */
interface Source {
  /** CTEs that `from` reads. */
  readonly ctes?: Sql;
  /** Names the statement, as `Reader.rows` has it. */
  readonly name?: string;
}

const query = <T>(columns: Columns<T>, from: Sql, ctes: Sql | undefined) =>
  sql`${ctes ? sql`with ${ctes}` : sql``} select row_to_json(r)::text as json from (select ${columns} from ${from}) r`;

/** The first record of `from` (all that follows FROM), or null. */
export async function maybeRecord<T>(
  db: Reader,
  columns: Columns<T>,
  from: Sql,
  { ctes, name }: Source = {},
): Promise<Json<T> | null> {
  const row = await maybeRow<{ json: Json<T> }>(db, query(columns, from, ctes), name);
  return row?.json ?? null;
}

/** The record of `from`, which always has one. */
export async function oneRecord<T>(
  db: Reader,
  columns: Columns<T>,
  from: Sql,
  { ctes, name }: Source = {},
): Promise<Json<T>> {
  return (await oneRow<{ json: Json<T> }>(db, query(columns, from, ctes), name)).json;
}
