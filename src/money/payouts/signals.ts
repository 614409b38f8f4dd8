import sql, { empty, type Sql } from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import {
  type ListDefinition,
  type ListQuery,
  listPage,
  numberId,
  oneOf,
  type Page,
} from '../../contract/lists.ts';
import type { Principal } from '../../contract/route.ts';
import { currencyInput, nullable, numberId as numberIdInput, strict, text } from '../../contract/schemas.ts';
import { arrayText } from '../../db/array-text.ts';
import { type Reader, rows, type Snapshot, type Tx } from '../../db/database.ts';
import { literal } from '../../db/literal.ts';
import { fail, nameSome } from '../../kernel/errors.ts';
import type { AccountId, PayoutId, UserId } from '../../kernel/ids.ts';
import { knownCurrency } from '../../people/accounts/service.ts';
import { SIGNAL_RULE_NAMES, type SignalRule } from '../../terms/payout-signals.ts';
import { type Column, type CsvFile, csvOut, selectList } from '../files/csv-export.ts';
import type { Payout } from '../ledger/payout-record.ts';
import { type PayoutSignal, payoutSignal, signalColumns } from '../ledger/signal-record.ts';
import { fileName } from './csv.ts';
import { checkRevision, getPayout, lockPayoutToChange, type PayoutRecord, payoutHead } from './service.ts';
import type { Entry } from './settlement.ts';

/** The order of lists of signals; `id` makes it unique. */
export const signalSort = (id: readonly string[]) => ({
  id,
  defaultSort: 'affiliate_id',
  sort: { affiliate_id: 's.affiliate_id', amount: 's.amount' },
});

export const signalFilters: ListDefinition['filters'] = {
  rule: oneOf(SIGNAL_RULE_NAMES, (rule) => sql`s.rule = ${rule}`),
  affiliate_id: numberId((id) => sql`s.affiliate_id = ${id}`),
  blocks: oneOf(['true', 'false'], (blocks) => sql`s.blocks = ${blocks}::boolean`),
};

export const signalList: ListDefinition = {
  ...signalSort(['s.affiliate_id', 's.currency', 's.rule', 's.revision']),
  sort: { affiliate_id: 's.affiliate_id', amount: 's.amount', is_reviewed: '(s.reviewed_at is not null)' },
  filters: {
    ...signalFilters,
    is_ended: oneOf(['true', 'false'], (is) => sql`(s.ended_revision is not null) = ${is}::boolean`),
    is_reviewed: oneOf(['true', 'false'], (is) => sql`(s.reviewed_at is not null) = ${is}::boolean`),
  },
};

/** A page of what was found in a payout, also what no longer holds. */
export function listSignals(
  db: Reader,
  account: AccountId,
  payout: PayoutId,
  list: ListQuery,
): Promise<Page<PayoutSignal>> {
  return listPage(db, {
    list,
    name: 'payout_signals',
    table: 'payout_signals',
    alias: 's',
    where: sql`s.account_id = ${account} and s.payout_id = ${payout}`,
    join: sql`left join affiliates a on a.account_id = s.account_id and a.id = s.affiliate_id`,
    record: signalColumns,
  });
}

/** The body of a review. */
export const review = strict({
  revision: Type.Integer({
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'the revision you reviewed: if the payout has another one by now, the review is refused',
  }),
  rule: Type.Optional({ ...payoutSignal.properties.rule, description: 'only signals of this rule' }),
  affiliate_id: Type.Optional({ ...numberIdInput, description: 'only signals of this affiliate' }),
  currency: Type.Optional({ ...currencyInput, description: 'only signals of lines in this currency' }),
  note: Type.Optional(nullable({ ...text(1000), description: 'kept with the signals' })),
});

/** The signals that a review concerns. */
interface Reviewed {
  readonly rule?: SignalRule | undefined;
  readonly affiliate_id?: number | undefined;
  readonly currency?: string | undefined;
  readonly note: string | null;
}

/** Signals of a payout that hold and that nobody has reviewed. */
const unreviewed = (account: AccountId, payout: PayoutId): Sql =>
  sql`s.account_id = ${account} and s.payout_id = ${payout} and s.ended_revision is null and s.reviewed_at is null`;

/** Notes who reviewed signals. The caller has locked the payout. */
export async function reviewSignals(
  tx: Tx,
  { account, user }: { readonly account: AccountId; readonly user: UserId },
  payout: PayoutId,
  { rule, affiliate_id, currency, note }: Reviewed,
): Promise<void> {
  await rows(
    tx,
    sql`update payout_signals s set reviewed_by = ${user}, reviewed_at = now_ms(), review_note = ${note}
        where ${unreviewed(account, payout)}
          ${rule === undefined ? empty : sql`and s.rule = ${rule}`}
          ${affiliate_id === undefined ? empty : sql`and s.affiliate_id = ${affiliate_id}`}
          ${currency === undefined ? empty : sql`and s.currency = ${currency}`}`,
  );
}

/**
 * Notes that a signed-in user reviewed signals of an unpaid payout, so that they no longer block. Repeated, it changes nothing.
 * Throws `affiliate_not_in_payout`, `payout_is_paid`, `payout_changed`, and as `lockPayoutToChange`.
 */
