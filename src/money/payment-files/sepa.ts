import { BANK_CONTENT, bankFile, bankSums } from './bank-rows.ts';
import { bankAccountMissing, NOT_NOW, type PaymentFormat, paymentFormat } from './format.ts';
import { messageIdOf, sepaMessage } from './sepa-message.ts';

/** Minor units: 999,999,999.99 euros (EPC132-08, AT-T002). */
const MOST = 99_999_999_999;

/**
 * SEPA credit transfers (ISO 20022 pain.001, EPC132-08, and annex 3 of the German DFÜ agreement): one debtor, euros,
 * names and texts in the characters of `bankText`. Files with the same id have the same bytes, so a bank that receives a
 * file twice recognises it. Addresses are left out, which the rules allow.
 */
export const sepa: PaymentFormat = {
  ...paymentFormat('sepa'),
  content: BANK_CONTENT,
  messageId: messageIdOf,
  // banks compare names with IBANs for each file, and a file with one payment cannot opt out
  splitsEvenly: true,
  refusal: `case
    ${NOT_NOW}
    ${bankAccountMissing('sepa')}
    when r.currency <> 'eur' then 'SEPA pays in EUR only'
    when r.amount > ${MOST} then 'above 999,999,999.99 EUR, the most that one SEPA transfer pays'
  end`,
  aboveLimit: 'false',
  wholeCurrencies: [],
  needsRows: true,
  write: async (making) => {
    const { debtor } = making.payer;
    const { head, made } = making;
    if (debtor === null || made === null) throw new Error('a SEPA file needs a debtor and an id');
    const sums = await bankSums(making);
    return bankFile(making, (payments) => sepaMessage({ head, made, debtor, sums }, payments));
  },
};
