import sql from 'sql-template-tag';
import { oneRow, type Reader } from './database.ts';

/** Why Payhook does not work on this database: Citus has distributed its tables over nodes. Null where it has not. */
export async function distributionProblem(db: Reader): Promise<string | null> {
  const { has_catalogue } = await oneRow<{ has_catalogue: boolean }>(
    db,
    sql`select to_regclass('pg_dist_partition') is not null as has_catalogue`,
  );
  if (!has_catalogue) return null;
  const { tables } = await oneRow<{ tables: number }>(
    db,
    // a week of the log belongs to its table
    sql`select count(*)::int as tables
        from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid::oid
        where c.relnamespace = current_schema()::regnamespace and not c.relispartition`,
  );
  if (tables === 0) return null;
  const which = tables === 1 ? 'one table' : `${tables} tables`;
  return (
    `Citus has distributed ${which}, which Payhook does not support: it refuses statements that publish and deliver ` +
    'events. Use a database whose tables are not distributed; docs/scaling.md says why'
  );
}
