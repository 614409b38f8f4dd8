import sql from 'sql-template-tag';
import { type Database, rows } from '../../db/connect.ts';

/** The channel on which processes tell each other that deliveries were put into work. */
export const CHANNEL = 'payhook_deliveries';
const AT_MOST_EVERY_MS = 10;

/**
 * Tells the workers of other processes, after commits that put deliveries into work, to look for them: by a NOTIFY of
 * its own (inside the transaction it would queue all commits behind one lock), at most one per 10 ms. Returns what
 * sends the last one and ends it.
 */
export function createNotifier(db: Database): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<unknown> = Promise.resolve();
  const send = () => {
    timer = undefined;
    // a lost hint costs a moment: the poll of every worker finds the work
    sending = rows(db.reader, sql`select pg_notify(${CHANNEL}, '')`).catch(() => undefined);
  };
  const stop = db.onAnnounced(() => {
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
