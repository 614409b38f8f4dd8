import { descriptionForPersons, isPayroll, PAYROLL } from '../../people/accounts/originator.ts';
import { firstBankingDay, whyNoBankingDay } from '../../terms/us-banking-days.ts';
import { BANK_CONTENT, bankFile } from './bank-rows.ts';
import { bankAccountMissing, NOT_NOW, type PaymentFormat, paymentFormat } from './format.ts';
import { nachaFile } from './nacha-file.ts';

/** Minor units: an entry's amount has ten digits, the totals have twelve. */
const MOST = 9_999_999_999;
const MOST_IN_FILE = 999_999_999_999n;
/** The length of the reference field. */
const LONGEST_REFERENCE = 15;

/**
 * ACH credits in a NACHA file: one originator, US dollars. Affiliates whose `legal_type` is business go into a CCD batch,
 * all others into a PPD batch. The file has no balancing debit: the bank adds it.
 */
export const nacha: PaymentFormat = {
  ...paymentFormat('nacha'),
  splitsEvenly: false,
  // most banks charge more for same-day payments, so those are made only on request
  days: { first: firstBankingDay, refusal: whyNoBankingDay },
  originating: ({ originator }) =>
    originator && {
      destination: originator.immediate_destination,
      origin: originator.immediate_origin,
      dfi: originator.originating_dfi,
    },
  mostInFile: { amount: MOST_IN_FILE, advice: 'lower originator.rows_per_file' },
  content: BANK_CONTENT,
  order: "r.legal_type is not distinct from 'business', r.affiliate_id",
  refusal: `case
    ${NOT_NOW}
    ${bankAccountMissing('ach')}
    when r.currency <> 'usd' then 'ACH pays in USD only'
    when r.amount > ${MOST} then 'above 99,999,999.99 USD, the most that one ACH entry pays'
    when length(r.reference) > ${LONGEST_REFERENCE}
      then 'the reference ' || r.reference || ' has more than the ${LONGEST_REFERENCE} characters of a NACHA file'
  end`,
  aboveLimit: 'false',
  warnings: ({ originator }) =>
    originator === null || isPayroll(originator)
      ? []
      : [
          {
            code: 'description_not_payroll',
            message:
              `since 20 March 2026 payments to persons must be described as ${PAYROLL}, not ${descriptionForPersons(originator)}: ` +
              'set person_entry_description of the originator',
            when: "r.legal_type is distinct from 'business'",
          },
        ],
  wholeCurrencies: [],
  needsRows: true,
  write: async (making) => {
    const { payer, made } = making;
    const { originator } = payer;
    if (originator === null || made === null) throw new Error('a NACHA file needs an originator');
    return bankFile(making, (payments) => nachaFile({ originator, made }, payments));
  },
};
