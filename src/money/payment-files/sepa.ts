import { isWithdrawn } from '../../people/accounts/debtor.ts';
import type { Debtor } from '../../people/accounts/record.ts';
import { EEA } from '../../terms/eea.ts';
import { BANK_CONTENT, bankFile, bankSums } from './bank-rows.ts';
import {
  bankAccountMissing,
  type FileWarning,
  NOT_NOW,
  type PaymentFormat,
  paymentFormat,
} from './format.ts';
import { messageIdOf, sepaMessage } from './sepa-message.ts';

/** Minor units: 999,999,999.99 euros (EPC132-08, AT-T002). */
const MOST = 99_999_999_999;

function warningsOf(debtor: Debtor): readonly FileWarning[] {
  const withdrawn: FileWarning = {
    code: 'message_withdrawn',
    message:
      'banks in Germany refuse pain.001.001.03 since 14 November 2026: set message of the debtor to pain.001.001.09',
    when: 'true',
  };
  const isOld = debtor.message === 'pain.001.001.03';
  const address: FileWarning = {
    code: 'address_missing',
    message:
      'your bank may need the address of a payee whose account is outside the EEA: ' +
      (isOld
        ? 'pain.001.001.03 has none, so set message of the debtor to pain.001.001.09'
        : 'the tax profile of the affiliate has none'),
    when: `r.account_country <> all(array[${EEA.map((code) => `'${code}'`)}])${isOld ? '' : ' and r.payee_address is null'}`,
  };
  return isWithdrawn(debtor) ? [withdrawn, address] : [address];
}

/**
 * SEPA credit transfers (ISO 20022 pain.001, EPC132-08, and annex 3 of the German DFÜ agreement): one debtor, euros,
 * names and texts in the characters of `bankText`. Files with the same id have the same bytes, so a bank that receives a
 * file twice recognises it. Addresses of payees are written for accounts outside the EEA only; elsewhere the rules need none.
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
  warnings: ({ debtor }) => (debtor === null ? [] : warningsOf(debtor)),
  wholeCurrencies: [],
  needsRows: true,
  write: async (making) => {
    const { debtor } = making.payer;
    const { head, made, file } = making;
    if (debtor === null || made === null) throw new Error('a SEPA file needs a debtor and an id');
    const sums = await bankSums(making);
    return bankFile(making, (payments) =>
      sepaMessage({ head, made, debtor, isInstant: file.isInstant, sums }, payments),
    );
  },
};
