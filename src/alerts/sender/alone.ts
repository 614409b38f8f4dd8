import type { Logger } from 'pino';
import type { Database, Tx } from '../../db/database.ts';
import { LOCKS, tryLock } from '../../db/locks.ts';
import { noteSent, noteUnsent } from './claim.ts';
import type { Unsent } from './mail.ts';

/** Notices that are e-mails of their own: to affiliates, to contacts of endpoints. */
interface Alone<Claimed> {
  /** Of the lock under which one process claims at a time. */
  readonly name: string;
  /** Drops what nobody wants any more. */
  drop(tx: Tx): Promise<unknown>;
  /** Leases some that are due; empty when none is. */
  claim(tx: Tx): Promise<Claimed[]>;
  send(notice: Claimed): Promise<Unsent>;
  /** One was given up. */
  onGivenUp(tx: Tx, notice: Claimed): Promise<void>;
}

/** Sends what is due, each outside any transaction, until nothing is. A killed process leaves a lease, as with alerts. */
export async function sendAlone<Claimed extends { readonly lease: string }>(
  { db, log }: { readonly db: Database; readonly log: Logger },
  { name, drop, claim, send, onGivenUp }: Alone<Claimed>,
): Promise<void> {
  const locked = <Result>(work: (tx: Tx) => Promise<Result>) =>
    db.transaction(async (tx) => ((await tryLock(tx, LOCKS.chore(`claim ${name}`))) ? work(tx) : null));
  await locked(drop);
  for (;;) {
    const notices = (await locked(claim)) ?? [];
    if (notices.length === 0) return;
    await Promise.all(
      notices.map(async (notice) => {
        const unsent = await send(notice).catch((error: Error) => ({
          error: error.message,
          isFinal: false,
        }));
        await db.transaction(async (tx) => {
          if (unsent === null) await noteSent(tx, notice.lease);
          else if (await noteUnsent(tx, notice.lease, unsent)) await onGivenUp(tx, notice);
        });
        if (unsent !== null) log.warn({ to: name, reason: unsent.error }, 'a notice could not be sent');
      }),
    );
  }
}
