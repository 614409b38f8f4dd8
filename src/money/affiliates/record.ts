import sql, { type Sql } from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { changeSchema, newSchema, recordColumns, recordProperties } from '../../contract/fields.ts';
import { columnsOf } from '../../contract/records.ts';
import { amount, badLine, currencyCode, nullable, strict, timestamp } from '../../contract/schemas.ts';
import {
  destinationType,
  destinationTypes,
  paidThroughField,
  paidThroughInAny,
} from '../ledger/destinations.ts';
import { AFFILIATE_FIELDS } from './fields.ts';

const properties = recordProperties(AFFILIATE_FIELDS);
/** The affiliate record. */
export const affiliate = strict(properties, { title: 'Affiliate' });
export type Affiliate = Static<typeof affiliate>;

const balance = strict(
  { currency: currencyCode, pending: amount, unpaid: amount, in_payout: amount, paid: amount },
  { title: 'AffiliateBalance' },
);
/** The record with the affiliate's balance. */
export const affiliateWithBalance = strict(
  {
    ...properties,
    balance: Type.Array(balance, { description: 'what the affiliate earned, per currency' }),
    last_paid_at: nullable({ ...timestamp, description: 'when a payout last paid the affiliate' }),
    destination_type: nullable({
      ...destinationTypes,
      description:
        'of the destination for all currencies, else of one for some; null: none, paid as `payout_method` says',
    }),
    paid_through: paidThroughField,
    has_tax_profile: Type.Boolean({ description: 'whether tax details are stored' }),
  },
  { title: 'AffiliateWithBalance' },
);
export type AffiliateWithBalance = Static<typeof affiliateWithBalance>;

const columns = recordColumns(AFFILIATE_FIELDS, 'a');
/** The columns of the record, over `affiliates a`. */
export const record = columnsOf(affiliate, columns);

/** The record of an affiliate `a`, as a column. */
export const recordJson: Sql = sql`(select row_to_json(r)::text from (select ${record}) r)`;

/** The same with the balance; needs the CTE `fresh` and `balanceJoin`. */
export const recordWithBalance = columnsOf(affiliateWithBalance, {
  ...columns,
  balance: 'b.balance',
  last_paid_at: 'iso(b.last_paid_at)',
  destination_type: destinationType,
  paid_through: paidThroughInAny,
  has_tax_profile: `exists (
    select from affiliate_tax_profiles x where x.account_id = a.account_id and x.affiliate_id = a.id)`,
});

const state = (description: string) =>
  strict({ amount, affiliate_count: Type.Integer({ minimum: 0 }) }, { description });
/** The total owed. */
export const owedInAll = strict(
  {
    object: Type.Literal('affiliate_balances'),
    current_payout_id: nullable(Type.String({ description: 'the unpaid payout' })),
    balances: Type.Array(
      strict(
        {
          currency: currencyCode,
          owed: { ...amount, description: 'minor units: the sum of the states' },
          payable: state('a payout without filters would take it now'),
          on_hold: state('not available yet, or held for review'),
          below_minimum: state('less than the minimum payout of the affiliate'),
          negative_balance: state('debts: an amount below zero'),
          not_ready: state('of affiliates who are switched off for payouts'),
          affiliate_inactive: state('of affiliates who are inactive'),
          in_payout: state('in the unpaid payout'),
          without_destination: state('the part of payable whose affiliate has no destination'),
        },
        { title: 'OwedBalance' },
      ),
      { description: 'a row per currency in which something is owed' },
    ),
  },
  { title: 'AffiliateBalances' },
);
export type OwedInAll = Static<typeof owedInAll>;

/** The input for a new affiliate. */
export const newAffiliate = newSchema(AFFILIATE_FIELDS);
/** The input for changing an affiliate. */
export const affiliateChange = changeSchema(AFFILIATE_FIELDS);
export type AffiliateChange = Static<typeof affiliateChange>;
const { external_id: _, ...named } = affiliateChange.properties;
/** The same for an affiliate addressed by its external_id. */
export const namedAffiliateChange = strict(named);

/** The result of an import, or of its dry run. */
export const affiliateImport = strict(
  {
    object: Type.Literal('affiliate_import'),
    dry_run: Type.Boolean(),
    lines: Type.Integer(),
    created: Type.Integer(),
    updated: Type.Integer(),
    unchanged: Type.Integer(),
    failed: Type.Integer(),
    methods_set: Type.Integer({
      description:
        'lines whose `payout_method` became `paypal`, because they have a `paypal_email` and no method',
    }),
    errors: Type.Array(badLine, {
      description: 'the first 1,000 bad lines',
    }),
  },
  { title: 'AffiliateImport' },
);
