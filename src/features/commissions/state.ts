import sql from 'sql-template-tag';
import { maybeRow, rows, type Tx } from '../../db/connect.ts';
import { publish } from '../../delivery/queue.ts';
import { fail } from '../../kernel/errors.ts';
import { uuidOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { lockBooks } from '../payouts/books.ts';
import { settleGroup } from '../payouts/membership.ts';
import { getCommission } from './service.ts';

/** A commission locked for a change, with the books locked before it. */
export interface LockedCommission {
  readonly id: string;
  readonly affiliate_id: bigint;
  readonly program_id: bigint | null;
  readonly type: 'sale' | 'recurring' | 'bonus' | 'adjustment' | 'clawback';
  readonly currency: string;
  readonly amount: bigint;
  readonly original_amount: bigint;
  readonly refunded_amount: bigint;
  readonly sale_amount: bigint | null;
  readonly voided: boolean;
  readonly held: boolean;
  /** The payout it is in. */
  readonly payout_id: string | null;
  readonly paid: boolean;
}

/** Locks a commission (UUID), or gives null when the account has none such. */
export function lockCommission(tx: Tx, account: string, id: string): Promise<LockedCommission | null> {
  return maybeRow(
    tx,
    sql`select c.id, c.affiliate_id, c.program_id, c.type, c.currency, c.amount, c.original_amount, c.refunded_amount,
          c.sale_amount, c.voided_at is not null as voided, c.held_available_at is not null as held, c.payout_id,
          coalesce(p.status = 'paid', false) as paid
        from commissions c left join payouts p on p.account_id = c.account_id and p.id = c.payout_id
        where c.account_id = ${account} and c.id = ${id} for update of c`,
  );
}

async function lock(tx: Tx, account: string, id: string): Promise<LockedCommission> {
  const uuid = uuidOf('com', id);
  if (uuid === null) throw fail('resource_missing', 'no such commission');
  await lockBooks(tx, account);
  const commission = await lockCommission(tx, account, uuid);
  if (commission === null) throw fail('resource_missing', 'no such commission');
  return commission;
}

/** Throws `wrong_commission_type`, `commission_is_voided` or, unless `paidToo`, `commission_is_paid`. */
export function refuseState(
  commission: LockedCommission,
  refused: readonly LockedCommission['type'][],
  { paidToo = false } = {},
): void {
  if (refused.includes(commission.type)) {
    throw fail(
      'wrong_commission_type',
      `a commission of type ${commission.type} does not take this operation`,
    );
  }
  if (commission.voided) throw fail('commission_is_voided', 'the commission is voided');
  if (commission.paid && !paidToo) throw fail('commission_is_paid', 'the commission is paid: use a refund');
}

/** Takes a commission out of being owed; in the unpaid payout as a full refund would. */
export async function voidLocked(
  tx: Tx,
  account: string,
  commission: LockedCommission,
  reason: string | null,
): Promise<void> {
  await rows(
    tx,
    sql`update commissions set voided_at = clock_timestamp(), void_reason = ${reason}, payout_id = null,
          available_at = coalesce(held_available_at, available_at), held_available_at = null,
          updated_at = clock_timestamp()
        where account_id = ${account} and id = ${commission.id}`,
  );
  await settlePayoutOf(tx, account, commission);
}

/** Brings the unpaid payout that the commission was in up to date, if it was in one. */
export async function settlePayoutOf(tx: Tx, account: string, commission: LockedCommission): Promise<void> {
  const { payout_id: payout, affiliate_id: affiliate, currency, paid } = commission;
  if (payout !== null && !paid) await settleGroup(tx, { account, payout, affiliate, currency });
}

/**
 * Voids a commission that is not paid; its external_id stays taken. Throws `resource_missing`,
 * `wrong_commission_type` (clawback), `commission_is_voided`, `commission_is_paid`.
 */
export async function voidCommission(
  tx: Tx,
  account: string,
  id: string,
  reason: string | null,
): Promise<Json<unknown>> {
  const commission = await lock(tx, account, id);
  refuseState(commission, ['clawback']);
  await voidLocked(tx, account, commission, reason);
  const json = await getCommission(tx, account, id);
  await publish(tx, { account, type: 'commission.voided', data: json });
  return json;
}

/**
 * Sets a commission aside for review until `unhold`; it leaves the unpaid payout. Throws `resource_missing`,
 * `wrong_commission_type` (a debt cannot be set aside), `commission_is_voided`, `commission_is_paid`,
 * `commission_is_held`.
 */
export async function holdCommission(tx: Tx, account: string, id: string): Promise<Json<unknown>> {
  const commission = await lock(tx, account, id);
  refuseState(commission, commission.amount < 0n ? ['clawback', 'adjustment'] : ['clawback']);
  if (commission.held) throw fail('commission_is_held', 'the commission is held for review already');
  await rows(
    tx,
    sql`update commissions set held_available_at = available_at, available_at = 'infinity', payout_id = null,
          updated_at = clock_timestamp()
        where account_id = ${account} and id = ${commission.id}`,
  );
  await settlePayoutOf(tx, account, commission);
  return changed(tx, account, id);
}

/** Ends the review: the commission is available when it was going to be. Throws `resource_missing`, `commission_not_held`. */
export async function unholdCommission(tx: Tx, account: string, id: string): Promise<Json<unknown>> {
  const commission = await lock(tx, account, id);
  if (!commission.held) throw fail('commission_not_held', 'the commission is not held for review');
  await rows(
    tx,
    sql`update commissions set available_at = held_available_at, held_available_at = null,
          updated_at = clock_timestamp()
        where account_id = ${account} and id = ${commission.id}`,
  );
  return changed(tx, account, id);
}

async function changed(tx: Tx, account: string, id: string): Promise<Json<unknown>> {
  const json = await getCommission(tx, account, id);
  await publish(tx, { account, type: 'commission.updated', data: json });
  return json;
}
