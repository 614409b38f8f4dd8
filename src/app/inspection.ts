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
import { vaultOf } from '../kernel/vault.ts';
import { type AlertState, readAlertState } from '../notices/state.ts';
import { findLongWaits, type LongWaits } from '../outbox/keys.ts';
import { findRefusedSettings, type RefusedSetting } from '../people/accounts/bank-rules.ts';
import { type BackupState, readBackups } from '../people/system/backups.ts';
import { type EndingCertificate, findEndingCertificates } from '../webhooks/endpoints/egress.ts';
import { type Checked, makeChecks } from './checks.ts';
import { hasData } from './data-folder.ts';
import { type CellsInspection, inspectCells, NO_CELLS } from './inspection-of-cells.ts';
import { heldKeys } from './secret-keys.ts';
import { targetsOf } from './targets.ts';

/** The state of a database, with the results of the checks of /readyz; no checks without this program's schema. */
export type Inspection = DatabaseFacts & {
  /** Whether it has this program's schema, in a form that works. */
  readonly isOurs: boolean;
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
  /** Settings by which banks may refuse files. */
  readonly refusedSettings: readonly RefusedSetting[];
  /** Failing chores. */
  readonly failingChores: readonly FailingChore[];
  /** Long waits behind ordering keys; null = none. */
  readonly longWaits: LongWaits | null;
  /** What keeps dead rows; null without this program's schema. */
  readonly horizon: Horizon | null;
  /** Tables larger than expected. */
  readonly largeTables: readonly LargeTable[];
};

/** The state of all cells. */
export interface InstallationInspection extends CellsInspection<Inspection> {
  /** Cell 0. */
  readonly first: Inspection;
}

/** Inspects all cells without changing them; null if the embedded database was never created. Throws as `openPlatform`. */
export async function inspectInstallation(config: Config): Promise<InstallationInspection | null> {
  if (!hasData(config)) return null;
  const { databaseUrl, dataDir } = config;
  const embedded =
    databaseUrl === undefined ? await openEmbedded({ dataDir, purpose: 'command' }) : undefined;
  const targets = targetsOf(config, embedded);
  const connecting = {
    ...targets,
    poolSize: 1,
    name: 'payhook doctor',
    onIdleError: () => undefined,
  };
  // doctor changes nothing, so it does not prove that a write reaches the replica
  const db = connectReplicated(connecting, targets.replica && { target: targets.replica, proves: false });
  try {
    const first = await inspectDatabase(db, config, embedded ? dataDir : null);
    const vault = vaultOf(() => heldKeys(config));
    const cells = first.isOurs
      ? await inspectCells({
          first: db,
          vault,
          connecting,
          inspect: (cell) => inspectDatabase(cell, config, null),
        })
      : NO_CELLS;
    return { first, ...cells };
  } finally {
    await db.close();
    await embedded?.close();
  }
}

/** Inspects the database of a cell. `folder` is the data folder if PostgreSQL is the embedded one. */
async function inspectDatabase(db: Database, config: Config, folder: string | null): Promise<Inspection> {
  const found = await inspect(db);
  const harms = harmfulSettings(found.settings, mostConnections(config.databasePoolSize));
  const backups = found.schemaVersion === 0 ? null : await readBackups(db.reader);
  const isCurrent = found.foreignSchema === null && found.schemaVersion === found.newestSchemaVersion;
  // Citus refuses some of these queries
  const isOurs = isCurrent && found.distribution === null;
  const replica = (await db.replica?.look()) ?? null;
  const facts = { ...found, harms, backups, isOurs, replica };
  if (!isOurs) return { ...facts, ...NOTHING };
  const { timeoutMs } = config.delivery;
  return {
    ...facts,
    checks: await makeChecks({ db, folder, timeoutMs, tryWriting: () => tryWriting(db) }),
    alerts: await readAlertState(db.reader),
    endingCertificates: await findEndingCertificates(db.reader),
    refusedSettings: await findRefusedSettings(db.reader),
    longWaits: await findLongWaits(db.reader),
    failingChores: await failingChores(db.reader),
    horizon: await readHorizon(db.reader),
    largeTables: await findLargeTables(db.reader),
  };
}

const NOTHING = {
  checks: [],
  alerts: null,
  endingCertificates: [],
  refusedSettings: [],
  failingChores: [],
  longWaits: null,
  horizon: null,
  largeTables: [],
};

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
