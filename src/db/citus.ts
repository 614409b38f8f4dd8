import sql from 'sql-template-tag';
import { oneRow, type Reader } from './database.ts';

/** What a role needs whose schema lies on a node: triggers there read other tables, and settings of the transaction. */
const NEEDED = [
  ['citus.allow_nested_distributed_execution', 'on'],
  ['citus.propagate_set_commands', 'local'],
] as const;

/** Why Payhook does not work on this database as Citus has distributed it; null where it does. */
export async function distributionProblem(db: Reader): Promise<string | null> {
  const { has_catalogue } = await oneRow<{ has_catalogue: boolean }>(
    db,
    sql`select to_regclass('pg_dist_partition') is not null as has_catalogue`,
  );
  if (!has_catalogue) return null;
  const { by_rows, whole, role, missing } = await oneRow<{
    by_rows: number;
    whole: number;
    role: string;
    missing: readonly string[];
  }>(
    db,
    // a week of the log belongs to its table; `n` = a table that is not split
    sql`select count(*) filter (where p.partmethod <> 'n')::int as by_rows,
               count(*) filter (where p.partmethod = 'n')::int as whole, current_user::text as role,
               array(select format('%s = %s', name, value)
                     from unnest(${NEEDED.map(([name]) => name)}::text[], ${NEEDED.map(([, value]) => value)}::text[])
                       as needed (name, value)
                     where current_setting(name, true) is distinct from value) as missing
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
  if (whole === 0 || missing.length === 0) return null;
  return (
    `Citus has distributed the schema, and the role lacks settings that Payhook then needs. Run ` +
    missing.map((setting) => `ALTER ROLE ${role} SET ${setting};`).join(' ')
  );
}
