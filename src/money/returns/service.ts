import type { ListQuery, Page } from '../../contract/lists.ts';
import type { Reader, Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, idOf, numberIdOf, type PayoutId, uuidOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { formatDecimal, normalizeCurrency } from '../../kernel/money.ts';
import { publish } from '../../outbox/queue.ts';
import { getCommission } from '../commissions/service.ts';
import { lockForChange, voidLocked } from '../commissions/state.ts';
import { correctInvoices } from '../invoices/issue.ts';
import type { PayoutLine, PayoutSummary } from '../ledger/payout-record.ts';
import { readSummary } from '../ledger/payouts.ts';
import { lockPayoutToChange, payoutHead } from '../payouts/service.ts';
import type { NewReturn, PayoutReturn } from './record.ts';
import {
  bookReturns,
  hasLine,
  type LinesOf,
  listOfLines,
  lockLines,
  lockReturn,
  markUndone,
  notifyOfReturn,
  type PaidLine,
  readLine,
  returnsNamed,
} from './store.ts';

const noLine = (where = '') => fail('resource_missing', `the affiliate has no line${where} in this payout`);

/**
 * Records returned money, in part or in full: it is owed again, whatever the minimum, and the line shows it. An amount
 * needs no currency if the affiliate was paid in only one. Returns the affiliate's line. Idempotent by `external_id`,
 * even if the return was undone since. Throws `resource_missing` (payout or line), `invalid_body`,
 * `duplicate_external_id`, `line_not_paid`, `already_returned`, `return_exceeds_paid`, `invalid_amount`.
 */
export async function returnMoney(
  tx: Tx,
  account: AccountId,
  payoutId: string,
  affiliateId: string,
  input: NewReturn,
): Promise<Json<PayoutLine>> {
  const currency = input.currency === undefined ? null : normalizeCurrency(input.currency);
  if (currency === null && input.currency !== undefined) {
    throw fail('invalid_body', `currency must be an ISO 4217 currency code, not ${input.currency}`);
  }
  const { id: payout, number, now, json: before } = await lockPayoutToChange(tx, account, payoutId);
  const affiliate = numberIdOf(affiliateId);
  if (affiliate === null) throw noLine();
  const of = { account, payout, affiliate };
  const lines = await lockLines(tx, of);
  const { reason, reference = null, external_id: externalId = null } = input;
  const about = { reason, reference, externalId };
  if (
    externalId !== null &&
    (await isBooked(tx, of, { ...about, externalId, currency, amount: input.amount }))
  ) {
    return readLine(tx, of);
  }
  const parts = partsOf(lines, currency, input.amount);
  for (const commission of await bookReturns(tx, of, parts, about)) {
    const data = await getCommission(tx, account, idOf('com', commission));
    await publish(tx, { account, type: 'commission.created', data });
  }
  await correctInvoices(tx, account, payout, affiliate);
  await publishReturn(tx, account, payout, before);
  await notifyOfReturn(tx, of, { payout: Number(number), at: now, amounts: amountsOf(parts), reason });
  return readLine(tx, of);
}

async function publishReturn(
  tx: Tx,
  account: AccountId,
  payout: PayoutId,
  before: Json<PayoutSummary>,
): Promise<void> {
  const data = await readSummary(tx, account, payout);
  await publish(tx, { account, type: 'payout.updated', data, before });
}

const amountsOf = (parts: readonly { currency: string; amount: bigint }[]) =>
  parts.map(({ currency, amount }) => ({ currency, amount: Number(amount) }));

/** A request with an external_id. */
interface Named {
  readonly externalId: string;
  readonly reason: string;
  readonly reference: string | null;
  readonly currency: string | null;
  readonly amount: number | undefined;
}

/** Whether the same request booked its returns before. Throws `duplicate_external_id` for a different request. */
async function isBooked(tx: Tx, of: LinesOf, request: Named): Promise<boolean> {
  const booked = await returnsNamed(tx, of.account, request.externalId);
  if (booked.length === 0) return false;
  const { reason, reference, currency, amount } = request;
  const isSame = booked.every(
    (each) =>
      each.payout === of.payout &&
      Number(each.affiliate) === of.affiliate &&
      each.reason === reason &&
      each.reference === reference &&
      (currency === null || each.currency === currency) &&
      (amount === undefined || each.amount === BigInt(amount)),
  );
  if (isSame) return true;
  throw fail('duplicate_external_id', `external_id ${request.externalId} was used for another return`);
}

/** The amount returned of each line. */
function partsOf(lines: readonly PaidLine[], currency: string | null, amount: number | undefined) {
  if (lines.length === 0) throw noLine();
  const named = lines.filter((line) => currency === null || line.currency === currency);
  if (named.length === 0) throw noLine(` in ${currency}`);
  const paid = named.filter((line) => line.is_paid === true);
  if (paid.length === 0) throw fail('line_not_paid', 'the affiliate was not paid in this payout');
  if (amount !== undefined && paid.length > 1) {
    const currencies = paid.map((line) => line.currency).join(', ');
    throw fail(
      'invalid_body',
      `currency is required with an amount: the affiliate was paid in ${currencies}`,
    );
  }
  const open = paid.filter(({ rest }) => rest > 0n);
  const [only] = open;
  if (!only) throw fail('already_returned', 'everything that was paid is already booked as returned');
  if (amount === undefined) return open.map((line) => ({ currency: line.currency, amount: line.rest }));
  if (BigInt(amount) > only.rest) {
    const rest = `${formatDecimal(only.rest, only.currency)} ${only.currency.toUpperCase()}`;
    throw fail(
      'return_exceeds_paid',
      `amount: ${amount} is more than the ${only.rest} (${rest}) that was paid and not returned yet`,
    );
  }
  if (only.is_indivisible && BigInt(amount) < only.rest)
    throw fail(
      'invalid_amount',
      `amount: what is left is a commission of one minor unit and its tax, which come back together: ${only.rest}`,
    );
  return [{ currency: only.currency, amount: BigInt(amount) }];
}

/**
 * Undoes a return that was recorded by mistake: its adjustment is voided, even in the unpaid payout. The record stays,
 * with `undone_at`. Throws `resource_missing`, `return_is_undone`, `return_paid_again`.
 */
export async function undoReturn(
  tx: Tx,
  account: AccountId,
  payoutId: string,
  affiliateId: string,
  returnId: string,
): Promise<void> {
  const { id: payout, json: before } = await lockPayoutToChange(tx, account, payoutId);
  const [affiliate, id] = [numberIdOf(affiliateId), uuidOf('ret', returnId)];
  const found =
    affiliate === null || id === null ? null : await lockReturn(tx, { account, payout, affiliate }, id);
  if (found === null || affiliate === null || id === null) {
    throw fail('resource_missing', 'no such return of this line');
  }
  if (found.undone) throw fail('return_is_undone', 'the return is already undone');
  const commission = await lockForChange(tx, account, found.commission_id);
  if (commission.paid && commission.payout_id !== null) {
    throw fail(
      'return_paid_again',
      `its money was paid again in payout ${idOf('po', commission.payout_id)}, so the return cannot be undone`,
    );
  }
  await voidLocked(tx, account, commission, 'the return was undone');
  await markUndone(tx, account, id);
  const data = await getCommission(tx, account, idOf('com', commission.id));
  await correctInvoices(tx, account, payout, affiliate);
  await publish(tx, { account, type: 'commission.voided', data, before: commission.json });
  await publishReturn(tx, account, payout, before);
}

/** The returns of an affiliate in a payout, including undone ones. Throws `resource_missing`. */
export async function listReturns(
  db: Reader,
  account: AccountId,
  payoutId: string,
  affiliateId: string,
  list: ListQuery,
): Promise<Page<PayoutReturn>> {
  const { id: payout } = await payoutHead(db, account, payoutId);
  const affiliate = numberIdOf(affiliateId);
  const of: LinesOf | null = affiliate === null ? null : { account, payout, affiliate };
  if (of === null || !(await hasLine(db, of))) throw noLine();
  return listOfLines(db, of, list);
}
