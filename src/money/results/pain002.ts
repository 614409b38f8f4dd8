import { paymentFileId, readPaymentFileId } from '../../kernel/payment-file-id.ts';
import { Answers, type Outcome, type ReadResult, type SentFile } from './answers.ts';
import { type Frame, readXml } from './xml.ts';

const FRAMES = new Set(['OrgnlGrpInfAndSts', 'OrgnlPmtInfAndSts', 'TxInfAndSts']);

/** ExternalPaymentTransactionStatus1Code: settled, and refused. Everything else is under way. */
const OUTCOMES: Readonly<Record<string, Outcome>> = {
  ACSC: 'paid',
  ACCC: 'paid',
  RJCT: 'rejected',
  CANC: 'rejected',
};
/** Statuses of a file that say nothing of its payments. */
const MIXED = new Set(['PART', 'PACR']);

const outcomeOf = (status: string): Outcome => OUTCOMES[status] ?? 'pending';

/** What a status and its reason say. */
function saidBy(
  frame: Frame | null,
  status: string,
  { reasonOf = frame, place }: { reasonOf?: Frame | null; place: string },
) {
  const of = (path: string) => frame?.values.get(path);
  const code = reasonOf?.values.get('StsRsnInf/Rsn/Cd') ?? reasonOf?.values.get('StsRsnInf/Rsn/Prtry');
  const amount = ['OrgnlTxRef/Amt/InstdAmt', 'OrgnlTxRef/IntrBkSttlmAmt'].find(
    (path) => of(path) !== undefined,
  );
  return {
    outcome: outcomeOf(status),
    amount: (amount === undefined ? undefined : of(amount)) ?? null,
    currency: (amount === undefined ? undefined : of(`${amount}@Ccy`))?.toLowerCase() ?? null,
    code: code ?? (status in OUTCOMES ? null : status),
    words: reasonOf?.values.get('StsRsnInf/AddtlInf') ?? null,
    on: /^\d{4}-\d\d-\d\d/.exec(of('AccptncDtTm') ?? '')?.[0] ?? null,
    bankReference: of('AcctSvcrRef') ?? null,
    place,
  };
}

/**
 * Reads a status report (pain.002, versions .03 to .14): by payment, and for payments it does not name by file. Throws
 * ResultFileError.
 */
export async function readPain002(text: string): Promise<ReadResult> {
  const found = new Answers();
  let group: Frame | null = null;
  let count = 0;
  let payments = 0;
  const noteFile = (file: SentFile | null, status: string | undefined, frame: Frame) => {
    found.name(file);
    if (file === null || status === undefined || MIXED.has(status)) return;
    const written = frame.values.get('OrgnlNbOfTxs') ?? group?.values.get('OrgnlNbOfTxs');
    found.addFile({
      ...saidBy(frame, status, { place: `the status of ${paymentFileId(file)}` }),
      amount: frame.values.get('OrgnlCtrlSum') ?? group?.values.get('OrgnlCtrlSum') ?? null,
      file,
      count: written === undefined ? null : Number(written),
    });
  };
  await readXml(text, FRAMES, (frame) => {
    const { values, name } = frame;
    if (name === 'OrgnlGrpInfAndSts') {
      group = frame;
      found.name(readPaymentFileId(values.get('OrgnlMsgId')));
    } else if (name === 'OrgnlPmtInfAndSts') {
      payments += 1;
      const file = readPaymentFileId(values.get('OrgnlPmtInfId'));
      noteFile(file, values.get('PmtInfSts') ?? group?.values.get('GrpSts'), frame);
    } else {
      count += 1;
      const reference = values.get('OrgnlEndToEndId');
      const status =
        values.get('TxSts') ?? frame.around?.values.get('PmtInfSts') ?? group?.values.get('GrpSts') ?? '';
      if (reference === undefined || status === '' || MIXED.has(status)) {
        found.others += 1;
        return;
      }
      const place = `transaction ${count}`;
      const hasReason = values.has('StsRsnInf/Rsn/Cd') || values.has('StsRsnInf/Rsn/Prtry');
      const reasonOf = hasReason || frame.around === null ? frame : frame.around;
      found.add({ reference, affiliateId: null, ...saidBy(frame, status, { reasonOf, place }) });
    }
  });
  const whole: Frame | null = group;
  if (whole !== null && payments === 0) {
    const { values } = whole as Frame;
    noteFile(readPaymentFileId(values.get('OrgnlMsgId')), values.get('GrpSts'), whole);
  }
  return found.of('pain.002');
}
