import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import {
  amount,
  badLine,
  currencyCode,
  email,
  metadata,
  minimums,
  nullable,
  strict,
  text,
  timestamp,
} from '../../contract/schemas.ts';
import { PAYOUT_METHODS } from '../../kernel/payments.ts';
import {
  destinationType,
  destinationTypes,
  paidThroughField,
  paidThroughInAny,
} from '../ledger/destinations.ts';

export const payoutMethod = nullable(Type.Enum(PAYOUT_METHODS, { title: 'PayoutMethod' }));
export const LEGAL_TYPES = ['person', 'business'] as const;
export const legalType = nullable(
  Type.Enum([...LEGAL_TYPES], { title: 'LegalType', description: 'the legal type; null = not known' }),
);
export const affiliateStatus = Type.Enum(['active', 'inactive'], { title: 'AffiliateStatus' });

const fields = {
  id: Type.Integer({ minimum: 1, description: 'affiliate_id in other records' }),
  object: Type.Literal('affiliate'),
  external_id: nullable(Type.String({ description: 'yours, unique in the account' })),
  email: Type.String({ description: 'unique in the account' }),
  name_first: nullable(Type.String()),
  name_last: nullable(Type.String()),
  slug: nullable(Type.String({ description: 'the short name in links; payout searches include it' })),
  paypal_email: nullable(Type.String({ description: 'the PayPal address that is paid' })),
  payout_method: payoutMethod,
  legal_type: legalType,
  country: nullable(
    Type.String({ description: 'ISO 3166-1 alpha-2: where it pays its taxes', examples: ['DE'] }),
  ),
  is_ready_for_payout: Type.Boolean({ description: "the merchant's switch" }),
  status: affiliateStatus,
  minimum_payout: nullable(minimums),
  metadata,
  created_at: timestamp,
  updated_at: timestamp,
};
/** The affiliate record. */
export const affiliate = strict(fields, { title: 'Affiliate' });
export type Affiliate = Static<typeof affiliate>;

const balance = strict(
  { currency: currencyCode, pending: amount, unpaid: amount, in_payout: amount, paid: amount },
  { title: 'AffiliateBalance' },
);
/** The record with the affiliate's balance. */
export const affiliateWithBalance = strict(
  {
    ...fields,
    balance: Type.Array(balance, { description: 'what the affiliate earned, per currency' }),
    last_paid_at: nullable({ ...timestamp, description: 'when a payout last paid the affiliate' }),
    destination_type: nullable({
      ...destinationTypes,
      description:
        'of the destination for all currencies, else of one for some; null: none, paid as `payout_method` says',
    }),
    paid_through: paidThroughField,
  },
  { title: 'AffiliateWithBalance' },
);
export type AffiliateWithBalance = Static<typeof affiliateWithBalance>;

const columns = {
  id: 'a.id',
  object: "'affiliate'",
  external_id: 'a.external_id',
  email: 'a.email',
  name_first: 'a.name_first',
  name_last: 'a.name_last',
  slug: 'a.slug',
  paypal_email: 'a.paypal_email',
  payout_method: 'a.payout_method',
  legal_type: 'a.legal_type',
  country: 'a.country',
  is_ready_for_payout: 'a.is_ready_for_payout',
  status: 'a.status',
  minimum_payout: 'a.minimum_payout',
  metadata: 'a.metadata',
  created_at: 'iso(a.created_at)',
  updated_at: 'iso(a.updated_at)',
};
/** The columns of the record, over `affiliates a`. */
export const record = columnsOf(affiliate, columns);

/** The same with the balance; needs the CTE `fresh` and `balanceJoin`. */
export const recordWithBalance = columnsOf(affiliateWithBalance, {
  ...columns,
  balance: 'b.balance',
  last_paid_at: 'iso(b.last_paid_at)',
  destination_type: destinationType,
  paid_through: paidThroughInAny,
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

const optional = {
  name_first: Type.Optional(nullable(text(200))),
  name_last: Type.Optional(nullable(text(200))),
  slug: Type.Optional(nullable(text(200))),
  paypal_email: Type.Optional(nullable(email)),
  payout_method: Type.Optional(payoutMethod),
  legal_type: Type.Optional(legalType),
  country: Type.Optional(
    nullable(Type.String({ pattern: '^[A-Za-z]{2}$', description: 'ISO 3166-1 alpha-2, any case' })),
  ),
  is_ready_for_payout: Type.Optional(Type.Boolean()),
  status: Type.Optional(affiliateStatus),
  minimum_payout: Type.Optional(nullable(minimums)),
  metadata: Type.Optional(metadata),
};
const externalId = Type.Optional(nullable(text(255)));

/** The input for a new affiliate. */
export const newAffiliate = strict({ email, external_id: externalId, ...optional });
/** The input for changing an affiliate. */
export const affiliateChange = strict({ email: Type.Optional(email), external_id: externalId, ...optional });
export type AffiliateChange = Static<typeof affiliateChange>;
/** The same for an affiliate addressed by its external_id. */
export const namedAffiliateChange = strict({ email: Type.Optional(email), ...optional });

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
