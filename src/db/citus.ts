import pg from 'pg';
import sql from 'sql-template-tag';
import { maybeRow, oneRow, type Reader, rows, type Tx } from './database.ts';

/** What a role needs whose schema is on a node: triggers there read other tables, and settings of the transaction. */
const NEEDED = [
  ['citus.allow_nested_distributed_execution', 'on'],
  ['citus.propagate_set_commands', 'local'],
] as const;

/** The settings that the login of a cell on a node has, as `ALTER ROLE … SET` takes them. Its schema has its name. */
export const settingsOfLogin = (name: string): string[] => [
  `search_path = ${pg.escapeIdentifier(name)}`,
  "timezone = 'UTC'",
  'jit = off', // Payhook turns it off in its own sessions, not in those of the coordinator on a node
  ...NEEDED.map(([setting, value]) => `${setting} = ${value}`),
];

/** Why Payhook does not work on this database as Citus has distributed it; null where it does. */
export async function distributionProblem(db: Reader): Promise<string | null> {
  if (!(await hasTable(db, 'pg_dist_partition'))) return null;
  const { by_rows, whole } = await oneRow<{ by_rows: number; whole: number }>(
    db,
    // a week of the log belongs to its table; `n` = a table that is not split
    sql`select count(*) filter (where p.partmethod <> 'n')::int as by_rows,
               count(*) filter (where p.partmethod = 'n')::int as whole
        from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid::oid
        where c.relnamespace = current_schema()::regnamespace and not c.relispartition`,
  );
  if (by_rows > 0) {
    return (
      `Citus has distributed the rows of ${by_rows === 1 ? 'one table' : `${by_rows} tables`}, which Payhook does not ` +
      'support: it refuses statements that publish and deliver events. Distribute the whole schema instead, as ' +
      'docs/scaling.md describes'
    );
  }
  const missing = whole === 0 ? null : await missingSettings(db);
  return missing && `Citus has distributed the schema, and ${missing}`;
}

const hasTable = async (db: Reader, name: string) =>
  (await maybeRow(db, sql`select where to_regclass(${name}) is not null`)) !== null;

/** The settings that the role lacks for a schema on a node, as a sentence; null = none. */
export async function missingSettings(db: Reader): Promise<string | null> {
  const { role, missing } = await oneRow<{ role: string; missing: readonly string[] }>(
    db,
    sql`select current_user::text as role,
               array(select format('%s = %s', name, value)
                     from unnest(${NEEDED.map(([name]) => name)}::text[], ${NEEDED.map(([, value]) => value)}::text[])
                       as needed (name, value)
                     where current_setting(name, true) is distinct from value) as missing`,
  );
  if (missing.length === 0) return null;
  return (
    'the role lacks settings that Payhook then needs. Run ' +
    missing.map((setting) => `ALTER ROLE ${role} SET ${setting};`).join(' ')
  );
}

/** Whether Citus has nodes on which it can place schemas. */
export async function hasNodes(db: Reader): Promise<boolean> {
  return (
    (await hasTable(db, 'pg_dist_node')) &&
    (await maybeRow(db, sql`select from pg_dist_node where shouldhaveshards and groupid > 0 limit 1`)) !==
      null
  );
}

/** Whether Citus has placed the schema on a node. */
export async function isOnNode(db: Reader): Promise<boolean> {
  return (
    (await hasTable(db, 'pg_dist_partition')) &&
    (await maybeRow(db, sql`select from pg_dist_partition where logicalrelid = 'events'::regclass`)) !== null
  );
}

/** Makes Citus place the schema on a node. Changes nothing if it did that before. */
export async function placeOnNode(tx: Tx): Promise<void> {
  await rows(tx, sql`select citus_schema_distribute(current_schema()::regnamespace)`);
}
