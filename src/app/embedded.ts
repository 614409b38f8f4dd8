import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { type EmbeddedDatabase, openEmbedded, type Purpose } from '../db/embedded/open.ts';
import { requireTrusted } from '../db/embedded/trust.ts';
import type { Config } from '../kernel/config.ts';

/** Creates the data folder if it is missing. Throws EmbeddedDatabaseError if another user could have written to it. */
export function makeDataFolder({ dataDir }: Config): void {
  requireTrusted(dataDir);
  makeFolder(dataDir);
}

// Node's recursive mkdir loops forever where a folder cannot be created (below /proc, for example).
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (!existsSync(dirname(path))) makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

/** The embedded PostgreSQL of the data folder; undefined with DATABASE_URL. Throws EmbeddedDatabaseError with what to do. */
export async function openEmbeddedOf(
  { dataDir, databaseUrl }: Config,
  purpose: Purpose,
  log: Logger,
): Promise<EmbeddedDatabase | undefined> {
  if (databaseUrl !== undefined) return undefined;
  return openEmbedded({
    dataDir,
    purpose,
    log: (level, message, details) => log[level](details ?? {}, message),
  });
}
