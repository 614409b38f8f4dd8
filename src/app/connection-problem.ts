import { mostConnections } from '../db/connect.ts';
import type { Reader } from '../db/database.ts';
import { readServerSettings } from '../db/server-settings.ts';
import type { Config } from '../kernel/config.ts';

/**
 * Why PostgreSQL accepts too few connections for `count` processes of this server, with the remedy; null = it accepts enough. In: the
 * settings of the first process, whose part of DATABASE_POOL_SIZE is the largest.
 */
export async function connectionProblem(config: Config, db: Reader, count: number): Promise<string | null> {
  const { max_connections: accepted } = await readServerSettings(db);
  const needed = count * mostConnections(config.databasePoolSize);
  if (needed <= Number(accepted)) return null;
  return (
    `${count} processes open up to ${needed} connections, and PostgreSQL accepts ${accepted}: set PROCESSES or DATABASE_POOL_SIZE lower, ` +
    'or max_connections of PostgreSQL higher'
  );
}
