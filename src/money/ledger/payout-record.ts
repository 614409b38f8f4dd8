import sql, { raw, type Sql } from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { amount, currencyCode, metadata, nullable, strict, timestamp } from '../../contract/schemas.ts';
import { PAYOUT_METHODS } from '../../terms/payments.ts';
import { approval, approvalColumn } from './approval.ts';
import {
  destinationOfLine,
  lineDestination,
  paidThrough,
  paidThroughField,
  paidThroughInForce,
  shownDestinationInForce,
  shownDestinationOfLine,
} from './destinations.ts';
import { sharedDestinations, sharedDestinationsField } from './shared-destinations.ts';
import { signalsField, signalsOfPayout } from './signal-record.ts';
import { cameBack, duePaid, lineWithTax, lineWithTaxJson, totalWithTax } from './tax-on-top.ts';

/** Why an affiliate can be left out of a payout. */
export const EXCLUSION_REASONS = [
  'below_minimum',
  'negative_balance',
  'on_hold',
  'affiliate_inactive',
  'not_ready',
  'form_missing',
  'form_expired',
] as const;

const total = strict(
  {
    currency: currencyCode,
    amount,
    commission_count: Type.Integer(),
    affiliate_count: Type.Integer(),
    paid_amount: { ...amount, description: 'what was paid, in minor units' },
    paid_count: Type.Integer({ description: 'commissions of lines that were paid, also in part' }),
    carried_amount: {
      ...amount,
      description: 'the unpaid part of paid lines: owed again through an adjustment',
    },
    released_amount: amount,
    released_count: Type.Integer({ description: 'commissions that were released and are owed again' }),
    with_tax: totalWithTax,
  },
  { title: 'PayoutTotal' },
);

/** The amount of one affiliate in one currency. */
const lineTotal = strict(
  {
    currency: currencyCode,
    amount: { ...amount, description: 'minor units: the amount of the line' },
    commission_count: Type.Integer(),
    is_paid: nullable(
      Type.Boolean({ description: 'null until the payout is completed; true also for a part payment' }),
    ),
    paid_amount: {
      ...amount,
      description: 'what was paid; 0 until the payout is completed, and for released lines',
    },
    carried_amount: {
      ...amount,
      description: 'the unpaid part of a paid line: owed again through an adjustment',
    },
    returned_amount: { ...amount, description: 'the part of the payment that was returned' },
    payment_reference: nullable(Type.String({ description: 'identifies the transfer' })),
    is_in_file: Type.Boolean({
      description: 'in a downloaded payment file that no later file of its format and currency has replaced',
    }),
    destination: nullable({
      ...lineDestination,
      description:
        'the destination: taken from the affiliate until the payout is paid; null: none, paid as `paid_through` says',
    }),
    paid_through: paidThroughField,
    with_tax: lineWithTax,
  },
  { title: 'PayoutLineTotal' },
);

/** One affiliate in a payout, with a line per currency. */
export const line = strict(
  {
    affiliate_id: Type.Integer(),
    name: nullable(
      Type.String({
        description:
          'name and destination follow the affiliate until the payout is paid, and are fixed from then on',
      }),
    ),
    email: nullable(Type.String()),
    paypal_email: nullable(Type.String()),
    payout_method: nullable(Type.Enum(PAYOUT_METHODS, { title: 'PayoutMethod' })),
    is_ready_for_payout: Type.Boolean({ description: 'set by the merchant' }),
    is_paid: nullable(
      Type.Boolean({
        description:
          'null until the payout is completed; true when all currencies were paid, see totals for each',
      }),
    ),
    commission_count: Type.Integer(),
    totals: Type.Array(lineTotal, { description: 'one per currency' }),
    payment_reference: nullable(
      Type.String({
        description:
          'identifies the transfer, as given at completion; null when it differs between currencies',
      }),
    ),
    returned_amount: nullable(
      Type.Integer({
        description:
          'the returned amount in minor units; null when the affiliate is paid in several currencies, see totals',
      }),
    ),
  },
  { title: 'PayoutLine' },
);
export type PayoutLine = Static<typeof line>;

export const exclusionReason = Type.Enum([...EXCLUSION_REASONS], {
  title: 'ExclusionReason',
  description: 'the first two are carried forward to the next payout',
});

