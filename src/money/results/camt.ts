import { readPaymentFileId } from '../../kernel/payment-file-id.ts';
import {
  type Answer,
  Answers,
  type FileAnswer,
  type Outcome,
  type ReadResult,
  referenceIn,
} from './answers.ts';
import { type Frame, readXml } from './xml.ts';

const FRAMES = new Set(['Acct', 'Ntry', 'TxDtls']);
const NO_REFERENCE = /^(NOTPROVIDED|NOT PROVIDED|NOTAVAILABLE|-)?$/i;

/**
 * Reads a statement (camt.053) or notification (camt.054) of a bank, versions .02 to .13. Money that went out is paid, money
 * that came back is returned, and entries that are not booked are pending. An entry that books a whole file without its
 * payments is an answer about the file. Throws ResultFileError.
 */
export async function readCamt(text: string, kind: 'camt.053' | 'camt.054'): Promise<ReadResult> {
  const found = new Answers();
  let entries = 0;
  let details: Frame[] = [];
  let account: string | undefined;
  await readXml(text, FRAMES, (frame) => {
    if (frame.name === 'Acct') {
      account = frame.values.get('Id/IBAN'); // it stands before the entries of its statement
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

function readEntry(entry: Frame, details: readonly Frame[], at: Place, found: Answers): void {
  const { values } = entry;
  const status = values.get('Sts/Cd') ?? values.get('Sts') ?? 'BOOK';
  const fileId = values.get('NtryDtls/Btch/PmtInfId') ?? values.get('NtryDtls/Btch/MsgId');
  found.name(readPaymentFileId(fileId));
  if (status === 'INFO') {
    found.others += 1;
    return;
  }
  let told = 0;
  for (const detail of details) {
    const answer = answerOf(entry, detail, { ...at, isAlone: details.length === 1, status });
    if (answer === null) continue;
    found.name(readPaymentFileId(detail.values.get('Refs/PmtInfId') ?? detail.values.get('Refs/MsgId')));
    found.add(answer);
    told += 1;
  }
  if (told > 0) return;
  const [only] = details;
  const named = readPaymentFileId(
    fileId ?? only?.values.get('Refs/PmtInfId') ?? only?.values.get('Refs/MsgId'),
  );
  if (named === null) {
    found.others += 1;
    return;
  }
  const count = values.get('NtryDtls/Btch/NbOfTxs');
  const answer: FileAnswer = {
    ...saidBy(entry, null, { ...at, isAlone: true, status }),
    file: named,
    count: count === undefined ? null : Number(count),
  };
  found.addFile(answer);
}

interface Place {
  /** Where in the file. */
  readonly place: string;
  /** The IBAN of the statement; undefined = it has none. */
  readonly account: string | undefined;
}

interface Where extends Place {
  /** The entry has no other payment, so its amount is that of the payment. */
  readonly isAlone: boolean;
  readonly status: string;
}

function answerOf(entry: Frame, detail: Frame, where: Where): Answer | null {
  const { values } = detail;
  const id = values.get('Refs/EndToEndId') ?? '';
  const reference = referenceIn(NO_REFERENCE.test(id) ? values.get('RmtInf/Ustrd') : id);
  if (reference === null) return null;
  return { reference, affiliateId: null, ...saidBy(entry, detail, where) };
}

/** What an entry, or one payment in it, says; a payment's own fields go before those of the entry. */
function saidBy(entry: Frame, detail: Frame | null, { place, account, isAlone, status }: Where) {
  const own = (path: string) => detail?.values.get(path);
  const either = (path: string) => own(path) ?? entry.values.get(path);
  const amountPath = ['Amt', 'AmtDtls/TxAmt/Amt', 'AmtDtls/InstdAmt/Amt'].find(
    (path) => own(path) !== undefined,
  );
  const from = amountPath === undefined && isAlone ? entry.values : (detail?.values ?? entry.values);
  const path = amountPath ?? 'Amt';
  return {
    outcome: outcomeOf(status, either('CdtDbtInd')),
    amount: from.get(path) ?? null,
    currency: from.get(`${path}@Ccy`)?.toLowerCase() ?? null,
    code: own('RtrInf/Rsn/Cd') ?? own('RtrInf/Rsn/Prtry') ?? null,
    words: own('RtrInf/AddtlInf') ?? null,
    on: dayIn(entry.values.get('BookgDt/Dt') ?? entry.values.get('BookgDt/DtTm')),
    bankReference: either('Refs/AcctSvcrRef') ?? entry.values.get('AcctSvcrRef') ?? own('Refs/TxId') ?? null,
    ...(account === undefined ? {} : { account }),
    place,
  };
}

const dayIn = (text: string | undefined) => /^\d{4}-\d\d-\d\d/.exec(text ?? '')?.[0] ?? null;

function outcomeOf(status: string, direction: string | undefined): Outcome {
  if (status !== 'BOOK') return 'pending';
  return direction === 'CRDT' ? 'returned' : 'paid';
}
