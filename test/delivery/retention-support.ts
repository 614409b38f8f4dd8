import { dropOldWeeks } from '../../src/webhooks/engine/retention.ts';
import { eventIdAt, type Past, putIn } from '../support/history.ts';
import { type Endpoint, type Stage, uuidOf } from './support.ts';

const DAY_MS = 86_400_000;

export const LOG = '/v2/webhook-events/';

/** The instant this many days ago, in milliseconds since 1970. */
export const ago = (days: number): number => Date.now() - days * DAY_MS;

/** When the week of an instant begins: `2026-11-16T00:00:00.000Z`. */
export const weekOf = (ms: number): string =>
  new Date(ms - ((ms - Date.parse('2001-01-01Z')) % (7 * DAY_MS))).toISOString();

/** The name of a table's partition for the week of this many days ago. */
export const partitionOf = (table: string, days: number): string =>
  `${table}_${weekOf(ago(days)).slice(0, 10).replaceAll('-', '')}`;

/** Drops what is older than this many days, as the housekeeping of any process does. */
export const drop = ({ world }: Stage, days: number | null = 90): Promise<void> =>
  dropOldWeeks({ db: world.db, log: world.platform.log, days });

/** The UUID of the account. */
export async function accountOf({ api }: Stage): Promise<string> {
  return uuidOf((await api.get('/v2/account')).body.id);
}

/** Writes events of this many days ago into the log of an endpoint; returns their ids. */
export async function past(
  stage: Stage,
  endpoint: Endpoint,
  events: readonly (Omit<Past, 'endpoint' | 'event'> & { readonly days: number })[],
): Promise<string[]> {
  const made = events.map(({ days, ...event }) => ({
    ...event,
    endpoint: endpoint.uuid,
    event: eventIdAt(ago(days)),
  }));
  await putIn(stage.world, await accountOf(stage), made);
  return made.map(({ event }) => `evt_${event.replaceAll('-', '')}`);
}

/** The ids in the log, oldest first, and their reported number. */
export async function logged(stage: Stage, path = LOG): Promise<{ ids: string[]; total: number }> {
  const { body } = await stage.api.get(`${path}?sort=id&per_page=100`);
  return { ids: body.data.map(({ id }: { id: string }) => id), total: body.pagination.total };
}

const BY_ID = ['id_floor($1::timestamptz)', "id_floor($1::timestamptz + interval '7 days')"] as const;
const BY_TIME = ['$1::timestamptz', "$1::timestamptz + interval '7 days'"] as const;

/** The number of rows in each table for the week of this many days ago, and the number of tables of that week. */
export async function leftoversOf({ world }: Stage, days: number): Promise<Record<string, number>> {
  const count = async (table: string, column: string, [from, to]: readonly [string, string]) => {
    const [row] = await world.query<{ n: number }>(
      `select count(*)::int as n from ${table} where ${column} >= ${from} and ${column} < ${to}`,
      [weekOf(ago(days))],
    );
    return row?.n ?? 0;
  };
  const [tables] = await world.query<{ n: number }>(
    `select count(*)::int as n from pg_class where relkind = 'r' and relname ~ '^[a-z]+${partitionOf('', days)}$'`,
  );
  return {
    tables: tables?.n ?? 0,
    events: await count('events', 'id', BY_ID),
    deliveries: await count('deliveries', 'event_id', BY_ID),
    attempts: await count('attempts', 'event_id', BY_ID),
    keys: await count('event_keys', 'event_id', BY_ID),
    tags: await count('event_tags', 'event_id', BY_ID),
    counts: await count('delivery_counts', 'starts_at', BY_TIME),
    deltas: await count('delivery_count_deltas', 'minute', BY_TIME),
  };
}

/** The leftovers of a dropped week. */
export const NOTHING = {
  tables: 0,
  events: 0,
  deliveries: 0,
  attempts: 0,
  keys: 0,
  tags: 0,
  counts: 0,
  deltas: 0,
};

/** Sets the clock of retention this many days behind, as last read this many minutes ago. */
export const setClock = (stage: Stage, timeDays: number, lookedMinutes: number): Promise<unknown> =>
  stage.world.query(
    `insert into server_settings (key, value)
     values ('slow_clock', json_build_object('time', iso(now() - $1 * interval '1 day'),
                                             'looked_at', iso(now() - $2 * interval '1 minute')))
     on conflict (key) do update set value = excluded.value`,
    [timeDays, lookedMinutes],
  );
