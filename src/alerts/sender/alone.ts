import type { Logger } from 'pino';
import sql, { type Sql } from 'sql-template-tag';
import type { Database, Tx } from '../../db/database.ts';
import { LOCKS, tryLock } from '../../db/locks.ts';
import { AT_ONCE, isDue, isFree, isOpen, LEASE, noteSent, noteUnsent } from './claim.ts';
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

/**
 * CTEs that lease due notices `n`; the last one, `taken`, has their rows. `recipient` is the table to join, with its condition, and
 * `isWanted` a condition over it and the account `o`. The caller holds the lock: one process claims at a time.
 */
export const leasing = (recipient: Sql, isWanted: Sql): Sql => sql`
  ready as materialized (
    select n.account_id, n.id, gen_random_uuid() as lease
    from notices n
    join accounts o on o.id = n.account_id
    join ${recipient}
    where ${isOpen} and ${isFree} and ${isDue} and ${isWanted}
    order by n.due_at, n.id limit ${AT_ONCE}::int),
  taken as (
    update notices n set lease = r.lease, leased_until = now_ms() + ${LEASE}, tries = n.tries + 1
    from ready r
    where n.account_id = r.account_id and n.id = r.id and ${isOpen} and ${isFree}
    returning n.*)`;

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
