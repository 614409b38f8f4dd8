import { createHash } from 'node:crypto';
import type { Database, Reader } from '../../db/database.ts';
import { LOCKS, takeLock } from '../../db/locks.ts';
import { subscriberOf } from '../../kernel/addresses.ts';
import { deleteFailures, insertFailure, secondsToWait, takeFailure } from './store.ts';

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
 * like many in a row, across all servers. Returns the seconds to wait instead when there were too many. Attempts wait for
 * each other, so they do it on the connections of requests without an identity, also those of a signed-in person.
 */
export async function beginAttempt(
  { anonymous }: Database,
  { address, email }: Trier,
): Promise<Attempt | { seconds: number }> {
  const addressSubject = `address ${subscriberOf(address)}`;
  const emailSubject = `email ${createHash('sha256').update(email).digest('hex')}`;
  const secondsLeft = async (from: Reader) => {
    const address = await secondsToWait(from, addressSubject, PER_ADDRESS);
    const email = await secondsToWait(from, emailSubject, PER_EMAIL);
    return address === null && email === null ? null : Math.max(address ?? 0, email ?? 0);
  };
  // a limit that was reached before is reported without a lock; attempts are counted under one until then
  const seconds = await secondsLeft(anonymous.reader);
  if (seconds !== null) return { seconds };
  return anonymous.transaction(async (tx) => {
    // always in this order, so that two attempts cannot deadlock
    await takeLock(tx, LOCKS.attempts(addressSubject));
    await takeLock(tx, LOCKS.attempts(emailSubject));
    const seconds = await secondsLeft(tx);
    if (seconds !== null) return { seconds };
    await insertFailure(tx, emailSubject);
    return { id: await insertFailure(tx, addressSubject), emailSubject };
  });
}

/**
 * Removes an attempt that showed the right password, and earlier failures of its e-mail address. Other failures of
 * the network address stay: signing in somewhere must not buy attempts elsewhere.
 */
export function forgiveAttempt({ anonymous }: Database, { id, emailSubject }: Attempt): Promise<void> {
  return anonymous.transaction((tx) => deleteFailures(tx, id, emailSubject));
}

/** As `forgiveAttempt`, once and within ten minutes of the attempt; false = it is too late. */
export function takeAttempt({ anonymous }: Database, { id, emailSubject }: Attempt): Promise<boolean> {
  return anonymous.transaction(async (tx) => {
    const isTaken = await takeFailure(tx, id);
    if (isTaken) await deleteFailures(tx, id, emailSubject);
    return isTaken;
  });
}
