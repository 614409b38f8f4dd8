import { readXmlAmount } from './amounts.ts';
import {
  Answers,
  dayIn,
  mentionIn,
  type Outcome,
  type ReadResult,
  readReference,
  type Vocabulary,
  vocabulary,
} from './answers.ts';
import { VERIFICATION_STATUSES, verificationOf, verifiedFile } from './verification.ts';
import { type Frame, readXml } from './xml.ts';

const FRAMES = new Set(['OrgnlGrpInfAndSts', 'OrgnlPmtInfAndSts', 'TxInfAndSts']);

/** ExternalPaymentTransactionStatus1Code and ExternalPaymentGroupStatus1Code: settled, refused, and pending. */
const STATUSES: Vocabulary = vocabulary({
  paid: ['ACSC', 'ACCC'],
  rejected: ['RJCT', 'CANC'],
  pending: ['ACCP', 'ACSP', 'ACTC', 'ACFC', 'ACWC', 'ACWP', 'ACPT', 'ACIS', 'PATC', 'PDNG', 'RCVD', 'PRES'],
});
/** Statuses that say nothing about a payment: of a partly accepted file, and of the verification of payees. */
const SILENT = new Set(['PART', 'PACR', 'RVCM', ...VERIFICATION_STATUSES.keys()]);
/** ExternalStatusReason1Code: refused because the bank already has the payment, so the earlier one may be paid. */
const DUPLICATES = new Set(['AM05', 'DUPL', 'DU01', 'DU02', 'DU03', 'DU04', 'DU05']);

/** The outcome of a status with its reason, or why it has none. */
function outcomeOf(status: string, reason: string | null): Outcome | { readonly why: string } {
  const outcome = STATUSES.get(status);
  if (outcome === undefined) return { why: `the status ${JSON.stringify(status.slice(0, 35))} is unknown` };
  if (outcome === 'rejected' && reason !== null && DUPLICATES.has(reason))
    return { why: `refused as a duplicate (${reason}): the payment that the bank already has may be paid` };
  return outcome;
}

const reasonIn = (frame: Frame | null): string | null =>
  frame?.values.get('StsRsnInf/Rsn/Cd') ?? frame?.values.get('StsRsnInf/Rsn/Prtry') ?? null;

/** What a frame states besides its status. The reason is its own, or that of the file it is in. */
function statedBy(
  frame: Frame,
  status: string,
  { reasonOf, file, place }: { reasonOf: Frame; file: string; place: string },
) {
  const of = (path: string) => frame.values.get(path);
  const path = ['OrgnlTxRef/Amt/InstdAmt', 'OrgnlTxRef/IntrBkSttlmAmt'].find(
    (each) => of(each) !== undefined,
  );
  const amount = path === undefined ? undefined : of(path);
  const outcome = STATUSES.get(status);
  return {
    amount: amount === undefined ? null : readXmlAmount(amount),
    currency: (path === undefined ? undefined : of(`${path}@Ccy`))?.toLowerCase() ?? null,
    code: reasonIn(reasonOf) ?? (outcome === 'paid' || outcome === 'rejected' ? null : status),
    words: reasonOf.values.get('StsRsnInf/AddtlInf') ?? null,
    on: dayIn(of('AccptncDtTm')),
    bankReference: of('AcctSvcrRef') ?? null,
    file,
    place,
  };
}

/**
 * Reads a status report (pain.002, versions .03 to .14): by payment, and by file for payments it does not name. Every
 * answer has the id of the file it is about. A report that has verifications of payees and no status of a payment is of the
 * kind `verification`. Throws ResultFileError.
 */
export function readPain002(text: string): ReadResult {
  const found = new Answers();
  found.message = ''; // until the report names it
  let group: Frame | null = null;
  let files = 0;
  let count = 0;
  let hasStatus = false;
  const messageId = () => group?.values.get('OrgnlMsgId') ?? '';
  const noteFile = (frame: Frame, id: string, status: string | undefined) => {
    found.name(id);
    const place = `the status of ${id}`;
    const verified = verifiedFile(frame, group, { file: id, status, place });
    if (verified !== null) found.verifyFile(verified);
    if (status === undefined || SILENT.has(status)) return;
    hasStatus = true;
    const reasonOf = reasonIn(frame) === null && group !== null ? group : frame;
    const outcome = outcomeOf(status, reasonIn(reasonOf));
    if (typeof outcome !== 'string') {
      found.doubt({ kind: 'unclear', of: null, place, message: outcome.why, isAboutLine: false });
      return;
    }
    const [sum, written] = ['OrgnlCtrlSum', 'OrgnlNbOfTxs'].map(
      (path) => frame.values.get(path) ?? group?.values.get(path),
    );
    found.stateFile({
      ...statedBy(frame, status, { reasonOf, file: id, place }),
      outcome,
      amount: sum === undefined ? null : readXmlAmount(sum),
      count: written === undefined ? null : Number(written),
    });
  };
  readXml(text, FRAMES, (frame) => {
    const { values, name } = frame;
    if (name === 'OrgnlGrpInfAndSts') {
      group = frame;
      found.message = messageId();
      found.name(messageId());
    } else if (name === 'OrgnlPmtInfAndSts') {
      files += 1;
      const id = values.get('OrgnlPmtInfId') ?? messageId();
      noteFile(frame, id, values.get('PmtInfSts') ?? group?.values.get('GrpSts'));
    } else {
      count += 1;
      const id = frame.around?.values.get('OrgnlPmtInfId') ?? messageId();
      hasStatus = readPayment(frame, { group, id, count }, found) || hasStatus;
    }
  });
  const whole: Frame | null = group;
  if (whole !== null && files === 0) noteFile(whole, messageId(), (whole as Frame).values.get('GrpSts'));
  return found.of(found.hasVerification && !hasStatus ? 'verification' : 'pain.002');
}

/** Reads the status of one payment in the file with this id. Returns whether it has one that is not of a verification. */
function readPayment(
  frame: Frame,
  { group, id, count }: { group: Frame | null; id: string; count: number },
  found: Answers,
): boolean {
  const { values, around } = frame;
  const own = values.get('TxSts');
  const status = own ?? around?.values.get('PmtInfSts') ?? group?.values.get('GrpSts') ?? '';
  const isSilent = status === '' || SILENT.has(status);
  const place = `transaction ${count}`;
  const written = values.get('OrgnlEndToEndId') ?? '';
  const of = readReference(written);
  if (of === null) {
    found.others += 1;
    const mentioned = mentionIn(written);
    if (mentioned === null) return !isSilent;
    const message = `${JSON.stringify(written.slice(0, 100))} is not exactly the reference of a payment, so it is ignored`;
    found.doubt({ kind: 'inexact_reference', of: mentioned, place, message, isAboutLine: false });
    return !isSilent;
  }
  if (isSilent) {
    const verified = verificationOf(frame, { of, status, file: id, place });
    if (verified === null) found.others += 1;
    else found.verify(verified);
    return false;
  }
  const reasonOf = [frame, around, group].find((each) => each !== null && reasonIn(each) !== null) ?? frame;
  const stated = outcomeOf(status, reasonIn(reasonOf));
  const outcome =
    own === undefined && stated === 'paid' && reasonIn(frame) !== null
      ? { why: 'it has a reason but no status' }
      : stated;
  if (typeof outcome === 'string')
    found.state({ of, outcome, ...statedBy(frame, status, { reasonOf, file: id, place }) });
  else found.doubt({ kind: 'unclear', of, place, message: outcome.why, isAboutLine: true });
  return true;
}
