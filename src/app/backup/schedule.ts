import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { Logger } from 'pino';
import type { Chore } from '../../db/chores.ts';
import { readNow } from '../../db/clock.ts';
import type { Database } from '../../db/database.ts';
import { aloneAt } from '../../db/held-locks.ts';
import { type Config, environmentOfCommand } from '../../kernel/config.ts';
import { programPath } from '../../kernel/installation.ts';
import { notify } from '../../notices/notices.ts';
import { firstAccount } from '../../people/accounts/service.ts';
import { type BackupState, noteFailedBackup, readBackups } from '../../people/system/backups.ts';
import { deleteOld } from './backup-file.ts';
import { BackupError } from './errors.ts';
import type { SavedBackup } from './save.ts';

const MINUTE_MS = 60_000;
const LOOK_MS = 10_000;
const TRY_AGAIN_MS = 10 * MINUTE_MS;
const NAME = 'backups';

/** The result of a scheduled backup: null = none is due, or another process makes it. */
export type ScheduledBackup = (SavedBackup & { readonly deleted: readonly string[] }) | null;

/** The chore that makes scheduled backups, if the settings have a schedule. */
export function backupChores({ db, log, config }: { db: Database; log: Logger; config: Config }): Chore[] {
  const { everyMs } = config.backup;
  if (everyMs === undefined) return [];
  const run = async () => {
    if (isDue(await readBackups(db.reader), everyMs)) await runCommand(config, log);
  };
  return [{ name: NAME, everyMs: LOOK_MS, run }];
}

function isDue({ age_s, failure_age_s }: BackupState, everyMs: number): boolean {
  if (failure_age_s !== null && failure_age_s * 1000 < Math.min(everyMs, TRY_AGAIN_MS)) return false;
  return age_s === null || age_s * 1000 >= everyMs;
}

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
 * Makes the backup that is due and deletes surplus ones. Only one of several processes does this; the others do nothing.
 * A failure is recorded where every process sees it, and thrown.
 */
export function scheduledBackup(
  { db, config }: { db: Database; config: Config },
  begun: (partial: string) => void,
): Promise<ScheduledBackup> {
  const { everyMs, folder, keep, passphrase, recipient } = config.backup;
  if (everyMs === undefined || folder === undefined)
    throw new BackupError('BACKUP_EVERY is not set: name a file or a folder');
  return aloneAt(db, NAME, async () => {
    const state = await readBackups(db.reader);
    if (!isDue(state, everyMs)) return null;
    try {
      const { saveBackup } = await import('./save.ts'); // a server runs this in another process
      const lock = { passphrase, recipient };
      const saved = await saveBackup({ db, target: `${folder}/`, lock, begun });
      const deleted = await deleteOld(folder, keep, await readNow(db.reader));
      return { ...saved, deleted };
    } catch (error) {
      const { message } = error as Error;
      await db.transaction(async (tx) => {
        await noteFailedBackup(tx, message);
        // of consecutive failures, only the first one notifies
        if (state.failure !== null) return;
        const account = await firstAccount(tx);
        await notify(tx, [{ account, kind: 'backup_failed', subject: null, data: { message } }]);
      });
      throw error;
    }
  });
}
