import sql, { raw } from 'sql-template-tag';
import { rows, type Tx } from './database.ts';

/**
 * Takes indexes, keys and foreign keys off all tables of the schema, so that rows are loaded without them: an index is
 * made once at the end, and a foreign key is checked by one join. Rules of single rows (CHECK, NOT NULL) and triggers
 * stay. Returns the statements that put them back, in their order.
 */
export async function bareTables(tx: Tx): Promise<string[]> {
  const foreign = await rows<{ drop: string; add: string }>(
    tx,
    sql`select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
               format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as add
        from pg_constraint
        where connamespace = current_schema()::regnamespace and contype = 'f' and conparentid = 0
        order by conrelid::regclass::text, conname`,
  );
  // what a partition has comes and goes with that of its parent
  const indexes = await rows<{ drop: string; add: string }>(
    tx,
    sql`select case when k.oid is null then format('drop index %s', i.indexrelid::regclass)
                    else format('alter table %s drop constraint %I', t.oid::regclass, k.conname) end as drop,
               case when k.oid is null then replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ')
                    else format('alter table %s add constraint %I %s', t.oid::regclass, k.conname,
                                pg_get_constraintdef(k.oid)) end as add
        from pg_index i
        join pg_class t on t.oid = i.indrelid and not t.relispartition
        left join pg_constraint k on k.conindid = i.indexrelid and k.contype in ('p', 'u') and k.conrelid = t.oid
        where t.relnamespace = current_schema()::regnamespace
        order by k.oid is null, t.relname, i.indexrelid::regclass::text`,
  );
  for (const { drop } of [...foreign, ...indexes]) await rows(tx, raw(drop));
  return [...indexes, ...foreign].map(({ add }) => add);
}

/** Runs what `bareTables` returned, and gathers the statistics that plans are made by. */
export async function dressTables(tx: Tx, statements: readonly string[]): Promise<void> {
  await rows(tx, sql`select set_config('maintenance_work_mem', '256MB', true)`);
  for (const statement of statements) await rows(tx, raw(statement));
  const parents = await rows<{ name: string }>(
    tx,
    sql`select oid::regclass::text as name from pg_class
        where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
        order by 1`,
  );
  await rows(tx, raw(`analyze ${parents.map(({ name }) => name).join(', ')}`));
}
