import { Type } from 'typebox';
import {
  amount,
  currencyCode,
  metadata,
  minimums,
  nullable,
  strict,
  timestamp,
} from '../../contract/schemas.ts';
import { PAYOUT_METHODS } from '../../kernel/payments.ts';

export const payoutMethod = nullable(Type.Enum(PAYOUT_METHODS, { title: 'PayoutMethod' }));
export const LEGAL_TYPES = ['person', 'business'] as const;
export const legalType = nullable(
  Type.Enum([...LEGAL_TYPES], { title: 'LegalType', description: 'what it is by law; null = not known' }),
);
export const affiliateStatus = Type.Enum(['active', 'inactive'], { title: 'AffiliateStatus' });

const fields = {
  id: Type.Integer({ minimum: 1, description: 'affiliate_id in other records' }),
  object: Type.Literal('affiliate'),
  external_id: nullable(Type.String({ description: 'yours, unique in the account' })),
  email: Type.String({ description: 'unique in the account' }),
  name_first: nullable(Type.String()),
  name_last: nullable(Type.String()),
  slug: nullable(Type.String({ description: 'the short name in links; payouts can be searched by it' })),
  paypal_email: nullable(Type.String({ description: 'where PayPal pays to' })),
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
const balance = strict(
  { currency: currencyCode, pending: amount, unpaid: amount, in_payout: amount, paid: amount },
  { title: 'AffiliateBalance' },
);
/** The record with what the affiliate earned. */
export const affiliateWithBalance = strict(
  {
    ...fields,
    balance: Type.Array(balance, { description: 'what the affiliate earned, per currency' }),
  },
  { title: 'AffiliateWithBalance' },
);
