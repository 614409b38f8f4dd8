import type { Socket } from 'node:net';
import pg from 'pg';
import type { Hosts } from './hosts.ts';

/*
 * A connection that went silent, through a firewall that forgot it or a machine that lost its power, answers nothing and
 * fails nothing: whoever waits for it waits forever. How long a statement takes says nothing, a payout of a million
 * takes minutes; what PostgreSQL is doing says it. So when an answer is not there after a few seconds, PostgreSQL is
 * asked over another connection. While it works for us we wait. If twice in a row it does not, or cannot be asked, the
 * connection is given up, and what it held there is let go.
 */

/** Watches what waits for PostgreSQL. */
export interface Watch {
  /** Waits for what is asked on a connection; rejects when the connection is given up. */
  during<Result>(client: pg.ClientBase, asked: Promise<Result>): Promise<Result>;
  /** The same for what ends by a call of what it returns. */
  begin(client: pg.ClientBase): () => void;
  close(): void;
}

const LOOK_MS = 2500;
const PATIENCE_MS = 5000;
const ASK_MS = 4000;
/** How long PostgreSQL may take to close a connection. */
const CLOSE_MS = 1000;
const STRIKES = 2;

interface Waiting {
  readonly client: pg.ClientBase;
  readonly since: number;
  strikes: number;
  /** Bytes that had moved on the socket when it was last looked at; null = it was not. */
  moved: number | null;
}

/** What pg does not declare of a client. */
interface Inside {
  readonly processID: number | null;
  readonly connection: { readonly stream: Socket };
  end(): Promise<void>;
}

const inside = (client: pg.ClientBase) => client as unknown as Inside;

/** Breaks a connection: whoever waits for an answer on it gets an error at once. */
export function cutOff(client: pg.ClientBase): void {
  inside(client).connection.stream.destroy();
}

/** Closes a connection that no statement uses; resolves once it is closed. Breaks one that PostgreSQL does not close within a second. */
export async function closeConnection(client: pg.ClientBase): Promise<void> {
  const cut = setTimeout(() => cutOff(client), CLOSE_MS);
  await inside(client)
    .end()
    .catch(() => undefined);
  clearTimeout(cut);
}

function bytesMoved(client: pg.ClientBase): number {
  const { bytesRead, bytesWritten } = inside(client).connection.stream;
  return bytesRead + bytesWritten;
}

/** Starts watching; `onSilent` is called each time with the number of connections given up. */
export function startWatch(hosts: Hosts, onSilent: (count: number) => void): Watch {
  const waiting = new Set<Waiting>();
  let looking = false;

  async function look(): Promise<void> {
    const now = performance.now();
    for (const each of waiting) each.moved ??= bytesMoved(each.client);
    const late = [...waiting].filter(({ since }) => now - since > PATIENCE_MS);
    if (late.length === 0 || looking) return;
    looking = true;
    try {
      const busy = await busyAmong(
        hosts,
        late.map(({ client }) => inside(client).processID ?? 0),
      );
      judge(
        late.filter((each) => waiting.has(each)),
        busy,
      );
    } finally {
      looking = false;
    }
  }

  function judge(late: readonly Waiting[], busy: ReadonlySet<number>): void {
    const silent: Waiting[] = [];
    for (const each of late) {
      const moved = bytesMoved(each.client);
      const isAlive = busy.has(inside(each.client).processID ?? 0) || moved !== each.moved;
      each.moved = moved;
      each.strikes = isAlive ? 0 : each.strikes + 1;
      if (each.strikes >= STRIKES) silent.push(each);
    }
    if (silent.length === 0) return;
    onSilent(silent.length);
    for (const { client } of silent) cutOff(client);
    const pids = silent.map(({ client }) => inside(client).processID ?? 0);
    // its locks and its transaction end with it; it was seen to do nothing, or nobody can be reached
    void askAside(hosts, 'select pg_terminate_backend(pid) from unnest($1::int[]) pid', [pids]).catch(
      () => undefined,
    );
  }

  const timer = setInterval(() => void look(), LOOK_MS).unref();
  const begin = (client: pg.ClientBase) => {
    const one: Waiting = { client, since: performance.now(), strikes: 0, moved: null };
    waiting.add(one);
    return () => void waiting.delete(one);
  };
  return {
    begin,
    async during(client, asked) {
      const end = begin(client);
      try {
        return await asked;
      } finally {
        end();
      }
    },
    close: () => clearInterval(timer),
  };
}

/** The backends among `pids` that work for us, as PostgreSQL says; none when it does not answer, all when it refuses to. */
async function busyAmong(hosts: Hosts, pids: readonly number[]): Promise<ReadonlySet<number>> {
  try {
    const seen = await askAside<{ pid: number }>(
      hosts,
      // One that waits for us to go on is at work only while bytes move; of Citus, such a backend may wait for a node. Behind a
      // pooler our numbers are not those of PostgreSQL: then its answer is all there is, and nothing is given up.
      `select pid from unnest($1::int[]) pid left join pg_stat_activity a using (pid)
       where coalesce(a.state, '') not like 'idle%' and a.pid is not null
           and (a.wait_event is distinct from 'ClientRead' or current_setting('citus.version', true) is not null)
          or not exists (select from pg_stat_activity where pid = $2)`,
      [pids],
      true,
    );
    return new Set(seen.map(({ pid }) => pid));
  } catch (error) {
    // too many connections, for one: what it says it says over a network that is there
    return new Set(error instanceof pg.DatabaseError ? pids : []);
  }
}

/** Asks over a connection of its own, which is cut after a few seconds. */
async function askAside<Row>(
  hosts: Hosts,
  text: string,
  values: readonly unknown[],
  addsItself = false,
): Promise<Row[]> {
  const client = new pg.Client({ ...hosts.current(), application_name: 'payhook watch' });
  client.on('error', () => undefined);
  const cut = setTimeout(() => cutOff(client), ASK_MS);
  try {
    await client.connect();
    const own = addsItself ? [inside(client).processID] : [];
    return (await client.query(text, [...values, ...own])).rows as Row[];
  } finally {
    clearTimeout(cut);
    void closeConnection(client);
  }
}
