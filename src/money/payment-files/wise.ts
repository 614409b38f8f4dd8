import { providerFormat } from './csv.ts';
import {
  among,
  DECIMAL,
  formulaRefusal,
  isFormula,
  NOT_NOW,
  type PaymentFormat,
  paidElsewhere,
  WAY,
} from './format.ts';

// wise.com/help, "What currencies can I send to and from?": the currencies that can be sent to
const CURRENCIES = (
  'aed ars aud bdt brl bwp cad chf clp cny cop crc czk dkk egp eur fjd gbp gel ghs gtq hkd huf idr ils inr jpy kes krw ' +
  'lkr mad mxn myr ngn nok npr nzd pen php pkr pln ron sek sgd thb try tzs uah ugx usd uyu vnd xof zar zmw'
).split(' ');

/**
 * Wise batch payments, using the template for recipients identified by e-mail, with its header unchanged: one currency,
 * 1,000 rows. `target` fixes the amount the recipient gets; the sender bears fees and exchange. A receiver is a person or
 * an institution, and every business is an institution. Pays affiliates whose method is Wise.
 */
export const wise: PaymentFormat = {
  ...providerFormat('wise', {
    name: 'r.name',
    recipientEmail: 'r.email',
    paymentReference: 'r.reference',
    receiverType: `case when r.legal_type = 'business' then 'INSTITUTION' else 'PERSON' end`,
    amountCurrency: `'target'`,
    amount: DECIMAL,
    sourceCurrency: 'upper(r.source_currency)',
    targetCurrency: 'upper(r.currency)',
  }),
  refusal: `case
    ${NOT_NOW}
    when not ${among(CURRENCIES)} then 'Wise does not pay in ' || upper(r.currency)
    when ${WAY} is null then 'no payout_method'
    ${paidElsewhere('wise')}
    when r.name is null then 'no name'
    when ${isFormula('r.name')} then ${formulaRefusal('the name')}
    when ${isFormula('r.email')} then ${formulaRefusal('email')}
  end`,
  aboveLimit: 'false',
  wholeCurrencies: [],
  needsRows: true,
};
