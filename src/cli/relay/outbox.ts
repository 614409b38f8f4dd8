import type pg from 'pg';
import type { EventText } from '../../client/publish.ts';
import { CommandError } from '../command/errors.ts';

/** A row of the table that waits to be published. */
export interface WaitingEvent {
  /** The value of `id`, as text. */
  readonly id: string;
  readonly event: EventText;
}

/** The result of a batch. */
export interface Relayed {
  /** The ids of the published rows, which are deleted. */
  readonly published: readonly string[];
  /** The rows that Payhook refused, which stay in the table with the reason. */
  readonly refused: readonly { readonly id: string; readonly refusal: string }[];
}

/** The table of another application's database whose rows are its events. */
export interface Outbox {
  /**
   * Locks up to `most` waiting rows, in the order of their ids, and gives them to `send`. Deletes those that were published and
   * notes why others were refused, in the transaction that holds the locks; if `send` throws, nothing changes. Rows that another
   * transaction has locked are left out, and so are those behind one of the same ordering key. Returns null if no row waits.
   */
  take(most: number, send: (events: readonly WaitingEvent[]) => Promise<Relayed>): Promise<Relayed | null>;
}

const COLUMNS = [
  'id',
  'external_id',
  'type',
  'data',
  'ordering_key',
  'owner',
  'refused_at',
  'refusal',
] as const;
/** A column that a table may lack: those made before it existed do. */
const TAGS = 'tags';

/** The SQL that makes a table for `payhook relay`. `table` is a valid name, which may have a schema. */
export function outboxSql(table: string): string {
  const name = table.slice(table.lastIndexOf('.') + 1);
  return `create table ${table} (
  id           bigint generated always as identity primary key,
  external_id  text not null default gen_random_uuid(),
  type         text not null,
  data         json not null default '{}',
  ordering_key text,
  owner        text,
  tags         text[],
  created_at   timestamptz not null default now(),
  refused_at   timestamptz,
  refusal      text
);
create index ${name}_waiting on ${table} (id) where refused_at is null;
create index ${name}_ordered on ${table} (ordering_key, id) where refused_at is null and ordering_key is not null;
`;
}

/** Finds the table in a database. Throws CommandError if it does not exist or misses columns. */
export async function openOutbox(client: pg.Client, table: string): Promise<Outbox> {
  const found = await client.query<{ name: string; column: string; type: string }>(
    `select a.attrelid::regclass::text as name, a.attname as column, format_type(a.atttypid, a.atttypmod) as type
     from pg_attribute a
     where a.attrelid = to_regclass($1) and a.attnum > 0 and not a.attisdropped`,
    [table],
  );
  const types = new Map(found.rows.map(({ column, type }) => [column, type]));
  const [first] = found.rows;
  if (first === undefined) throw new CommandError(`the table ${table} does not exist; ${sqlHint(table)}`);
  const missing = COLUMNS.filter((column) => !types.has(column));
  if (missing.length > 0) {
    throw new CommandError(`the table ${table} has no ${missing.join(', ')}; ${sqlHint(table)}`);
  }
  // PostgreSQL returns both quoted where they need it
  return outboxOf(client, first.name, { idType: types.get('id') ?? '', hasTags: types.has(TAGS) });
}

const sqlHint = (table: string) => `payhook relay --table ${table} --sql prints what makes it`;

function outboxOf(
  client: pg.Client,
  table: string,
  { idType, hasTags }: { idType: string; hasTags: boolean },
): Outbox {
  const ids = `$1::text[]::${idType}[]`;
  // as JSON whatever the column is, so that Payhook refuses what is no list of texts
  const tags = hasTags ? `to_json(${TAGS})` : 'null::json';
  const claim = `
    with claimed as materialized (
      select id, external_id, type, data, ordering_key, owner, ${tags} as tags
      from ${table} where refused_at is null
      order by id limit $1
      for update skip locked
    )
    select id::text, external_id::text as "externalId", type, data::text, ordering_key as "orderingKey", owner, tags
    from claimed
    where ordering_key is null or not exists (
      select from ${table} earlier
      where earlier.ordering_key = claimed.ordering_key and earlier.id < claimed.id and earlier.refused_at is null
        and earlier.id not in (select id from claimed)
    )
    order by claimed.id`;

  async function work(most: number, send: (events: readonly WaitingEvent[]) => Promise<Relayed>) {
    const { rows } = await client.query<ClaimedRow>(claim, [most]);
    if (rows.length === 0) return null;
    const relayed = await send(rows.map(eventOf));
    const { published, refused } = relayed;
    await client.query(`delete from ${table} where id = any(${ids})`, [published]);
    if (refused.length > 0) {
      await client.query(
        `update ${table} set refused_at = now(), refusal = refused.refusal
         from unnest(${ids}, $2::text[]) as refused (id, refusal) where ${table}.id = refused.id`,
        [refused.map(({ id }) => id), refused.map(({ refusal }) => refusal)],
      );
    }
    return relayed;
  }

  return {
    async take(most, send) {
      await client.query('begin');
      try {
        const relayed = await work(most, send);
        await client.query('commit');
        return relayed;
      } catch (error) {
        // the first error is the cause; a connection that cannot roll back is closed by the caller
        await client.query('rollback').catch(() => undefined);
        throw error;
      }
    },
  };
}

interface ClaimedRow {
  readonly id: string;
  readonly externalId: string;
  readonly type: string;
  readonly data: string;
  readonly orderingKey: string | null;
  readonly owner: string | null;
  /** JSON as the row has it; Payhook checks it. */
  readonly tags: string[] | null;
}

function eventOf({ id, externalId, type, data, orderingKey, owner, tags }: ClaimedRow): WaitingEvent {
  const event = {
    type,
    dataText: data,
    external_id: externalId,
    ordering_key: orderingKey ?? undefined,
    owner: owner ?? undefined,
    tags: tags ?? undefined,
  };
  return { id, event };
}
