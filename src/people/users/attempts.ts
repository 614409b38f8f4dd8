import { createHash } from 'node:crypto';
import type { Database } from '../../db/connect.ts';
import { LOCKS, takeLock } from '../../db/locks.ts';
import { subscriberOf } from '../../kernel/addresses.ts';
import { deleteFailures, insertFailure, secondsToWait } from './store.ts';

// The limits on failures within 15 minutes.
const PER_EMAIL = 10;
const PER_ADDRESS = 50;

/** Who tries: the address, and the e-mail address in its normal form. */
export interface Trier {
  readonly address: string;
  readonly email: string;
}

/** An attempt that may go on; it counts as a failure until it is forgiven. */
export interface Attempt {
  readonly id: string;
  readonly emailSubject: string;
}

/**
 * Begins an attempt to show a password. It is counted before the result is known, so that many at once are limited
 * like many in a row, across all servers. Returns the seconds to wait instead when there were too many.
 */
export function beginAttempt(
  db: Database,
  { address, email }: Trier,
): Promise<Attempt | { seconds: number }> {
  const addressSubject = `address ${subscriberOf(address)}`;
  const emailSubject = `email ${createHash('sha256').update(email).digest('hex')}`;
  return db.transaction(async (tx) => {
    // always in this order, so that two attempts cannot deadlock
    await takeLock(tx, LOCKS.attempts(addressSubject));
    await takeLock(tx, LOCKS.attempts(emailSubject));
    const waits = [
      await secondsToWait(tx, addressSubject, PER_ADDRESS),
      await secondsToWait(tx, emailSubject, PER_EMAIL),
    ].filter((seconds) => seconds !== null);
    if (waits.length > 0) return { seconds: Math.max(...waits) };
    await insertFailure(tx, emailSubject);
    return { id: await insertFailure(tx, addressSubject), emailSubject };
  });
}

/**
 * Removes an attempt that showed the right password, and earlier failures of its e-mail address. Other failures of
 * the network address stay: signing in somewhere must not buy attempts elsewhere.
 */
export function forgiveAttempt(db: Database, { id, emailSubject }: Attempt): Promise<void> {
  return db.transaction((tx) => deleteFailures(tx, id, emailSubject));
}
