import sql, { raw } from 'sql-template-tag';
import {
  currency,
  exactly,
  type Filter,
  idInstants,
  instants,
  type ListDefinition,
  type ListQuery,
  listPage,
  numberId,
  oneOf,
  type Page,
} from '../../contract/lists.ts';
import type { Reader } from '../../db/database.ts';
import type { AccountId, PayoutId } from '../../kernel/ids.ts';
import {
  EXCLUSION_REASONS,
  lineJoins,
  lineRecord,
  type PayoutLine,
  type PayoutSummary,
  summary,
} from '../ledger/payout-record.ts';
import { type Exclusion, exclusionRecord } from './record.ts';

const ofTotal = currency(`t ->> 'currency'`);
/** Filters by a currency that the payout has a total in. */
const inCurrency: Filter = {
  ...ofTotal,
  condition(value, scope) {
    const condition = ofTotal.condition(value, scope);
    return condition && sql`exists (select from json_array_elements(p.totals) t where ${condition})`;
  },
};

export const payoutList: ListDefinition = {
  id: 'p.id',
  sort: {
    id: 'p.id',
    created_at: 'p.id',
    updated_at: 'p.updated_at',
    paid_at: 'p.paid_at',
    number: 'p.number',
    affiliate_count: 'p.affiliate_count',
    commission_count: 'p.commission_count',
    status: 'p.status',
  },
  nullable: ['paid_at'],
  filters: {
    status: oneOf(['unpaid', 'paid'], (status) => sql`p.status = ${status}`),
    affiliate_id: numberId(
      (id) => sql`exists (select from payout_lines l
        where l.account_id = p.account_id and l.payout_id = p.id and l.affiliate_id = ${id})`,
    ),
    currency: inCurrency,
    ...idInstants('created_at', 'p.id'),
    ...instants('paid_at', 'p.paid_at'),
  },
};

export function listPayouts(db: Reader, account: AccountId, list: ListQuery): Promise<Page<PayoutSummary>> {
  return listPage(db, {
    list,
    name: 'payouts',
    table: 'payouts',
    alias: 'p',
    where: sql`p.account_id = ${account}`,
    record: summary,
  });
}

const ofLine = `payout_line_totals t
  where t.account_id = l.account_id and t.payout_id = l.payout_id and t.affiliate_id = l.affiliate_id`;
const allPaid = `(select bool_and(t.is_paid) from ${ofLine})`;

export const lineList: ListDefinition = {
  id: 'l.affiliate_id',
  defaultSort: 'id',
  sort: { id: 'l.affiliate_id', affiliate_id: 'l.affiliate_id', is_paid: allPaid },
  nullable: ['is_paid'],
  filters: {
    affiliate_id: numberId((id) => sql`l.affiliate_id = ${id}`),
    is_paid: oneOf(['true', 'false'], (isPaid) => sql`${raw(allPaid)} = ${isPaid}::boolean`),
    payment_reference: {
      ...exactly('t.payment_reference'),
      condition: (reference) =>
        reference === ''
          ? null
          : sql`exists (select from ${raw(ofLine)} and t.payment_reference = ${reference})`,
    },
  },
};

export function listLines(
  db: Reader,
  account: AccountId,
  payout: PayoutId,
  list: ListQuery,
): Promise<Page<PayoutLine>> {
  return listPage(db, {
    list,
    name: 'payout_lines',
    table: 'payout_lines',
    alias: 'l',
    where: sql`l.account_id = ${account} and l.payout_id = ${payout}`,
    record: lineRecord,
    join: sql`join payouts p on p.account_id = l.account_id and p.id = l.payout_id ${lineJoins}`,
  });
}

const exclusionId = ['x.affiliate_id', 'x.currency', 'x.reason'];

export const exclusionList: ListDefinition = {
  id: exclusionId,
  defaultSort: 'id',
  sort: { id: exclusionId, affiliate_id: 'x.affiliate_id', amount: 'x.amount' },
  filters: {
    reason: oneOf(EXCLUSION_REASONS, (reason) => sql`x.reason = ${reason}`),
    affiliate_id: numberId((id) => sql`x.affiliate_id = ${id}`),
  },
};

export function listExclusions(
  db: Reader,
  account: AccountId,
  payout: PayoutId,
  list: ListQuery,
): Promise<Page<Exclusion>> {
  return listPage(db, {
    list,
    name: 'payout_exclusions',
    table: 'payout_exclusions',
    alias: 'x',
    where: sql`x.account_id = ${account} and x.payout_id = ${payout}`,
    record: exclusionRecord,
  });
}
