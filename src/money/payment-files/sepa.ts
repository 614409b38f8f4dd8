import { BANK_FILES } from '../../kernel/payments.ts';
import { bankFile, bankSums } from './bank-rows.ts';
import { bankAccountMissing, NOT_NOW, type PaymentFormat } from './format.ts';
import { sepaMessage } from './sepa-message.ts';

/** Minor units: 999,999,999.99 euros (EPC132-08, AT-T002). */
const MOST = 99_999_999_999;

/**
 * SEPA credit transfers (ISO 20022 pain.001, EPC132-08, and annex 3 of the German DFÜ agreement): one debtor, euros, names
 * and texts in the characters of `bankText`. The ids say the payout, its revision and the part, so that a bank which is
 * sent the same file twice recognises it. Addresses are left out, which the rules allow.
 */
export const sepa: PaymentFormat = {
  name: 'sepa',
  title: 'SEPA file',
  destination: 'sepa',
  currency: 'eur',
  extension: 'xml',
  contentType: 'application/xml; charset=utf-8',
  choices: BANK_FILES.sepa,
  maxRows: 10_000,
  ownMaxRows: ({ debtor }) => debtor?.rows_per_file,
  lacks: ({ debtor }) =>
    debtor === null ? 'debtor: the name and IBAN that SEPA transfers are paid from' : null,
  // banks compare names and IBANs, and a file of one payment cannot be taken out of that
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
    if (debtor === null) throw new Error('a SEPA file needs a debtor');
    const sums = await bankSums(making);
    const { head, file, executionDate } = making;
    return bankFile(making, (payments) =>
      sepaMessage({ head, part: file.part ?? 1, executionDate, debtor, sums }, payments),
    );
  },
};
