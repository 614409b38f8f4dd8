import type { Logger } from 'pino';
import { type ConnectionTarget, type ConnectOptions, mostConnections } from '../db/connect.ts';
import { createConnectionLimit } from '../db/connection-limit.ts';
import type { Database, Tx } from '../db/database.ts';
import type { EmbeddedDatabase, Purpose } from '../db/embedded/open.ts';
import { requireTrusted } from '../db/embedded/trust.ts';
import { makePartitions } from '../db/partitions.ts';
import { connectReplicated } from '../db/replica.ts';
import { connectionName } from '../db/secret-key.ts';
import type { Config } from '../kernel/config.ts';
import { requireData } from './data-folder.ts';
import { makeDataFolder, openEmbeddedOf } from './embedded.ts';
import { heldFingerprints, isInFolder } from './secret-keys.ts';
import { targetsOf } from './targets.ts';

/** A connected database, whatever it contains. */
export interface OpenDatabase {
  readonly db: Database;
  /** undefined = the database of DATABASE_URL, or of `target`. */
  readonly embedded: EmbeddedDatabase | undefined;
  /** How it was connected, for other databases of the same process. */
  readonly connecting: Pick<
    ConnectOptions,
    'target' | 'direct' | 'poolSize' | 'name' | 'onIdleError' | 'limit'
  >;
  close(): Promise<void>;
}

interface OpenOptions {
  readonly purpose: Purpose;
  /** See PlatformOptions. */
  readonly child?: number | undefined;
  readonly log: Logger;
  readonly target?: ConnectionTarget | readonly ConnectionTarget[] | undefined;
  /** PostgreSQL itself, if `target` is a pooler. */
  readonly direct?: ConnectionTarget | undefined;
  /** A replica of `target`. */
  readonly replica?: ConnectionTarget | undefined;
  readonly onlyExisting?: boolean;
}

/**
 * Connects the database of the settings. Creates the data folder and the embedded PostgreSQL if they are missing; with
 * `onlyExisting` throws NoDataError instead. `target` replaces the server of the settings. Throws EmbeddedDatabaseError
 * with what to do, also if another user could have written to the data folder.
 */
export async function openDatabase(
  config: Config,
  { purpose, child, log, target, direct, onlyExisting = false, ...given }: OpenOptions,
): Promise<OpenDatabase> {
  if (onlyExisting) {
    requireTrusted(config.dataDir);
    requireData(config);
  } else makeDataFolder(config);
  const joining = child === undefined ? purpose : 'worker';
  const embedded = target ? undefined : await openEmbeddedOf(config, joining, log);
  const settled = target ? { target, direct, replica: given.replica } : targetsOf(config, embedded);
  // only a server reads enough to use a replica
  const replica = purpose === 'serve' || target ? settled.replica : undefined;
  const connecting = {
    target: settled.target,
    direct: settled.direct,
    poolSize: config.databasePoolSize,
    limit: createConnectionLimit(config.databaseConnections ?? mostConnections(config.databasePoolSize)),
    name: connectionName(heldFingerprints(config), isInFolder(config)),
    onIdleError: (error: Error) => log.warn({ err: error }, 'an idle database connection was lost'),
  };
  const options = {
    ...settled,
    ...connecting,
    makePartitions: (tx: Tx) => {
      log.warn("the database's clock is past all partitions: those for now are being created");
      return makePartitions(tx);
    },
  };
  const db = connectReplicated(options, replica && readFrom(replica, log));
  return {
    db,
    embedded,
    connecting,
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
    if (problem === null) log.info('the replica is in use');
    else log.warn({ problem }, 'the replica is not used; the primary answers');
  },
});
