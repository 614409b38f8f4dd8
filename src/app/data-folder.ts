import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { serversStartedAbove } from '../db/embedded/find.ts';
import { requireTrusted } from '../db/embedded/trust.ts';
import type { Config } from '../kernel/config.ts';

/** No data folder to work on, or several. The message says where it looked and what to do. */
export class NoDataError extends Error {
  override name = 'NoDataError';
}

/** Whether there is a database to open. With DATABASE_URL this is unknown before connecting. */
export function hasData({ databaseUrl, dataDir }: Config): boolean {
  return databaseUrl !== undefined || existsSync(join(dataDir, 'postgres', 'PG_VERSION'));
}

/** Throws NoDataError if there is no database to open. */
export function requireData(config: Config): void {
  if (hasData(config)) return;
  throw new NoDataError(
    `there is no Payhook data in ${config.dataDir}: name another folder with --data-dir or DATA_DIR, ` +
      'or set one up here with payhook init or payhook serve',
  );
}

/**
 * The settings of a command. Without a named data folder, uses that of the server that this user started in the working
 * folder or one above it, and sets `fromServer`. Throws NoDataError if there are several such servers,
 * EmbeddedDatabaseError if another user could have written to the data folder.
 */
export function settingsHere(given: Config): { config: Config; fromServer: boolean } {
  const settled = settle(given);
  requireTrusted(settled.config.dataDir);
  return settled;
}

function settle(config: Config): { config: Config; fromServer: boolean } {
  if (config.dataDirGiven || config.databaseUrl !== undefined) return { config, fromServer: false };
  const [dataDir, ...others] = serversStartedAbove(process.cwd());
  if (dataDir === undefined) return { config, fromServer: false };
  if (others.length > 0) {
    throw new NoDataError(
      `several servers were started here: choose one with --data-dir: ${[dataDir, ...others].join(', ')}`,
    );
  }
  return { config: { ...config, dataDir }, fromServer: dataDir !== config.dataDir };
}
