import pg from 'pg';
import type { Client } from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { CommandError } from '../command/errors.ts';
import { follow } from '../command/follow.ts';
import { withClient } from '../command/session.ts';
import { aborted, untilStopped } from '../terminal/interrupt.ts';
import { count } from '../terminal/money.ts';
import { printable } from '../terminal/table.ts';
import { type Outbox, openOutbox, type Relayed } from './outbox.ts';
import { send } from './send.ts';

const POLL_MS = 500;
const CONNECT_MS = 10_000;

/** Where the rows are, and how many are published at once. */
interface Source {
  readonly url: string;
  readonly table: string;
  readonly most: number;
}

/** `payhook relay`: until it is stopped, or with `once` until no row waits. Resolves to the exit code. */
export async function relayRows(
  cli: Cli,
  { once, ...source }: Source & { once: boolean },
): Promise<number | undefined> {
  const connection = connectionTo(source);
  const batch = (client: Client) => relayBatch(cli, client, { connection, source });
  // A batch in progress ends with the process: its rows stay in the table, and are recognised by their external ids.
  const stopped = aborted(untilStopped());
  try {
    if (once) {
      const hasRefused = withClient(cli, async (client) => {
        let refused = 0;
        for (let done = await batch(client); done !== null; done = await batch(client))
          refused += done.refused.length;
        return refused > 0;
      });
      return (await Promise.race([hasRefused, stopped.then(() => true)])) ? 1 : undefined;
    }
    const trouble = (text: string) => cli.terminal.note(text === '' ? 'The relay works again.' : text);
    cli.terminal.note(`Publishing the rows of ${source.table}. Press Ctrl-C to stop.`);
    const poll = async (client: Client) => (await batch(client)) !== null;
    await Promise.race([follow(cli, { everyMs: POLL_MS, poll, trouble }), stopped]);
    return undefined;
  } finally {
    connection.close();
  }
}

/** Publishes a batch and prints its result; null if no row waits. */
async function relayBatch(
  { terminal }: Cli,
  client: Client,
  { connection, source }: { connection: Connection; source: Source },
): Promise<Relayed | null> {
  const outbox = await connection.outbox();
  const relayed = await connection.guard(() => outbox.take(source.most, (events) => send(client, events)));
  if (relayed === null) return null;
  const { published, refused } = relayed;
  terminal.result(
    { published: published.length, refused },
    () => `published ${count(published.length, 'event')}\n`,
  );
  for (const { id, refusal } of refused) {
    terminal.note(
      `The row ${printable(id)} of ${source.table} was refused and stays there: ${printable(refusal)}`,
    );
  }
  return relayed;
}

/** A connection to the other database, which is made again after an error. */
interface Connection {
  outbox(): Promise<Outbox>;
  /** Runs work on it. An error of PostgreSQL or of the connection becomes a CommandError, after which it is made again. */
  guard<Result>(work: () => Promise<Result>): Promise<Result>;
  close(): void;
}

function connectionTo({ url, table }: Source): Connection {
  let open: { client: pg.Client; outbox: Outbox } | null = null;
  const close = () => {
    open?.client.end().catch(() => undefined);
    open = null;
  };
  async function guard<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      close();
      const { name, message } = error as Error;
      if (name === 'ApiError' || name === 'CommandError') throw error;
      // whatever was published is recognised when it is sent again, so the outcome does not matter
      if (name === 'ConnectionError') throw new CommandError(message, { code: 'unreachable' });
      throw new CommandError(`the database with ${table}: ${messageOf(error)}`, { code: 'database' });
    }
  }
  return {
    guard,
    close,
    outbox: () =>
      guard(async () => {
        if (open !== null) return open.outbox;
        const client = new pg.Client({
          connectionString: url,
          application_name: 'payhook relay',
          connectionTimeoutMillis: CONNECT_MS,
          keepAlive: true,
        });
        // an idle connection was lost: the next statement reports it
        client.on('error', () => undefined);
        open = { client, outbox: await openedBy(client, table) };
        return open.outbox;
      }),
  };
}

async function openedBy(client: pg.Client, table: string): Promise<Outbox> {
  try {
    await client.connect();
    return await openOutbox(client, table);
  } catch (error) {
    client.end().catch(() => undefined);
    throw error;
  }
}

/** A refused connection to "localhost" is an AggregateError without a message of its own. */
function messageOf(error: unknown): string {
  const { message, errors } = error as { message?: string; errors?: readonly Error[] };
  return message || errors?.[0]?.message || String(error);
}