const excluded = Type.Array(
  strict({
    reason: exclusionReason,
    affiliate_count: Type.Integer(),
    totals: Type.Array(
      strict({
        currency: currencyCode,
        amount,
        commission_count: Type.Integer(),
        affiliate_count: Type.Integer(),
      }),
    ),
  }),
  { description: 'who was left out, one row per reason' },
);

export const summaryFields = {
  id: Type.String({ examples: ['po_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
  object: Type.Literal('affiliate_payout'),
  number: Type.Integer({ description: 'increases per account, may have gaps' }),
  status: Type.Enum(['unpaid', 'paid'], { title: 'PayoutStatus', description: 'paid is final' }),
  filters: nullable(Type.Record(Type.String(), Type.Unknown(), { description: 'as normalised and applied' })),
  search: nullable(Type.String({ description: 'as applied; null = none' })),
  as_of: { ...timestamp, description: 'the time of creation: it contains what was owed at that time' },
  currency: nullable({ ...currencyCode, description: 'null when there are several; amount is null too' }),
  amount: nullable(amount),
  totals: Type.Array(total, {
    description: 'one per currency; amount = paid + carried + released once completed',
  }),
  affiliate_count: Type.Integer(),
  commission_count: Type.Integer(),
  metadata,
  revision: Type.Integer({ description: 'the ETag; rises with every change' }),
  created_by: Type.String({ description: 'the id of the key, user or application' }),
  schedule_id: nullable(
    Type.String({ description: 'the schedule that prepared it, which may have been deleted since' }),
  ),
  created_at: timestamp,
  updated_at: timestamp,
  paid_at: nullable({
    ...timestamp,
    description: 'when the money left, as given at completion; default the time of completion',
  }),
  paid_by: nullable(Type.String({ description: 'who completed it' })),
  approval,
};
/** A payout in lists and events. */
export const payoutSummary = strict(summaryFields, { title: 'PayoutSummary' });
export type PayoutSummary = Static<typeof payoutSummary>;
export const payoutFields = {
  ...summaryFields,
  affiliates: nullable(
    Type.Array(line, { description: 'all lines, or null when there are more than 1,000' }),
  ),
  excluded,
  shared_destinations: sharedDestinationsField,
  signals: signalsField,
};
/** A whole payout. */
export const payout = strict(payoutFields, { title: 'Payout' });
export type Payout = Static<typeof payout>;

/** A field of the affiliate `a` until the payout `p` is paid, then the copy in the line `l`. */
export const frozen = (name: string): string =>
  `case when p.status = 'paid' then l.${name} else a.${name} end`;
/** The name of an affiliate or line, or null. */
export const fullName = (alias: string): Sql =>
  raw(`nullif(trim(concat_ws(' ', ${alias}.name_first, ${alias}.name_last)), '')`);

/** The amount paid of a line in one currency, a row of `payout_line_totals`. */
export const paidAmount = (alias: string): string =>
  `case when ${alias}.is_paid then ${alias}.amount - ${alias}.carried_amount else 0 end`;

/** The totals of an affiliate in a prospective payout, over grouped rows `t` joined to their affiliate `a` and `destinationsInForce`. */
export const undecidedTotals = sql`json_agg((select ${raw(lineWithTaxJson('s', 't', '0', '0'))} from (
  select t.currency, t.amount, t.commission_count, null::boolean as is_paid, 0 as paid_amount, 0 as carried_amount,
         0 as returned_amount, null as payment_reference, false as is_in_file, ${raw(shownDestinationInForce)} as destination,
         ${raw(paidThroughInForce)} as paid_through) s) order by t.currency)`;

/** Whether a line `t` is in a file that was downloaded and not replaced. */
const isInFile = `exists (
  select from payment_file_payees f
  join payment_file_sets k on k.account_id = f.account_id and k.payout_id = f.payout_id and k.id = f.set_id and k.is_current
  where f.account_id = t.account_id and f.payout_id = t.payout_id and f.affiliate_id = t.affiliate_id
    and f.currency = t.currency)`;

/** The columns of an affiliate's lines, over `payouts p`, `payout_lines l` and `lineJoins`. */
export const lineRecord = columnsOf(line, {
  affiliate_id: 'l.affiliate_id',
  name: sql`case when p.status = 'paid' then ${fullName('l')} else ${fullName('a')} end`,
  email: frozen('email'),
  paypal_email: frozen('paypal_email'),
  payout_method: frozen('payout_method'),
  is_ready_for_payout: frozen('is_ready_for_payout'),
  is_paid: 't.is_paid',
  commission_count: 't.commission_count',
  totals: 't.totals',
  payment_reference: 't.payment_reference',
  returned_amount: 't.returned_amount',
});

/**
 * How a line `l` with totals `t` of a payout `p` is paid: as its affiliate `a` until the payout is paid, then as
 * recorded.
 */
const PAID_THROUGH_OF_LINE = `(select ${paidThrough('y.type', 'd')} from (select ${frozen('payout_method')} as payout_method,
  ${frozen('paypal_email')} as paypal_email) d left join ${destinationOfLine} y on true)`;

const JSON_OF_LINE = lineWithTaxJson(
  's',
  't',
  `case when t.is_paid then ${duePaid('t')} else 0 end`,
  cameBack('t'),
);

export const lineJoins = sql`join affiliates a on a.account_id = l.account_id and a.id = l.affiliate_id
  cross join lateral (
    select sum(s.commission_count)::int8 as commission_count, bool_and(s.is_paid) as is_paid,
           case when count(*) = count(s.payment_reference) and min(s.payment_reference) = max(s.payment_reference)
             then min(s.payment_reference) end as payment_reference,
           case when count(*) = 1 or sum(s.returned_amount) = 0 then sum(s.returned_amount) end as returned_amount,
           json_agg(${raw(JSON_OF_LINE)} order by s.currency) as totals
    from payout_line_totals t
    cross join lateral (
      select t.currency, t.amount, t.commission_count, t.is_paid, ${raw(paidAmount('t'))} as paid_amount, t.carried_amount,
             t.returned_amount, t.payment_reference, ${raw(isInFile)} as is_in_file, ${raw(shownDestinationOfLine)} as destination,
             ${raw(PAID_THROUGH_OF_LINE)} as paid_through) s
    where t.account_id = l.account_id and t.payout_id = l.payout_id and t.affiliate_id = l.affiliate_id) t`;

/** With more lines than this, the payout's record omits them. */
const MAX_LINES = 1000;

const lines = sql`case when p.affiliate_count <= ${MAX_LINES} then (
  select coalesce(json_agg(r), '[]') from (
    select ${lineRecord} from payout_lines l ${lineJoins}
    where l.account_id = p.account_id and l.payout_id = p.id order by l.affiliate_id) r) end`;

const shared = sql`case when p.status = 'unpaid' then ${sharedDestinations(
  sql`p.account_id`,
  sql`select s.affiliate_id, s.currency, s.amount from payout_line_totals s where s.account_id = p.account_id and s.payout_id = p.id`,
)} else '[]'::json end`;

const isOfOne = 'json_array_length(p.totals) = 1';
const summaryColumns = {
  id: "public_id('po', p.id)",
  object: "'affiliate_payout'",
  number: 'p.number',
  status: 'p.status',
  filters: 'p.filters',
  search: 'p.search',
  as_of: 'iso(p.as_of)',
  currency: `case when ${isOfOne} then p.totals #> '{0,currency}' end`,
  amount: `case when ${isOfOne} then p.totals #> '{0,amount}' end`,
  totals: 'p.totals',
  affiliate_count: 'p.affiliate_count',
  commission_count: 'p.commission_count',
  metadata: 'p.metadata',
  revision: 'p.revision',
  created_by: 'p.created_by',
  schedule_id: "public_id('psc', p.schedule_id)",
  created_at: 'iso(id_time(p.id))',
  updated_at: 'iso(greatest(p.updated_at, id_time(p.id)))',
  paid_at: 'iso(p.paid_at)',
  paid_by: 'p.paid_by',
  approval: approvalColumn,
};
/** A payout with more lines omits them from its record. */
export const summary = columnsOf(payoutSummary, summaryColumns);
/** The columns of a whole payout. */
export const record = columnsOf(payout, {
  ...summaryColumns,
  affiliates: lines,
  excluded: 'p.excluded',
  shared_destinations: shared,
  signals: signalsOfPayout,
});
