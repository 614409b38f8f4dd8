import type { Column } from '../files/csv-export.ts';
import { csvFormat } from './csv.ts';
import { DECIMAL, type PaymentFormat, WAY } from './format.ts';

const text = (name: string): Column => [name, `csv_text(r.${name})`];

/**
 * For people: how much each affiliate gets in all currencies, whatever the method. Contains nothing that could change
 * after the payout is paid: no `external_id`, no returned money.
 */
export const summary: PaymentFormat = {
  name: 'summary',
  title: 'summary',
  about: 'a list for people with a header: all affiliates and currencies, and what Complete noted',
  destination: null,
  currency: null,
  payer: null,
  extension: 'csv',
  contentType: 'text/csv; charset=utf-8',
  ...csvFormat(
    [
      ['payout_id', `public_id('po', r.payout_id)`],
      ['payout_number', 'r.payout_number'],
      ['payout_status', 'r.payout_status'],
      ['affiliate_id', 'r.affiliate_id'],
      text('name_first'),
      text('name_last'),
      text('email'),
      ['payout_method', WAY],
      text('paypal_email'),
      ['currency', 'upper(r.currency)'],
      ['amount', DECIMAL],
      ['commission_count', 'r.commission_count'],
      ['reference', 'r.reference'],
      text('payment_reference'),
      ['paid_at', 'iso(r.paid_at)'],
    ],
    true,
  ),
  choices: [],
  maxRows: null,
  refusal: 'null::text',
  aboveLimit: 'false',
  wholeCurrencies: [],
  needsRows: false,
};
