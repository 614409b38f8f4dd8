import { type FailingChore, failingChores } from '../db/chores.ts';
import { mostConnections } from '../db/connect.ts';
import type { Database, ReplicaState } from '../db/database.ts';
import { openEmbedded } from '../db/embedded/open.ts';
import { type Horizon, readHorizon } from '../db/horizon.ts';
import { type DatabaseFacts, inspect } from '../db/inspect.ts';
import { connectReplicated } from '../db/replica.ts';
import { harmfulSettings } from '../db/server-settings.ts';
import { probeWriting } from '../db/settings.ts';
import { findLargeTables, type LargeTable } from '../db/table-sizes.ts';
import type { Config } from '../kernel/config.ts';
import { type AlertState, readAlertState } from '../notices/state.ts';
import { findLongWaits, type LongWaits } from '../outbox/keys.ts';
import { type BackupState, readBackups } from '../people/system/backups.ts';
import { type EndingCertificate, findEndingCertificates } from '../webhooks/endpoints/egress.ts';
import { type Checked, makeChecks } from './checks.ts';
import { hasData } from './data-folder.ts';
import { targetsOf } from './targets.ts';

/** The state of a database, with the results of the checks of /readyz; no checks without this program's schema. */
export type Inspection = DatabaseFacts & {
  readonly checks: readonly Checked[];
  /** Server settings that harm Payhook, as text. */
  readonly harms: readonly string[];
  /** The last backups; null before there is a schema. */
  readonly backups: BackupState | null;
  /** The state of the replica; null = none. */
  readonly replica: ReplicaState | null;
  /** The state of alerts; null without this program's schema. */
  readonly alerts: AlertState | null;
  /** Client certificates of endpoints that have expired or expire within a month. */
  readonly endingCertificates: readonly EndingCertificate[];
  /** Failing chores. */
  readonly failingChores: readonly FailingChore[];
  /** Long waits behind ordering keys; null = none. */
  readonly longWaits: LongWaits | null;
  /** What keeps dead rows; null without this program's schema. */
  readonly horizon: Horizon | null;
  /** Tables larger than expected. */
  readonly largeTables: readonly LargeTable[];
};

/** Inspects the database without changing it; null if the embedded one was never created. Throws as `openPlatform`. */
export async function inspectDatabase(config: Config): Promise<Inspection | null> {
  if (!hasData(config)) return null;
  const { databaseUrl, dataDir } = config;
  const embedded =
    databaseUrl === undefined ? await openEmbedded({ dataDir, purpose: 'command' }) : undefined;
  const targets = targetsOf(config, embedded);
  const options = {
    ...targets,
    poolSize: 1,
    name: 'payhook doctor',
    onIdleError: () => undefined,
  };
  // doctor changes nothing, so it does not prove that a write reaches the replica
  const db = connectReplicated(options, targets.replica && { target: targets.replica, proves: false });
  try {
    const found = await inspect(db);
    const harms = harmfulSettings(found.settings, mostConnections(config.databasePoolSize));
    const backups = found.schemaVersion === 0 ? null : await readBackups(db.reader);
    const facts = { ...found, harms, backups };
    const isOurs = facts.foreignSchema === null && facts.schemaVersion === facts.newestSchemaVersion;
    const subject = {
      db,
      folder: embedded ? dataDir : null,
      timeoutMs: config.delivery.timeoutMs,
      tryWriting: () => tryWriting(db),
    };
    const replica = (await db.replica?.look()) ?? null;
    // Citus refuses some of these queries
    if (!isOurs || facts.distribution !== null) {
      const nothing = {
        checks: [],
        alerts: null,
        endingCertificates: [],
        failingChores: [],
        longWaits: null,
        horizon: null,
        largeTables: [],
      };
      return { ...facts, ...nothing, replica };
    }
    const [checks, alerts] = [await makeChecks(subject), await readAlertState(db.reader)];
    const endingCertificates = await findEndingCertificates(db.reader);
    const longWaits = await findLongWaits(db.reader);
    const failing = await failingChores(db.reader);
    const horizon = await readHorizon(db.reader);
    const largeTables = await findLargeTables(db.reader);
    return {
      ...facts,
      checks,
      replica,
      alerts,
      endingCertificates,
      failingChores: failing,
      longWaits,
      horizon,
      largeTables,
    };
  } finally {
    await db.close();
    await embedded?.close();
  }
}

/** Writes something and rolls it back. */
async function tryWriting(db: Database): Promise<void> {
  const undone = new Error('undone');
  try {
    await db.transaction(async (tx) => {
      await probeWriting(tx);
      throw undone;
    });
  } catch (error) {
    if (error !== undone) throw error;
  }
}
