import sql from 'sql-template-tag';
import { type Database, rows } from '../../db/database.ts';
import { channelOf } from '../../db/listen.ts';

/** The channel on which processes announce queued deliveries to each other. */
export const CHANNEL = 'payhook_deliveries';
const AT_MOST_EVERY_MS = 10;

/**
 * Announces commits that queued deliveries to the workers of other processes, with the duration of the longest of these
 * transactions in milliseconds. It sends a separate NOTIFY, at most one per 10 ms: inside the transactions, all commits
 * would wait for one lock. Returns a function that sends the last one and stops.
 */
export function createNotifier(db: Database): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<unknown> = Promise.resolve();
  let longest = 0;
  const send = () => {
    timer = undefined;
    const age = String(Math.ceil(longest));
    longest = 0;
    // a lost announcement costs a moment: every worker also polls
    sending = rows(db.reader, sql`select pg_notify(${channelOf(CHANNEL, db.cell)}, ${age})`).catch(
      () => undefined,
    );
  };
  const stop = db.onAnnounced((ageMs) => {
    longest = Math.max(longest, ageMs);
    timer ??= setTimeout(send, AT_MOST_EVERY_MS);
  });
  return async () => {
    stop();
    if (timer) {
      clearTimeout(timer);
      send();
    }
    await sending;
  };
}
