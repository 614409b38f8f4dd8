import type { Chore } from '../db/chores.ts';
import type { Tx } from '../db/database.ts';
import { deleteSetting, readSetting, writeNewSetting } from '../db/settings.ts';
import { notify } from '../notices/notices.ts';
import { firstAccount } from '../people/accounts/service.ts';
import { type Room, roomOf } from './checks.ts';
import type { Platform } from './platform.ts';

const LOOK_MS = 30_000;
/** Less than both is little: 2 GB, and a tenth of a small disk. */
const LITTLE_BYTES = 2e9;
const LITTLE_SHARE = 0.1;
/** There must be so much more before it can be little again, so that room which comes and goes is told once. */
const ENOUGH = 1.5;
/** The setting that is there from the time that people are told until there is room again. */
const TOLD = 'disk_told';

/** The chore that tells people of a disk that fills; none where PostgreSQL is elsewhere. */
export function diskChores({ db, config, embedded }: Pick<Platform, 'db' | 'config' | 'embedded'>): Chore[] {
  if (embedded === undefined) return [];
  const run = async () => {
    const room = await roomOf(config.dataDir);
    const little = Math.min(LITTLE_BYTES, room.total_bytes * LITTLE_SHARE);
    const isTold = (await readSetting(db.reader, TOLD)) !== null;
    if (!isTold && room.free_bytes < little) await db.transaction((tx) => tell(tx, room));
    if (isTold && room.free_bytes > little * ENOUGH) await db.transaction((tx) => deleteSetting(tx, TOLD));
  };
  return [{ name: 'disk', everyMs: LOOK_MS, run }];
}

/** Tells people of it, unless another process has. */
async function tell(tx: Tx, { free_bytes, total_bytes }: Room): Promise<void> {
  if (!(await writeNewSetting(tx, TOLD, String(free_bytes)))) return;
  const account = await firstAccount(tx);
  const message = `${inWords(free_bytes)} of ${inWords(total_bytes)} are left`;
  await notify(tx, [{ account, kind: 'disk_almost_full', subject: null, data: { message } }]);
}

const inWords = (bytes: number) =>
  bytes < 1e9 ? `${Math.floor(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
