import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Logger } from 'pino';
import type { Cells } from '../../db/cells.ts';
import type { Chore } from '../../db/chores.ts';
import { readNow } from '../../db/clock.ts';
import type { Database, Tx } from '../../db/database.ts';
import { aloneAt } from '../../db/held-locks.ts';
import { type Config, environmentOfCommand } from '../../kernel/config.ts';
import { programPath } from '../../kernel/installation.ts';
import { notify } from '../../notices/notices.ts';
import { firstAccount } from '../../people/accounts/service.ts';
import { forgetFailedBackup, noteFailedBackup, readBackups } from '../../people/system/backups.ts';
import { deleteOld } from './backup-file.ts';
import { BackupError } from './errors.ts';
import type { SavedBackup } from './save.ts';

const MINUTE_MS = 60_000;
const LOOK_MS = 10_000;
const TRY_AGAIN_MS = 10 * MINUTE_MS;
const NAME = 'backups';

/** Backups, and the names of the older ones that were deleted for them. */
export interface MadeBackups {
  /** One for each cell, cell 0 first. */
  readonly saved: readonly SavedBackup[];
  readonly deleted: readonly string[];
}

/** The chore that makes scheduled backups, if the settings have a schedule. */
export function backupChores({ cells, log, config }: { cells: Cells; log: Logger; config: Config }): Chore[] {
  const { everyMs } = config.backup;
  if (everyMs === undefined) return [];
  const run = async () => {
    if ((await dueCells(cells, everyMs)).length > 0) await runCommand(config, log);
  };
  return [{ name: NAME, everyMs: LOOK_MS, run }];
}

/** The reachable cells whose backup is due. None for a while after a failure, which cell 0 records for all cells. */
async function dueCells(cells: Cells, everyMs: number): Promise<Database[]> {
  const due: Database[] = [];
  for (const { number, db } of cells.list()) {
    if (db === null) continue;
    const { age_s, failure_age_s } = await readBackups(db.reader).catch((error: unknown) => {
      if (number === 0) throw error;
      return UNKNOWN;
    });
    const isPaused =
      number === 0 && failure_age_s !== null && failure_age_s * 1000 < Math.min(everyMs, TRY_AGAIN_MS);
    if (isPaused) return [];
    if (age_s === null || age_s * 1000 >= everyMs) due.push(db);
  }
  return due;
}

/** A cell that does not answer is not due, but the next backup of another cell reports it. */
const UNKNOWN = { age_s: 0, failure_age_s: null };

/** Runs `payhook backup --scheduled` in a separate process: compressing and encrypting would slow down requests. */
async function runCommand({ dataDir }: Config, log: Logger): Promise<void> {
  const command = [programPath(), 'backup', '--scheduled', '--json'];
  const child = spawn(process.execPath, [...process.execArgv, ...command], {
    env: environmentOfCommand(dataDir),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [code, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code === 0) log.info({ backup: out.trim() }, 'a backup was made');
  else log.error({ code, reason: err.trim() }, 'the backup failed and will be retried');
}

/**
 * Makes the backups of cells that are due, and deletes surplus ones. Only one of several processes does this; the others do
 * nothing. Returns null if none is due, or another process makes them. A failure is recorded where every process sees it, and
 * thrown after the other cells were saved.
 */
export function scheduledBackup(
  { cells, config }: { cells: Cells; config: Config },
  begun: (partial: string) => void,
): Promise<MadeBackups | null> {
  const { everyMs, folder, keep, passphrase, recipient } = config.backup;
  if (everyMs === undefined || folder === undefined)
    throw new BackupError('BACKUP_EVERY is not set: name a file or a folder');
  const { first } = cells;
  return aloneAt(first, NAME, async () => {
    const { failure } = await readBackups(first.reader);
    const due = await dueCells(cells, everyMs);
    if (due.length === 0) return null;
    const { saveBackup } = await import('./save.ts'); // a server runs this in another process
    const lock = { passphrase, recipient };
    const saved: SavedBackup[] = [];
    const deleted: string[] = [];
    const failed: unknown[] = cells
      .list()
      .flatMap(({ number, db, problem }) =>
        db === null ? [new BackupError(`cell ${number} ${problem}`)] : [],
      );
    for (const db of due) {
      try {
        saved.push(await saveBackup({ db, target: `${folder}/`, lock, begun }));
        const nowMs = await readNow(db.reader);
        deleted.push(...(await deleteOld(folder, { keep, nowMs, cell: db.cell })));
      } catch (error) {
        failed.push(db.cell === 0 ? error : new BackupError(`cell ${db.cell}: ${(error as Error).message}`));
      }
    }
    const [problem] = failed;
    if (problem !== undefined) {
      await first.transaction((tx) => reportFailure(tx, (problem as Error).message, failure !== null));
      throw problem;
    }
    if (failure !== null) await first.transaction(forgetFailedBackup);
    return { saved, deleted };
  });
}

/** Of consecutive failures, only the first one notifies. */
async function reportFailure(tx: Tx, message: string, wasFailing: boolean): Promise<void> {
  await noteFailedBackup(tx, message);
  if (wasFailing) return;
  const account = await firstAccount(tx);
  await notify(tx, [{ account, kind: 'backup_failed', subject: null, data: { message } }]);
}
