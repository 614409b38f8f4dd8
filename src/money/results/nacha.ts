import { DISPUTE_CODES, RETURN_CODES, readCorrection } from '../../terms/ach-codes.ts';
import {
  type AchEntry,
  Answers,
  type Doubt,
  mentionIn,
  type ReadResult,
  type Reference,
  ResultFileError,
  readReference,
} from './answers.ts';
import { type AchRecord, readAchFile } from './nacha-records.ts';

/** The classes of the batches in our files (`payment-files/nacha-file.ts`). */
const SENT_AS = ['PPD', 'CCD'];
/** Notifications of change. */
const CHANGES = 'COR';
/** Transaction codes for a credit that came back, and for a correction of one: checking, savings, general ledger, loan. */
const OF_CREDITS = ['21', '31', '41', '51'];

/**
 * Reads the returns (addenda 99) and notifications of change (addenda 98) that a bank passes on in a NACHA file. Sources: the record
 * layouts of github.com/moov-io/ach (addenda98.go, addenda99.go, batchCOR.go), and moov-io.github.io/ach/changes. Entries of other
 * classes, such as IAT and CTX, are not ours. Throws ResultFileError.
 */
export function readNacha(text: string): ReadResult {
  const found = new Answers();
  const { madeOn, records } = readAchFile(text);
  found.madeOn = /^\d{6}$/.test(madeOn)
    ? `20${madeOn.slice(0, 2)}-${madeOn.slice(2, 4)}-${madeOn.slice(4)}`
    : null;
  let isReturn = records.length === 0;
  for (const record of records) isReturn = readRecord(record, found) || isReturn;
  if (!isReturn)
    throw new ResultFileError("this is the NACHA file that was sent to the bank: use the bank's answer");
  return found.of('nacha');
}

/** Reads an entry. Returns whether it is a return or a notification of change. */
function readRecord({ line, section, entry, addenda }: AchRecord, found: Answers): boolean {
  const answer = addenda.find((record) => ['98', '99'].includes(record.slice(1, 3)));
  const written = entry.slice(39, 54).trim();
  const of = readReference(written);
  const place = `line ${line}`;
  if (answer === undefined || section === 'IAT') {
    found.others += 1;
    return answer !== undefined;
  }
  if (of === null) {
    found.others += 1;
    const mentioned = mentionIn(written);
    const message = `${JSON.stringify(written)} is not exactly the reference of a payment, so it is ignored`;
    if (mentioned !== null)
      found.doubt({ kind: 'inexact_reference', of: mentioned, place, message, isAboutLine: false });
    return true;
  }
  const isChange = answer.startsWith('798');
  const why = whyNotOurs({ section, entry, isChange });
  const doubt: Omit<Doubt, 'message'> = { kind: 'unclear', of, place, isAboutLine: !isChange };
  if (why !== null) found.doubt({ ...doubt, message: why });
  else if (isChange) readChange({ of, entry, answer, place }, doubt, found);
  else readReturn({ of, entry, answer, place }, doubt, found);
  return true;
}

function whyNotOurs({
  section,
  entry,
  isChange,
}: {
  section: string;
  entry: string;
  isChange: boolean;
}): string | null {
  const classes = isChange ? [CHANGES] : SENT_AS;
  if (!classes.includes(section))
    return `its batch is of the class ${JSON.stringify(section)}, and it should be ${classes.join(' or ')}`;
  const code = entry.slice(1, 3);
  return OF_CREDITS.includes(code)
    ? null
    : `its transaction code is ${code}, which is not that of a credit that came back`;
}

/** What an entry and its addenda state. */
interface Stated {
  readonly of: Reference;
  readonly entry: string;
  /** The addenda. */
  readonly answer: string;
  readonly place: string;
}

const entryOf = ({ entry, answer }: Stated): AchEntry => ({
  trace: answer.slice(6, 21).trim().padStart(15, '0'),
  bank: answer.slice(27, 35).trim(),
  lastFour: entry.slice(12, 29).trim().slice(-4),
});

function readReturn(stated: Stated, doubt: Omit<Doubt, 'message'>, found: Answers): void {
  const { of, entry, answer, place } = stated;
  const code = answer.slice(3, 6);
  const dispute = DISPUTE_CODES.get(code);
  if (dispute !== undefined) {
    found.doubt({ ...doubt, message: `${code}: ${dispute}. Ask your bank whether the money came back` });
    return;
  }
  if (!RETURN_CODES.has(code)) {
    found.doubt({ ...doubt, message: `the return reason code ${JSON.stringify(code)} is unknown` });
    return;
  }
  const cents = entry.slice(29, 39);
  const words = answer.slice(35, 79).trim();
  found.state({
    of,
    outcome: 'returned',
    amount: [`${cents.slice(0, 8)}.${cents.slice(8)}`],
    currency: 'usd',
    code,
    words: words === '' ? null : words,
    on: found.madeOn,
    bankReference: entry.slice(79, 94).trim() || null,
    file: null,
    place,
    entry: entryOf(stated),
  });
}

function readChange(stated: Stated, doubt: Omit<Doubt, 'message'>, found: Answers): void {
  const { of, answer, place } = stated;
  const code = answer.slice(3, 6);
  const corrected = readCorrection(code, answer.slice(35, 64));
  if ('rule' in corrected) found.doubt({ ...doubt, message: `${code}: ${corrected.rule}` });
  else found.correct({ of, entry: entryOf(stated), code, corrected: corrected.value, place });
}
