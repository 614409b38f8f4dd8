import pg from 'pg';
import copyStreams from 'pg-copy-streams';
import type { Sql } from 'sql-template-tag';
import type { Reader, Snapshot } from './database.ts';
import type { Pool } from './pool.ts';
import type { Settings } from './session.ts';

/*
 * How statements and transactions are run on a connection of a pool, whichever database it is of.
 */

/**
 * Does something with a connection that one statement is enough for: by itself, or behind a pooler in a transaction. After
 * an error that PostgreSQL did not report, the connection is not used again.
 */
export async function using<Result>(
  pool: Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.take();
  if (!pool.hasSession(client)) return inTransaction(pool, client, () => work(client));
  let broken = false;
  try {
    return await work(client);
  } catch (error) {
    broken = !(error instanceof pg.DatabaseError);
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Begins a transaction on a connection, with settings for it alone, works, commits or rolls back, and releases the connection. */
export async function inTransaction<Result>(
  pool: Pool,
  client: pg.PoolClient,
  work: () => Promise<Result>,
  settings?: Settings,
): Promise<Result> {
  const run = (statement: string) => pool.watch.during(client, client.query(statement));
  let broken = false;
  try {
    await run(pool.beginning(client, { settings }));
    const result = await work();
    // COMMIT of an aborted transaction answers ROLLBACK without an error, which must not be taken for success.
    const { command } = await run('commit');
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back');
    return result;
  } catch (error) {
    await run('rollback').catch(() => {
      broken = true;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** As `Database.snapshot`, on a connection of the pool. */
export async function snapshotOn<Result>(
  pool: Pool,
  work: (db: Snapshot) => Promise<Result>,
): Promise<Result> {
  const { watch } = pool;
  const client = await pool.take();
  let streaming = false;
  let broken = false;
  const end = () =>
    watch.during(client, client.query('commit')).catch(() => {
      broken = true;
    });
  const db: Snapshot = {
    cell: pool.cell,
    rows: rowsOn(pool, client),
    // not watched: PostgreSQL finishes long before a slow reader does
    copyOut(statement) {
      streaming = true;
      const stream = client.query(copyStreams.to(statement));
      let ended = false;
      stream.once('end', () => {
        ended = true;
      });
      // A reader that leaves early leaves the connection inside COPY, so it is thrown away.
      stream.once('close', () => (ended ? end().then(() => client.release(broken)) : client.release(true)));
      return stream;
    },
    async copyThrough(statement, work) {
      const stream = client.query(copyStreams.to(statement));
      try {
        await work(stream);
        // the stream ends before PostgreSQL says how many rows it had
        await client.query('select');
        return stream.rowCount;
      } catch (error) {
        broken = true;
        stream.destroy();
        throw error;
      }
    },
  };
  try {
    await watch.during(client, client.query(pool.beginning(client, { level: 'repeatable read' })));
    return await work(db);
  } finally {
    if (!streaming) {
      if (!broken) await end();
      client.release(broken);
    }
  }
}

/** As `Reader.rows`, on one connection. */
export function rowsOn(pool: Pool, client: pg.PoolClient): Reader['rows'] {
  // what is prepared is a session's: behind a pooler the next statement may run in another one
  const isNamed = pool.hasSession(client);
  return async <Row>({ text, values }: Sql, name?: string) => {
    const query = name !== undefined && isNamed ? { name, text, values } : { text, values };
    return (await pool.watch.during(client, client.query(query))).rows as Row[];
  };
}

/** Reads single statements on any connection of the pool. */
export const readerOn = (pool: Pool): Reader => ({
  cell: pool.cell,
  rows: (query, name) => using(pool, (client) => rowsOn(pool, client)(query, name)),
});
