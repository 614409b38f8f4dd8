import { readPaymentFileId } from '../../terms/payment-file-id.ts';
import { readXmlAmount } from './amounts.ts';
import {
  Answers,
  dayIn,
  mentionIn,
  type Outcome,
  type ReadResult,
  type Reference,
  readReference,
} from './answers.ts';
import { allOf, type Frame, readXml } from './xml.ts';

const FRAMES = new Set(['Acct', 'Ntry', 'TxDtls']);
const NO_REFERENCE = /^(NOTPROVIDED|NOT PROVIDED|NOTAVAILABLE|-)?$/i;
/** ExternalBankTransactionSubFamily1Code: bookings that reverse a payment, because it was returned or recalled. */
const REVERSALS = new Set(['RRTN', 'RPCR']);

/**
 * Reads a bank's statement (camt.053) or notification (camt.054), versions .02 to .13. Outgoing money is paid, money that
 * came back as a return or reversal is returned, and entries that are not booked are pending. An entry that books a whole
 * file without its payments is an answer about the file. Throws ResultFileError.
 */
export function readCamt(text: string, kind: 'camt.053' | 'camt.054'): ReadResult {
  const found = new Answers();
  let entries = 0;
  let details: Frame[] = [];
  let account: string | undefined;
  readXml(text, FRAMES, (frame) => {
    if (frame.name === 'Acct') {
      // it precedes the entries of its statement; banks group the letters of an IBAN
      account = frame.values.get('Id/IBAN')?.replaceAll(/\s/g, '').toUpperCase();
      return;
    }
    if (frame.name === 'TxDtls') {
      details.push(frame);
      return;
    }
    entries += 1;
    readEntry(frame, details, { place: `entry ${entries}`, account }, found);
    details = [];
  });
  return found.of(kind);
}

interface EntryContext {
  /** The place in the file. */
  readonly place: string;
  /** The IBAN of the statement, if it has one. */
  readonly account: string | undefined;
}

interface PaymentContext extends EntryContext {
  /** The entry has only this payment, so its amount and texts are those of the payment. */
  readonly isAlone: boolean;
}

function readEntry(entry: Frame, details: readonly Frame[], at: EntryContext, found: Answers): void {
  const { values } = entry;
  const fileId = values.get('NtryDtls/Btch/PmtInfId') ?? values.get('NtryDtls/Btch/MsgId');
  nameFile(found, fileId);
  if (statusOf(entry) === 'INFO') {
    found.others += 1;
    return;
  }
  const where: PaymentContext = { ...at, isAlone: details.length <= 1 };
  const payments: readonly (Frame | null)[] = details.length === 0 ? [null] : details;
  const silent = payments.filter((detail) => !readPayment(entry, detail, where, found));
  const only = details.length === 1 ? details[0] : undefined;
  const named = fileId ?? only?.values.get('Refs/PmtInfId') ?? only?.values.get('Refs/MsgId');
  const isOfFile = named !== undefined && readPaymentFileId(named) !== null;
  // without references, it concerns the whole file
  if (
    isOfFile &&
    silent.length === payments.length &&
    payments.every((detail) => !hasReference(entry, detail, where))
  )
    readWholeFile(entry, named, where, found);
  else found.others += silent.length;
}

const nameFile = (found: Answers, id: string | undefined) => {
  if (id !== undefined && readPaymentFileId(id) !== null) found.name(id);
};

function readWholeFile(entry: Frame, file: string, where: PaymentContext, found: Answers): void {
  const stated = statedBy(entry, null, where);
  const outcome = outcomeOf(entry, null);
  if (typeof outcome !== 'string') {
    const { place, account } = where;
    const about = { place, ...(account === undefined ? {} : { account }) };
    const message = `this is about the whole file ${file}: ${outcome.why}`;
    found.doubt({ ...about, kind: 'unclear', of: null, message, isAboutLine: false });
    return;
  }
  const count = entry.values.get('NtryDtls/Btch/NbOfTxs');
  found.stateFile({ ...stated, outcome, file, count: count === undefined ? null : Number(count) });
}

/** Reads a payment of an entry, or an entry without details. Returns false if it names no payment. */
function readPayment(entry: Frame, detail: Frame | null, where: PaymentContext, found: Answers): boolean {
  const { values } = detail ?? entry;
  nameFile(found, detail?.values.get('Refs/PmtInfId') ?? detail?.values.get('Refs/MsgId'));
  const id = endToEndId(detail);
  const texts = textsOf(entry, detail, where);
  const of = id === null ? referenceOf(texts) : readReference(id);
  const { place, account } = where;
  const about = { place, ...(account === undefined ? {} : { account }) };
  if (of === null) {
    const text = [id ?? '', ...texts].find((each) => mentionIn(each) !== null) ?? '';
    const mentioned = mentionIn(text);
    if (mentioned !== null) {
      const isCredit = (values.get('CdtDbtInd') ?? entry.values.get('CdtDbtInd')) !== 'DBIT';
      const message = `${JSON.stringify(text.slice(0, 100))} is not exactly the reference of a payment, so it is ignored`;
      // incoming money may be a return of that payment
      found.doubt({ ...about, kind: 'inexact_reference', of: mentioned, message, isAboutLine: isCredit });
    }
    return false;
  }
  const stated = statedBy(entry, detail, where);
  const hasAmount = stated.amount !== null && stated.currency !== null;
  const outcome = hasAmount
    ? outcomeOf(entry, detail)
    : { why: 'it has no amount with a currency of its own' };
  if (typeof outcome === 'string') found.state({ of, outcome, ...stated });
  else found.doubt({ ...about, kind: 'unclear', of, message: outcome.why, isAboutLine: true });
  return true;
}

