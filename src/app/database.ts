import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import type { ConnectionTarget } from '../db/connect.ts';
import type { Database, Tx } from '../db/database.ts';
import { type EmbeddedDatabase, openEmbedded, type Purpose } from '../db/embedded/open.ts';
import { requireTrusted } from '../db/embedded/trust.ts';
import { makePartitions } from '../db/partitions.ts';
import { connectReplicated } from '../db/replica.ts';
import { connectionName } from '../db/secret-key.ts';
import type { Config } from '../kernel/config.ts';
import { requireData } from './data-folder.ts';
import { heldFingerprints, isInFolder } from './secret-keys.ts';
import { targetsOf } from './targets.ts';

/** A database that is connected, whatever is in it. */
export interface OpenDatabase {
  readonly db: Database;
  /** undefined = the database of DATABASE_URL, or of `target`. */
  readonly embedded: EmbeddedDatabase | undefined;
  close(): Promise<void>;
}

interface OpenOptions {
  readonly purpose: Purpose;
  readonly log: Logger;
  readonly target?: ConnectionTarget | readonly ConnectionTarget[] | undefined;
  /** PostgreSQL itself, when `target` is a pooler. */
  readonly direct?: ConnectionTarget | undefined;
  /** A replica of `target`. */
  readonly replica?: ConnectionTarget | undefined;
  readonly onlyExisting?: boolean;
}

/**
 * Connects the database of the settings. Makes the data folder and the embedded PostgreSQL where they are missing; with
 * `onlyExisting` throws NoDataError instead. `target` is another server than the settings name. Throws
 * EmbeddedDatabaseError with what to do, also when another user could have written to the data folder.
 */
export async function openDatabase(
  config: Config,
  { purpose, log, target, direct, onlyExisting = false, ...given }: OpenOptions,
): Promise<OpenDatabase> {
  requireTrusted(config.dataDir);
  if (onlyExisting) requireData(config);
  else makeFolder(config.dataDir);
  const embedded =
    target || config.databaseUrl
      ? undefined
      : await openEmbedded({
          dataDir: config.dataDir,
          purpose,
          log: (level, message, details) => log[level](details ?? {}, message),
        });
  const settled = target ? { target, direct, replica: given.replica } : targetsOf(config, embedded);
  // only a server reads enough for it
  const replica = purpose === 'serve' || target ? settled.replica : undefined;
  const options = {
    ...settled,
    poolSize: config.databasePoolSize,
    name: connectionName(heldFingerprints(config), isInFolder(config)),
    onIdleError: (error: Error) => log.warn({ err: error }, 'an idle database connection was lost'),
    makePartitions: (tx: Tx) => {
      log.warn("the database's clock has passed all partitions: those of now are being made");
      return makePartitions(tx);
    },
  };
  const db = connectReplicated(options, replica && readFrom(replica, log));
  return {
    db,
    embedded,
    async close() {
      await db.close();
      await embedded?.close();
    },
  };
}

const readFrom = (target: ConnectionTarget, log: Logger) => ({
  target,
  proves: true,
  onChange(problem: string | null) {
    if (problem === null) log.info('the replica is read from');
    else log.warn({ problem }, 'the replica is left out; the primary answers');
  },
});

// Node's recursive mkdir loops for ever where a folder cannot be made (below /proc, for one).
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (!existsSync(dirname(path))) makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}