export async function reviewPayout(
  tx: Tx,
  { account, user }: Principal,
  id: string,
  { revision, note, currency, ...which }: Static<typeof review>,
): Promise<PayoutRecord<Payout>> {
  if (user === undefined) throw new Error('only a signed-in user can review');
  const code = currency === undefined ? undefined : knownCurrency('currency', currency);
  const payout = await lockPayoutToChange(tx, account, id);
  if (which.affiliate_id !== undefined) await refuseStranger(tx, account, payout.id, which.affiliate_id);
  if (payout.status === 'paid')
    throw fail('payout_is_paid', 'the payout is paid: its signals are evidence now');
  checkRevision(payout, [String(revision)]);
  await reviewSignals(tx, { account, user }, payout.id, { ...which, currency: code, note: note ?? null });
  return getPayout(tx, account, id);
}

async function refuseStranger(
  tx: Tx,
  account: AccountId,
  payout: PayoutId,
  affiliate: number,
): Promise<void> {
  const line = await rows(
    tx,
    sql`select from payout_lines where account_id = ${account} and payout_id = ${payout} and affiliate_id = ${affiliate}`,
  );
  if (line.length === 0)
    throw fail('affiliate_not_in_payout', `affiliate_id: affiliate ${affiliate} is not in this payout`);
}

/**
 * Throws `signals_unreviewed` if a signal blocks a line, or one that `entries` list as paid; null = any. The caller has locked the
 * payout.
 */
export async function refuseBlocked(
  tx: Tx,
  account: AccountId,
  payout: PayoutId,
  entries: readonly Entry[] | null,
): Promise<void> {
  const paid = entries?.filter(({ isPaid }) => isPaid);
  const isPaid =
    paid === undefined
      ? empty
      : sql`and exists (
          select from unnest(${await arrayText(paid.map(({ affiliateId }) => affiliateId))}::int8[],
              ${await arrayText(paid.map(({ currency }) => currency))}::text[]) as e (affiliate_id, currency)
          where e.affiliate_id = s.affiliate_id and (e.currency is null or e.currency = s.currency))`;
  const found = await rows<{ affiliate_id: bigint; rules: string }>(
    tx,
    sql`select s.affiliate_id, string_agg(distinct s.rule, ', ' order by s.rule) as rules from payout_signals s
        where ${unreviewed(account, payout)} and s.blocks ${isPaid}
        group by s.affiliate_id order by s.affiliate_id`,
  );
  if (found.length === 0) return;
  const names = found.slice(0, 20).map(({ affiliate_id, rules }) => `${affiliate_id} (${rules})`);
  const instead = entries === null ? 'hold their commissions' : 'list them as not paid';
  throw fail(
    'signals_unreviewed',
    `signals block affiliates ${nameSome(names, found.length)}: somebody who may approve payouts must review them in the ` +
      `dashboard. Or ${instead}`,
  );
}

const place = (name: string): string =>
  `concat_ws(' ', s.details -> '${name}' ->> 'type', s.details -> '${name}' ->> 'last_four')`;
const money = (name: string): string => `decimal_text((s.details ->> '${name}')::int8, s.currency)`;

const COLUMNS: readonly Column[] = [
  ['payout_id', `public_id('po', s.payout_id)`],
  ['rule', 's.rule'],
  ['affiliate_id', 's.affiliate_id'],
  ['name', "csv_text(nullif(trim(concat_ws(' ', a.name_first, a.name_last)), ''))"],
  ['amount', 'decimal_text(s.amount, s.currency)'],
  ['currency', 'upper(s.currency)'],
  ['limit', money('limit')],
  ['largest_payment', money('largest_payment')],
  ['previous_destination', place('previous_destination')],
  ['destination', place('destination')],
  [
    'affiliates',
    "(select string_agg(e.value, ' ') from jsonb_array_elements_text(s.details -> 'affiliates') e (value))",
  ],
  ['affiliate_count', "s.details ->> 'affiliate_count'"],
  ['import_id', "s.details ->> 'import_id'"],
  ['blocks', 's.blocks'],
  ['revision', 's.revision'],
  ['ended_revision', 's.ended_revision'],
  ['found_at', 'iso(s.found_at)'],
  ['reviewed_by', "public_id('usr', s.reviewed_by)"],
  ['reviewed_at', 'iso(s.reviewed_at)'],
  ['review_note', 'csv_text(s.review_note)'],
];

/** The signals of a payout as CSV, from the snapshot that `db` reads. Throws as `getPayout`. */
export async function downloadSignals(db: Snapshot, account: AccountId, id: string): Promise<CsvFile> {
  const head = await payoutHead(db, account, id);
  const copy = `copy (
    select ${selectList(COLUMNS)}
    from payout_signals s left join affiliates a on a.account_id = s.account_id and a.id = s.affiliate_id
    where s.account_id = ${literal(account)} and s.payout_id = ${literal(head.id)}
    order by s.affiliate_id, s.currency, s.rule, s.revision) to stdout with (format csv, header)`;
  return { stream: csvOut(db, copy), name: fileName(head, ['signals']), headers: {} };
}
