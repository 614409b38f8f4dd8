import sql, { raw } from 'sql-template-tag';
import { oneRow, type Reader, rows, type Tx } from './database.ts';
import { type Migration, MigrationError } from './migration-files.ts';

/** A row of schema_migrations; before checksums were kept it has none. */
interface Applied {
  readonly version: number;
  readonly name: string;
  readonly checksum: string | null;
}

/** What was applied to a database that has the table, oldest first. */
export function readApplied(db: Reader): Promise<Applied[]> {
  // As JSON, because older databases do not have the column yet.
  return rows<Applied>(
    db,
    sql`select version, name, to_jsonb(m) ->> 'checksum' as checksum from schema_migrations m order by version`,
  );
}

/**
 * Why a database cannot be carried on by this program, or null: what was applied has to be the beginning of what
 * the program has, with the same names and the same contents.
 */
export function foreignHistory(known: readonly Migration[], applied: readonly Applied[]): string | null {
  const newest = known.at(-1)?.version ?? 0;
  const current = applied.at(-1)?.version ?? 0;
  if (current > newest) {
    return `the database has schema ${current}, this program knows up to ${newest}: run the newer program`;
  }
  for (const { version, name, checksum } of applied) {
    const own = known.find((migration) => migration.version === version);
    if (own === undefined) {
      return `migration ${name} was applied to this database, but this program does not have it: run the program that made the database`;
    }
    if (own.name !== name) {
      return `migration ${version} of this database is ${name}, this program has ${own.name}: run the program that made the database`;
    }
    if (checksum !== null && checksum !== own.checksum) {
      return `migration ${name} was applied to this database with different content: run the program that made the database`;
    }
  }
  const gap = known.find(
    ({ version }) => version < current && !applied.some((migration) => migration.version === version),
  );
  return gap
    ? `migration ${gap.name} was never applied to this database, but later ones were: restore a backup, or begin with a new database`
    : null;
}

/**
 * Gives a database that was migrated before checksums were kept those of this program. The tables prove that its
 * migrations were the same: they are compared with what the migrations make. Throws MigrationError when they differ.
 */
export async function recordChecksums(
  tx: Tx,
  known: readonly Migration[],
  applied: readonly Applied[],
): Promise<void> {
  const { has } = await oneRow<{ has: boolean }>(
    tx,
    sql`select exists (select from pg_attribute
          where attrelid = 'schema_migrations'::regclass and attname = 'checksum') as has`,
  );
  if (!has) await rows(tx, sql`alter table schema_migrations add column checksum text`);
  if (!applied.some(({ checksum }) => checksum === null)) return;
  const current = applied.at(-1)?.version ?? 0;
  await refuseOtherTables(
    tx,
    known.filter(({ version }) => version <= current),
  );
  for (const { version, checksum } of known) {
    await rows(
      tx,
      sql`update schema_migrations set checksum = ${checksum} where version = ${version} and checksum is null`,
    );
  }
}

async function refuseOtherTables(tx: Tx, migrations: readonly Migration[]): Promise<void> {
  const { schema, may } = await oneRow<{ schema: string; may: boolean }>(
    tx,
    sql`select current_schema()::text as schema,
               has_database_privilege(current_database(), 'create') as may`,
  );
  if (!may) return; // nowhere to make the tables a second time; a role that owns its database may
  const actual = await tableParts(tx, schema);
  await rows(tx, sql`savepoint comparing`);
  await rows(tx, sql`create schema payhook_comparing`);
  await rows(tx, sql`select set_config('search_path', ${`payhook_comparing, ${schema}`}, true)`);
  for (const { text } of migrations) await rows(tx, raw(text));
  const expected = await tableParts(tx, 'payhook_comparing');
  await rows(tx, sql`rollback to savepoint comparing`);
  const missing = [...expected].filter(([part]) => !actual.has(part)).map(([part]) => `${part} is missing`);
  // An index more is the operator's business; a column more or another rule may refuse what the program writes.
  const tables = new Set(expected.values());
  const extra = [...actual]
    .filter(([part, table]) => tables.has(table) && !expected.has(part) && !part.startsWith('index '))
    .map(([part]) => `${part} is too much`);
  const [first, ...others] = [...missing, ...extra];
  if (first === undefined) return;
  throw new MigrationError(
    "the tables of this database are not those of this program's migrations " +
      `(${first}${others.length > 0 ? `, and ${others.length} more` : ''}): ` +
      'they come from an unreleased version of Payhook; begin with a new database',
  );
}

/** Columns, rules, indexes and triggers of a schema's tables, as text, each with its table; without the weeks of the log. */
async function tableParts(tx: Tx, schema: string): Promise<Map<string, string>> {
  const parts = await rows<{ part: string; name: string }>(
    tx,
    sql`with tables as (
          select oid, relname as name from pg_class
          where relnamespace = ${schema}::regnamespace and relkind in ('r', 'p') and not relispartition
            and relname not in ('schema_migrations', 'server_settings'))
        select t.name, replace(part, ${`${schema}.`}, '') as part from tables t, lateral (
          select format('column %s.%s %s%s%s', t.name, a.attname, format_type(a.atttypid, a.atttypmod),
                   case when a.attnotnull then ' not null' else '' end,
                   ' default ' || pg_get_expr(d.adbin, d.adrelid)) as part
            from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
            where a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
          union all
          select format('rule %s of %s: %s', c.conname, t.name, pg_get_constraintdef(c.oid))
            from pg_constraint c where c.conrelid = t.oid and c.conparentid = 0 and c.contype <> 'n'
          union all
          select format('index %s', pg_get_indexdef(i.indexrelid)) from pg_index i where i.indrelid = t.oid
          union all
          select format('trigger %s', pg_get_triggerdef(g.oid)) from pg_trigger g
            where g.tgrelid = t.oid and not g.tgisinternal) parts`,
  );
  return new Map(parts.map(({ part, name }) => [part, name]));
}