/** The sender's reference of a payment, or null. */
function endToEndId(detail: Frame | null): string | null {
  const id = detail?.values.get('Refs/EndToEndId') ?? '';
  return NO_REFERENCE.test(id) ? null : id;
}

/** The free texts about a payment. */
const textsOf = (entry: Frame, detail: Frame | null, { isAlone }: PaymentContext): readonly string[] => [
  ...(detail === null ? [] : [...allOf(detail, 'RmtInf/Ustrd'), ...allOf(detail, 'AddtlTxInf')]),
  ...(isAlone ? allOf(entry, 'AddtlNtryInf') : []),
];

const hasReference = (entry: Frame, detail: Frame | null, where: PaymentContext): boolean =>
  endToEndId(detail) !== null || textsOf(entry, detail, where).some((text) => mentionIn(text) !== null);

/** The remittance text of a SEPA file, or that of a Wise file: the reference alone. */
const WRITTEN = /^(?:AFFILIATE PAYOUT (\d{1,15}) )?(P(\d{1,15})-A[1-9]\d{0,14})$/;

/**
 * The payment whose complete remittance text, as we wrote it, is one of these texts or all of them joined, because banks
 * split it into lines. Null if none or several match.
 */
function referenceOf(texts: readonly string[]): Reference | null {
  const found = new Map<string, Reference>();
  for (const text of [...texts, texts.join(''), texts.join(' ')]) {
    const plain = text.trim().replaceAll(/\s+/g, ' ').toUpperCase();
    const [, title, reference = '', payout] = WRITTEN.exec(plain) ?? [];
    const read = title === undefined || title === payout ? readReference(reference) : null;
    if (read !== null) found.set(reference, read);
  }
  const [only] = found.values();
  return found.size === 1 && only !== undefined ? only : null;
}

/** The statement of an entry, or of one payment in it. Fields of the payment take precedence over those of the entry. */
function statedBy(entry: Frame, detail: Frame | null, { place, account, isAlone }: PaymentContext) {
  const own = (path: string) => detail?.values.get(path);
  const either = (path: string) => own(path) ?? entry.values.get(path);
  const amountPath = ['Amt', 'AmtDtls/TxAmt/Amt', 'AmtDtls/InstdAmt/Amt'].find(
    (path) => own(path) !== undefined,
  );
  const from = amountPath === undefined && isAlone ? entry.values : (detail?.values ?? entry.values);
  const path = amountPath ?? 'Amt';
  const amount = from.get(path);
  return {
    amount: amount === undefined ? null : readXmlAmount(amount),
    currency: from.get(`${path}@Ccy`)?.toLowerCase() ?? null,
    code: own('RtrInf/Rsn/Cd') ?? own('RtrInf/Rsn/Prtry') ?? null,
    words: own('RtrInf/AddtlInf') ?? null,
    on: dayIn(entry.values.get('BookgDt/Dt') ?? entry.values.get('BookgDt/DtTm')),
    bankReference: either('Refs/AcctSvcrRef') ?? entry.values.get('AcctSvcrRef') ?? own('Refs/TxId') ?? null,
    file: own('Refs/PmtInfId') ?? entry.values.get('NtryDtls/Btch/PmtInfId') ?? null,
    ...(account === undefined ? {} : { account }),
    place,
  };
}

const statusOf = ({ values }: Frame) => values.get('Sts/Cd') ?? values.get('Sts');

/** Whether an entry reverses another booking: by a return reason, a bank code or the reversal indicator. */
function isReversal(entry: Frame, detail: Frame | null): boolean {
  const frames = detail === null ? [entry] : [detail, entry];
  return (
    [...(detail?.values.keys() ?? [])].some((path) => path.startsWith('RtrInf/')) ||
    frames.some(({ values }) => REVERSALS.has(values.get('BkTxCd/Domn/Fmly/SubFmlyCd') ?? '')) ||
    ['true', '1'].includes(entry.values.get('RvslInd') ?? '')
  );
}

/** The outcome of a booking, or why it has none. */
function outcomeOf(entry: Frame, detail: Frame | null): Outcome | { readonly why: string } {
  const direction = detail?.values.get('CdtDbtInd') ?? entry.values.get('CdtDbtInd');
  const status = statusOf(entry);
  if (direction !== 'DBIT' && direction !== 'CRDT') return { why: 'it is neither a debit nor a credit' };
  if (status === 'PDNG' || status === 'FUTR') return 'pending';
  if (status !== 'BOOK') return { why: `its status ${JSON.stringify(status ?? '')} is unknown` };
  const isBack = isReversal(entry, detail);
  if (direction === 'CRDT')
    return isBack
      ? 'returned'
      : { why: 'money came in with this reference, but nothing says that it is a return of the payment' };
  return isBack ? { why: 'it is a debit that reverses another booking' } : 'paid';
}
