import { PAYMENT_FILES } from '../../terms/payments.ts';
import { providerFormat } from './csv.ts';
import {
  among,
  DECIMAL,
  formulaRefusal,
  isFormula,
  NOT_NOW,
  type PaymentFormat,
  paidElsewhere,
} from './format.ts';

// developer.paypal.com/docs/reports/reference/paypal-supported-currencies
const CURRENCIES =
  'aud brl cad chf cny czk dkk eur gbp hkd huf ils jpy mxn myr nok nzd php pln sek sgd thb twd usd'.split(
    ' ',
  );
// the same page: "no decimal places or fractions", although ISO 4217 gives two of these currencies a minor unit
const WHOLE = ['huf', 'jpy', 'twd'];

/**
 * PayPal Payouts from a file (docs.paypal.ai/send/use-web-ui): no header, one currency, 5,000 rows. The reference has at
 * most 30 characters and no spaces. Pays every affiliate who has no other method.
 */
export const paypal: PaymentFormat = {
  ...providerFormat('paypal', {
    recipient: 'r.paypal_email',
    amount: `case when ${among(WHOLE)} then trunc(${DECIMAL}::numeric)::text else ${DECIMAL} end`,
    currency: 'upper(r.currency)',
    reference: 'r.reference',
    note: `'Affiliate payout ' || r.payout_number`,
    wallet: `'${PAYMENT_FILES.paypal.rows.mark}'`,
  }),
  refusal: `case
    ${NOT_NOW}
    when not ${among(CURRENCIES)} then 'PayPal does not pay in ' || upper(r.currency)
    ${paidElsewhere('paypal')}
    when r.paypal_email is null then 'no paypal_email'
    when ${isFormula('r.paypal_email')} then ${formulaRefusal('paypal_email')}
    when ${among(WHOLE)} and ${DECIMAL}::numeric % 1 <> 0
      then 'PayPal takes no fractions of ' || upper(r.currency)
    when r.amount = 0 then 'less than one ' || upper(r.currency)
  end`,
  aboveLimit: 'r.amount > r.paypal_payment_limit',
  wholeCurrencies: WHOLE,
  needsRows: true,
};
