import { DECIMAL, formulaRefusal, isFormula, type PaymentFormat, SWITCHED_OFF } from './format.ts';

/**
 * Wise batch payments, the template for recipients known by e-mail: its header as it is, one currency, 1,000 rows.
 * `target` fixes what the recipient gets; fees and exchange are the sender's. Takes whom Wise is set for.
 */
export const wise: PaymentFormat = {
  name: 'wise',
  title: 'Wise file',
  hasHeader: true,
  columns: [
    ['name', 'r.name'],
    ['recipientEmail', 'r.email'],
    ['paymentReference', 'r.reference'],
    ['receiverType', `'PERSON'`],
    ['amountCurrency', `'target'`],
    ['amount', DECIMAL],
    ['sourceCurrency', 'upper(r.source_currency)'],
    ['targetCurrency', 'upper(r.currency)'],
  ],
  choices: ['currency', 'part', 'allow_skipped', 'source_currency'],
  maxRows: 1000,
  refusal: `case
    ${SWITCHED_OFF}
    when r.payout_method is null then 'no payout_method'
    when r.payout_method <> 'wise' then 'payout_method is ' || r.payout_method
    when r.name is null then 'no name'
    when ${isFormula('r.name')} then ${formulaRefusal('the name')}
    when ${isFormula('r.email')} then ${formulaRefusal('email')}
  end`,
  wholeCurrencies: [],
  needsRows: true,
};
