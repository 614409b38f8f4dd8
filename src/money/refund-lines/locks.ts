import type { Tx } from '../../db/database.ts';
import { LOCKS, shareLock, takeLock } from '../../db/locks.ts';
import type { AccountId } from '../../kernel/ids.ts';

/*
 * A refund by order and a commission of that order that are created at the same moment must see each other. Each
 * writes its own rows, then looks for the other's, and holds a lock in between: a refund takes that of its account
 * and that of its order; a single commission shares that of the order, many share that of the account. So
 * commissions never wait for commissions, a single one waits only for a refund of its own order, and many hold
 * their lock only from the end of their insert on.
 */

/** The orders of new commissions: one, many, or none. */
export type Orders = { readonly only: string } | 'many' | 'none';

/** The orders that commissions are of. */
export function ordersOf(items: readonly Readonly<Record<string, unknown>>[]): Orders {
  const orders = new Set(items.flatMap(({ order_id }) => (typeof order_id === 'string' ? [order_id] : [])));
  const [only] = orders;
  if (only === undefined) return 'none';
  return orders.size === 1 ? { only } : 'many';
}

/**
 * Keeps commissions of the order from being created unseen until the transaction ends. The books are locked
 * already.
 */
export async function lockOrder(tx: Tx, account: AccountId, order: string): Promise<void> {
  await takeLock(tx, LOCKS.refundsOfAccount(account));
  await takeLock(tx, LOCKS.refundsOfOrder(account, order));
}

/** Keeps refunds of these orders from being created unseen until the transaction ends. */
export async function lockOutRefunds(
  tx: Tx,
  account: AccountId,
  orders: Exclude<Orders, 'none'>,
): Promise<void> {
  await shareLock(
    tx,
    orders === 'many' ? LOCKS.refundsOfAccount(account) : LOCKS.refundsOfOrder(account, orders.only),
  );
}
