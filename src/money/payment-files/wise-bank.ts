import { PAYMENT_FILES } from '../../terms/payments.ts';
import { csvLine } from '../files/csv-line.ts';
import { type BankPayment, bankFile } from './bank-rows.ts';
import {
  bankAccountMissing,
  DECIMAL,
  formulaRefusal,
  isFormula,
  NOT_NOW,
  type PaymentFormat,
  paymentFormat,
} from './format.ts';

const { columns: COLUMNS, extra: ADDRESS } = PAYMENT_FILES.wise_bank.rows;

/** Wise asks for the addresses of recipients who are paid from this currency. */
const ADDRESSED_FROM = 'usd';

type Column = (typeof COLUMNS)[number] | (typeof ADDRESS)[number];

function cellsOf({ address, ...payment }: BankPayment): Readonly<Record<Column, string>> {
  return {
    name: payment.holder,
    recipientEmail: payment.email,
    paymentReference: payment.reference,
    referenceNumber: '',
    receiverType: payment.legal_type === 'business' ? 'INSTITUTION' : 'PERSON',
    amountCurrency: 'target',
    amount: payment.decimal,
    sourceCurrency: payment.source_currency.toUpperCase(),
    targetCurrency: 'EUR',
    IBAN: payment.number,
    addressCountryCode: address?.country ?? '',
    addressCity: address?.city ?? '',
    addressFirstLine: address?.line1 ?? '',
    addressState: address?.region ?? '',
    addressPostCode: address?.postal_code ?? '',
  };
}

/**
 * Wise batch payments, using the template Send-to-bank-accounts.csv for IBANs: euros, 1,000 rows. Recipients known by e-mail have a
 * week to answer, these need not (wise.com/help/articles/2663296). The columns are those that two public programs write in 2026
 * (feedgine/sepa-credit-transfer-to-wise is one), and the address that one of them adds when US dollars are paid from. Templates
 * for accounts of other currencies have other columns, for which no source was found. Checked on 2026-11-27.
 */
export const wiseBank: PaymentFormat = {
  ...paymentFormat('wise_bank'),
  splitsEvenly: false,
  // the account by the id of its destination, whose number never changes
  content: `json_build_array(r.reference, r.holder_in_files, r.destination_id, r.email, r.legal_type, ${DECIMAL}, r.source_currency,
    case when r.source_currency = '${ADDRESSED_FROM}' then r.payee_address end)::text`,
  refusal: `case
    ${NOT_NOW}
    ${bankAccountMissing('wise_bank')}
    when r.currency <> 'eur' then 'Wise pays to an IBAN in EUR only'
    when ${isFormula('r.holder_in_files')} then ${formulaRefusal('account_holder')}
    when ${isFormula('r.email')} then ${formulaRefusal('email')}
  end`,
  aboveLimit: 'false',
  wholeCurrencies: [],
  needsRows: true,
  write: async (making) => {
    const isAddressed = making.file.sourceCurrency === ADDRESSED_FROM;
    const columns: readonly Column[] = [...COLUMNS, ...(isAddressed ? ADDRESS : [])];
    return bankFile(making, async function* (payments) {
      yield csvLine(columns);
      for await (const payment of payments) {
        const cells = cellsOf(payment);
        yield csvLine(columns.map((column) => cells[column]));
      }
    });
  },
};
