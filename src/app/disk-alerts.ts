import type { Chore } from '../db/chores.ts';
import type { Tx } from '../db/database.ts';
import { deleteSetting, readSetting, writeNewSetting } from '../db/settings.ts';
import { notify } from '../notices/notices.ts';
import { firstAccount } from '../people/accounts/service.ts';
import { type Room, roomOf } from './checks.ts';
import type { Platform } from './platform.ts';

const LOOK_MS = 30_000;
/** Low space is less than both: 2 GB, and a tenth of the disk. */
const LITTLE_BYTES = 2e9;
const LITTLE_SHARE = 0.1;
/**
 * The factor by which space must exceed the limit before it can be low again, so that fluctuating space notifies once.
 */
const ENOUGH = 1.5;
/** The setting that exists from the notification until there is space again. */
const NOTIFIED = 'disk_told';

/** The chore that notifies about low disk space. None if PostgreSQL is elsewhere. */
export function diskChores({ db, config, embedded }: Pick<Platform, 'db' | 'config' | 'embedded'>): Chore[] {
  if (embedded === undefined) return [];
  const run = async () => {
    const room = await roomOf(config.dataDir);
    const little = Math.min(LITTLE_BYTES, room.total_bytes * LITTLE_SHARE);
    const wasNotified = (await readSetting(db.reader, NOTIFIED)) !== null;
    if (!wasNotified && room.free_bytes < little) await db.transaction((tx) => notifyOnce(tx, room));
    if (wasNotified && room.free_bytes > little * ENOUGH)
      await db.transaction((tx) => deleteSetting(tx, NOTIFIED));
  };
  return [{ name: 'disk', everyMs: LOOK_MS, run }];
}

/** Notifies, unless another process has. */
async function notifyOnce(tx: Tx, { free_bytes, total_bytes }: Room): Promise<void> {
  if (!(await writeNewSetting(tx, NOTIFIED, String(free_bytes)))) return;
  const account = await firstAccount(tx);
  const message = `${inWords(free_bytes)} of ${inWords(total_bytes)} are left`;
  await notify(tx, [{ account, kind: 'disk_almost_full', subject: null, data: { message } }]);
}

const inWords = (bytes: number) =>
  bytes < 1e9 ? `${Math.floor(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
