import type { Tx } from '../../db/database.ts';
import { fail, nameSome } from '../../kernel/errors.ts';
import type { AccountId, PayoutId } from '../../kernel/ids.ts';
import { extended, type Json, toJson } from '../../kernel/json.ts';
import { normalizeCurrency } from '../../kernel/money.ts';
import {
  formatInstant,
  INSTANT_OR_DAY_RULE,
  parseInstantOrDay,
  type Span,
  type Timestamp,
} from '../../kernel/time.ts';
import { publish } from '../../outbox/queue.ts';
import { zoneOf } from '../../people/accounts/service.ts';
import { refreshTotals } from '../ledger/payout-totals.ts';
import { readSummary } from '../ledger/payouts.ts';
import { refuseUnapproved } from './approval.ts';
import { notifyOfPayments } from './payment-notices.ts';
import type { CommissionEntry, CompletedPayout } from './record.ts';
import { checkRevision, getPayout, lockPayoutToChange, type PayoutRecord, readIfMatch } from './service.ts';
import { carriedImport, compareEntries, type Entry, type Named, settleLines } from './settlement.ts';
import { refuseBlocked } from './signals.ts';
import { type LockedPayout, markPaid } from './store.ts';
import { refuseWaiting } from './waiting.ts';

/**
 * Completes a payout. A line is one affiliate and one currency. An entry covers one line, or without a currency all lines
 * of the affiliate. A line listed as paid is paid in full or up to `amount`, with the rest carried to the next payout.
 * Every other line is released and owed again. `paidAt` is when the money left, not before the payout was created and not
 * in the future. Throws `invalid_body`, `payout_is_paid`, `payout_changed`, `approval_missing`, `duplicate_entry`,
 * `affiliate_not_in_payout`, `invalid_amount`, `affiliates_missing`, `signals_unreviewed`, `destination_waiting`.
 */
export async function completePayout(
  tx: Tx,
  account: AccountId,
  actor: string,
  id: string,
  input: {
    commissions: readonly CommissionEntry[];
    requireAll: boolean;
    /** A day in the account's time zone, or an instant; the default is now. */
    paidAt: string | undefined;
    metadata: object | undefined;
    ifMatch: string | undefined;
  },
): Promise<PayoutRecord<CompletedPayout>> {
  const accepted = readIfMatch(input.ifMatch);
  const entries = input.commissions.map(readEntry);
  const paid = input.paidAt === undefined ? null : readPaidAt(input.paidAt, await zoneOf(tx, account));
  const payout = await lockPayoutToChange(tx, account, id);
  if (payout.status === 'paid') throw fail('payout_is_paid', 'the payout is already paid');
  checkRevision(payout, accepted);
  await refuseUnapproved(tx, account, payout.id);
  const at = paid && paidWithin(paid, payout);
  refuseRepeated(entries);
  const unlisted = await checkEntries(tx, account, payout.id, entries, input.requireAll);
  await refuseBlocked(tx, account, payout.id, entries);
  await refuseWaiting(tx, account, payout.id, entries);
  await settleLines(tx, account, payout.id, entries);
  await markPaid(tx, account, payout.id, { by: actor, at, metadata: input.metadata ?? null });
  await refreshTotals(tx, account, payout.id);
  const data = await readSummary(tx, account, payout.id);
  await publish(tx, { account, type: 'payout.paid', data, before: payout.json });
  await notifyOfPayments(tx, account, payout.id);
  const carried = await carriedImport(tx, account, payout.id);
  if (carried !== null) await publish(tx, { account, type: 'commissions.imported', data: carried });
  const record = await getPayout(tx, account, id);
  const json: Json<CompletedPayout> = extended(record.json, {
    unlisted_affiliate_count: toJson(Number(unlisted.affiliates)),
    unlisted_line_count: toJson(Number(unlisted.lines)),
  });
  return { ...record, json };
}

const refusePaidAt = (rule: string) => fail('invalid_body', `paid_at must ${rule}`);

function readPaidAt(text: string, zone: string): Span {
  const span = parseInstantOrDay(text, zone);
  if (span === null) throw refusePaidAt(`be ${INSTANT_OR_DAY_RULE}`);
  return span;
}

/** The instant to store. A day becomes its first instant at which the payout existed. Throws `invalid_body`. */
function paidWithin({ from, until }: Span, { created_at, now }: LockedPayout): Timestamp {
  const made = Date.parse(created_at);
  if (until <= made) throw refusePaidAt(`not be before the payout was created, at ${created_at}`);
  if (from > Date.parse(now)) throw refusePaidAt(`not be in the future: it is ${now}`);
  return formatInstant(Math.max(from, made));
}

function readEntry(entry: CommissionEntry, index: number): Entry {
  const field = `commissions[${index}]`;
  const currency = entry.currency === undefined ? null : normalizeCurrency(entry.currency);
  if (currency === null && entry.currency !== undefined) {
    throw fail('invalid_body', `${field}.currency must be an ISO 4217 currency code, not ${entry.currency}`);
  }
  if (entry.amount !== undefined && currency === null) {
    throw fail('invalid_body', `${field}.currency is required with an amount`);
  }
  if (entry.amount !== undefined && !entry.is_paid) {
    throw fail('invalid_body', `${field}.amount is the amount paid, so is_paid must be true`);
  }
  return {
    affiliateId: entry.affiliate_id,
    currency,
    isPaid: entry.is_paid,
    amount: entry.amount ?? null,
    reference: entry.payment_reference ?? null,
  };
}

/** Throws `duplicate_entry` if two entries cover the same line. */
function refuseRepeated(entries: readonly Entry[]): void {
  const seen = new Map<number, (string | null)[]>();
  const twice = new Set<string>();
  const both = new Set<number>();
  for (const { affiliateId, currency } of entries) {
    const before = seen.get(affiliateId);
    if (before === undefined) {
      seen.set(affiliateId, [currency]);
      continue;
    }
    if (before.includes(currency)) {
      twice.add(currency === null ? `${affiliateId}` : `${affiliateId} in ${currency}`);
      continue;
    }
    if (currency === null || before.includes(null)) both.add(affiliateId);
    before.push(currency);
  }
  if (twice.size > 0)
    throw fail('duplicate_entry', `commissions: affiliates listed twice: ${nameSome([...twice])}`);
  if (both.size > 0) {
    throw fail(
      'duplicate_entry',
      `commissions: affiliates listed both with a currency and without one, which covers all their lines: ${nameSome([...both])}`,
    );
  }
}

const names = ({ first, count }: Named) => nameSome(first ?? [], count);

async function checkEntries(
  tx: Tx,
  account: AccountId,
  payout: PayoutId,
  entries: readonly Entry[],
  requireAll: boolean,
) {
  const found = await compareEntries(tx, account, payout, entries);
  if (found.strangers.count > 0) {
    throw fail(
      'affiliate_not_in_payout',
      `commissions: not in this payout: affiliates ${names(found.strangers)}`,
    );
  }
  if (found.tooLarge.count > 0) {
    throw fail('invalid_amount', `commissions: amount exceeds the line: affiliates ${names(found.tooLarge)}`);
  }
  if (found.indivisible.count > 0) {
    throw fail(
      'invalid_amount',
      `commissions: a commission of one minor unit is paid in full or not at all: affiliates ${names(found.indivisible)}`,
    );
  }
  if (requireAll && found.unlistedLines > 0n) {
    throw fail(
      'affiliates_missing',
      `require_all: not listed in commissions: affiliates ${names(found.unlisted)}`,
    );
  }
  return { affiliates: found.unlistedAffiliates, lines: found.unlistedLines };
}
