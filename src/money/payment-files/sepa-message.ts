import type { Debtor } from '../../people/accounts/record.ts';
import { bankText } from '../../terms/bank-text.ts';
import { paymentFileId } from '../../terms/payment-file-id.ts';
import type { FileHead } from '../payouts/csv.ts';
import type { BankPayment, BankSums, PayeeAddress } from './bank-rows.ts';
import type { MadeFile } from './format.ts';

/** The differences between the messages of 2009 and 2019. */
const MESSAGES = {
  'pain.001.001.09': { bic: 'BICFI', date: (day: string) => `<Dt>${day}</Dt>`, hasTowns: true },
  'pain.001.001.03': { bic: 'BIC', date: (day: string) => day, hasTowns: false },
} as const;

/** SEPA instant credit transfers (EPC004-16; ISO 20022 ExternalLocalInstrument1Code). */
const INSTANT = '<LclInstrm><Cd>INST</Cd></LclInstrm>';

/** The name of a debtor as it is written. */
export const debtorName = ({ name, iban }: Pick<Debtor, 'name' | 'iban'>): string =>
  bankText(name, iban.slice(0, 2));

/**
 * A hybrid address: town and country in elements of their own, the rest in lines (EPC153-22, "Provision of Addresses"). Lines that are too
 * long are left out: town and country are what a bank needs. Empty if the town cannot be written.
 */
function postalAddress({ line1, line2, postal_code, city, country }: PayeeAddress): string {
  const write = (name: string, text: string | null, longest: number) => {
    const written = text === null ? '' : bankText(text, country);
    return written === '' || written.length > longest ? '' : `<${name}>${written}</${name}>`;
  };
  const town = write('TwnNm', city, 35);
  if (town === '') return '';
  const lines = [line1, line2].map((line) => write('AdrLine', line, 70)).join('');
  return `<PstlAdr>${write('PstCd', postal_code, 16)}${town}<Ctry>${country}</Ctry>${lines}</PstlAdr>`;
}

/** The parts of a message around its payments. */
export interface SepaFrame {
  readonly head: Pick<FileHead, 'number'>;
  readonly made: MadeFile;
  readonly debtor: Debtor;
  readonly isInstant?: boolean;
  readonly sums: BankSums;
}

/** The MsgId and PmtInfId of a file. */
export const messageIdOf = ({ number }: Pick<FileHead, 'number'>, made: MadeFile): string =>
  paymentFileId({ payout: Number(number), ...made });

/**
 * The XML of a credit transfer initiation, in pieces. No text in it needs escaping: names are in the characters of
 * `bankText`, and the rest are numbers, codes and dates that were validated when stored.
 */
export async function* sepaMessage(
  { head, made, debtor, isInstant = false, sums: { count, decimal } }: SepaFrame,
  payments: AsyncIterable<BankPayment>,
): AsyncIterable<string> {
  const { bic, date } = MESSAGES[debtor.message];
  const id = messageIdOf(head, made);
  const executionDate = made.executionDate ?? '';
  const name = `<Nm>${debtorName(debtor)}</Nm>`;
  const agent = (code: string | null) =>
    `<FinInstnId>${code === null ? '<Othr><Id>NOTPROVIDED</Id></Othr>' : `<${bic}>${code}</${bic}>`}</FinInstnId>`;
  const address = (given: BankPayment['address']) =>
    given && MESSAGES[debtor.message].hasTowns ? postalAddress(given) : '';
  const sums = `<NbOfTxs>${count}</NbOfTxs><CtrlSum>${decimal}</CtrlSum>`;
  yield '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:${debtor.message}"><CstmrCdtTrfInitn>\n` +
    `<GrpHdr><MsgId>${id}</MsgId><CreDtTm>${made.madeAt}</CreDtTm>${sums}<InitgPty>${name}</InitgPty></GrpHdr>\n` +
    `<PmtInf><PmtInfId>${id}</PmtInfId><PmtMtd>TRF</PmtMtd><BtchBookg>true</BtchBookg>${sums}` +
    `<PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl>${isInstant ? INSTANT : ''}</PmtTpInf><ReqdExctnDt>${date(executionDate)}</ReqdExctnDt>` +
    `<Dbtr>${name}</Dbtr><DbtrAcct><Id><IBAN>${debtor.iban}</IBAN></Id></DbtrAcct>` +
    `<DbtrAgt>${agent(debtor.bic)}</DbtrAgt><ChrgBr>SLEV</ChrgBr>\n`;
  for await (const payment of payments) {
    const creditorAgent = payment.bic === null ? '' : `<CdtrAgt>${agent(payment.bic)}</CdtrAgt>`;
    yield `<CdtTrfTxInf><PmtId><EndToEndId>${payment.reference}</EndToEndId></PmtId>` +
      `<Amt><InstdAmt Ccy="EUR">${payment.decimal}</InstdAmt></Amt>${creditorAgent}` +
      `<Cdtr><Nm>${payment.holder}</Nm>${address(payment.address)}</Cdtr><CdtrAcct><Id><IBAN>${payment.number}</IBAN></Id></CdtrAcct>` +
      `<RmtInf><Ustrd>Affiliate payout ${head.number} ${payment.reference}</Ustrd></RmtInf></CdtTrfTxInf>\n`;
  }
  yield '</PmtInf>\n</CstmrCdtTrfInitn></Document>\n';
}
