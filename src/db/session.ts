import type pg from 'pg';
import type { Watch } from './watch.ts';

/*
 * What a session of PostgreSQL remembers is ours only if the session is. A pooler such as PgBouncer in transaction mode
 * gives each transaction any of its sessions: a setting made there would be lost, or would reach somebody else's
 * transaction. So a new connection first asks whether it speaks to PostgreSQL itself. If it does, its settings are those of
 * the session, in the same statement. If not, every transaction brings them along (pool.ts).
 */

/** Names of settings of PostgreSQL, and their values. */
export type Settings = Readonly<Record<string, string>>;

/** LISTEN, locks of a session and DETACH … CONCURRENTLY need a session of their own, and a pooler is in the way. */
export class PoolerError extends Error {
  override name = 'PoolerError';

  constructor() {
    super(
      'a connection pooler is between Payhook and PostgreSQL: set DATABASE_LISTEN_URL to the URL of PostgreSQL itself',
    );
  }
}

/** One of several addresses is a replica, which takes no writes: another one is tried. */
export class ReplicaError extends Error {
  override name = 'ReplicaError';
  /** To those who ask, PostgreSQL cannot be reached at the moment (faults.ts). */
  readonly code = '57P03';

  constructor() {
    super('no address of the database takes writes: all that answer are replicas');
  }
}

/** The process id that PostgreSQL reported to a connection; a pooler reports a number of its own. */
export const processOf = (client: pg.ClientBase) =>
  (client as unknown as { readonly processID: number | null }).processID ?? 0;

/** What a new connection found. */
export interface Session {
  /** No pooler shares it with others. */
  readonly isOwn: boolean;
  /** It is one of a replica. */
  readonly isReplica: boolean;
  /** When PostgreSQL was started there, as text: no two have the same. */
  readonly startedAt: string;
}

/**
 * Makes the settings those of a new connection's session; changes nothing when the session is not ours alone. Citus cannot make
 * the generic plans that the delivery engine asks for.
 */
export async function openSession(client: pg.ClientBase, settings: Settings, watch: Watch): Promise<Session> {
  const asked = client.query<Session>(
    `select pg_backend_pid() = $1 as "isOwn", pg_is_in_recovery() as "isReplica",
       pg_postmaster_start_time()::text as "startedAt",
       (select count(set_config(name, value, false)) from unnest($2::text[], $3::text[]) s (name, value)
        where pg_backend_pid() = $1 and (name <> 'plan_cache_mode' or current_setting('citus.version', true) is null)) as set`,
    [processOf(client), Object.keys(settings), Object.values(settings)],
  );
  return (await watch.during(client, asked)).rows[0] ?? { isOwn: false, isReplica: false, startedAt: '' };
}
