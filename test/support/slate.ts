import type pg from 'pg';

/** The content of a database before a test: the rows of each non-empty table, and the positions of sequences. */
export interface Slate {
  readonly tables: readonly string[];
  readonly rows: ReadonlyMap<string, { readonly columns: string; readonly json: string }>;
  readonly sequences: string;
}

const NO_TEST_WRITES = ['schema_migrations'];

/** The schemas whose content counts: of a world in cell 1 also cell 0, which holds its directory. */
const SCHEMAS = "array[current_schema(), case current_schema() when 'cell_1' then 'public' end]";

/** Records the content of a database. */
export async function slateOf(client: pg.Client): Promise<Slate> {
  const { rows: found } = await client.query<{ name: string; columns: string }>(`
    select c.oid::regclass::text as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = any (${SCHEMAS}) and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname <> all ('{${NO_TEST_WRITES.join()}}')
    group by c.oid order by 1`);
  const tables = found.map(({ name }) => name);
  const filled = new Set(await tablesWithRows(client, tables));
  const rows = new Map<string, { columns: string; json: string }>();
  for (const { name, columns } of found.filter((each) => filled.has(each.name))) {
    const { rows: all } = await client.query<{ json: string }>(
      `select json_agg(t)::text as json from ${name} t`,
    );
    rows.set(name, { columns, json: all[0]?.json ?? '[]' });
  }
  return { tables, rows, sequences: await sequencesOf(client) };
}

async function tablesWithRows(client: pg.Client, tables: readonly string[]): Promise<string[]> {
  const selects = tables.map((name) => `select '${name}' as name where exists (select from ${name})`);
  const { rows } = await client.query<{ name: string }>({
    name: 'tables with rows',
    text: selects.join(' union all '),
  });
  return rows.map(({ name }) => name);
}

async function sequencesOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ set: string | null }>({
    name: 'sequences',
    text: `select string_agg(format('select setval(%L, %s, %L)', schemaname || '.' || sequencename, coalesce(last_value, 1), last_value is not null), ';'
                             order by schemaname, sequencename) as set
           from pg_sequences where schemaname = any (${SCHEMAS})`,
  });
  return rows[0]?.set ?? '';
}

/**
 * Restores the recorded content of a database. No server may write meanwhile. `client` reads and keeps its plans; `writer` is
 * another connection, because changing session_replication_role discards all plans of its connection.
 */
export async function wipe(client: pg.Client, writer: pg.Client, slate: Slate): Promise<void> {
  const filled = await tablesWithRows(client, slate.tables);
  const moved = (await sequencesOf(client)) !== slate.sequences;
  await writer.query('begin');
  // rows are deleted in any order, also from append-only tables; by itself, so that Citus notifies its nodes
  await writer.query('set local session_replication_role = replica');
  const statements: string[] = [];
  for (const name of filled) statements.push(`delete from ${name}`);
  for (const [name, { columns, json }] of slate.rows) {
    const text = json.replaceAll("'", "''");
    statements.push(
      `insert into ${name} (${columns}) overriding system value
       select ${columns} from json_populate_recordset(null::${name}, '${text}')`,
    );
  }
  if (moved) statements.push(slate.sequences);
  await writer.query([...statements, 'commit'].join(';\n'));
}
