import { fail, nameSome } from '../../kernel/errors.ts';
import { fromJson, type Json, toJson } from '../../kernel/json.ts';
import { readPaymentFileId } from '../../terms/payment-file-id.ts';
import { bytesOf, type SharedFile } from '../../threads/file-pieces.ts';
import type { WorkOf } from '../../threads/task.ts';
import { possibleIds, readSent, type SentFiles } from '../payment-files/sent.ts';
import { OUTCOMES, type Outcome, type ReadResult, ResultFileError } from './answers.ts';
import type { KnownLine } from './match.ts';
import { type Proposed, propose } from './propose.ts';
import { readResultFile } from './read.ts';
import { type Counts, MOST_PROBLEMS, type Problem } from './record.ts';
import type { PROPOSE } from './tasks.ts';

/** Reads a file and compares it with a payout, in a thread. */
export const proposeResult: WorkOf<typeof PROPOSE> = async ({ file, ignored, payout }, ask) => {
  const read = readFile(file, ignored);
  refuseOthers(read, payout.number);
  const sent = readSent(await ask({ files: JSON.stringify(possibleIds(read.files)) }));
  const affiliates = JSON.stringify(affiliatesIn(read, payout.number, sent));
  const lines = fromJson((await ask({ affiliates })) as Json<KnownLine[]>);
  const found = propose(read, payout, lines, sent);
  const revisions = [...read.files].flatMap((id) => {
    const of = readPaymentFileId(id);
    return of?.payout === payout.number && of.revision !== payout.revision ? [of.revision] : [];
  });
  return {
    kind: read.kind,
    counts: countsOf(found.lines, found.problems.length, {
      lineCount: payout.lineCount,
      others: read.others,
    }),
    lines: toJson([...found.lines]),
    problems: toJson(listed(found.problems)),
    verifications: toJson([...found.verifications.shown]),
    kept: toJson([...found.verifications.kept]),
    corrections: found.corrections,
    madeOn: read.madeOn,
    outdated: payout.status === 'unpaid' ? [...new Set(revisions)].sort((a, b) => a - b) : [],
  };
};

/**
 * The first problem of each kind for each affiliate, so that every affiliate in doubt is listed, and the first that
 * concern no affiliate.
 */
function listed(problems: readonly Problem[]): Problem[] {
  const seen = new Set<string>();
  let others = 0;
  return problems.filter(({ kind, affiliate_id }) => {
    if (affiliate_id === null) {
      others += 1;
      return others <= MOST_PROBLEMS;
    }
    const key = `${affiliate_id} ${kind}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

function readFile(file: SharedFile, ignored: readonly string[]): ReadResult {
  try {
    return readResultFile(bytesOf(file), ignored);
  } catch (error) {
    throw error instanceof ResultFileError ? fail('invalid_file', error.message) : error;
  }
}

/** Throws `result_of_another_payout` for a file that does not mention this payout. */
function refuseOthers({ answers, doubts, verified, corrections, files }: ReadResult, number: number): void {
  const all = new Set<number>();
  for (const { of } of answers) all.add(of.payout ?? number);
  for (const { of } of doubts) if (of !== null) all.add(of.payout);
  for (const { of } of [...verified, ...corrections]) all.add(of.payout);
  for (const file of files) {
    const named = readPaymentFileId(file);
    if (named !== null) all.add(named.payout);
  }
  if (all.has(number)) return;
  const numbers = [...all].sort((a, b) => a - b).map(String);
  const what =
    numbers.length === 0
      ? 'it names none of our payments'
      : `it is about ${numbers.length === 1 ? 'payout' : 'the payouts'} ${nameSome(numbers)}`;
  throw fail('result_of_another_payout', `the file does not mention payout ${number}: ${what}`);
}

/** The affiliates of this payout that a file names, or that a payment file it answers pays. */
function affiliatesIn(
  { answers, doubts, fileAnswers, verified, verifiedFiles, corrections }: ReadResult,
  number: number,
  sent: SentFiles,
): number[] {
  const all = new Set<number>();
  const add = (of: { readonly payout: number | null; readonly affiliate: number }) => {
    if (of.payout === null || of.payout === number) all.add(of.affiliate);
  };
  for (const { of } of answers) add(of);
  for (const { of } of doubts) if (of !== null) add(of);
  for (const { of } of [...verified, ...corrections]) add(of);
  for (const file of new Set([...fileAnswers, ...verifiedFiles].map((answer) => answer.file)))
    for (const { affiliate_ids } of sent.get(file) ?? []) for (const id of affiliate_ids) all.add(id);
  return [...all];
}

function countsOf(
  lines: Proposed['lines'],
  problems: number,
  { lineCount, others }: { readonly lineCount: number; readonly others: number },
): Counts {
  const of = (wanted: Outcome) => lines.filter(({ outcome }) => outcome === wanted).length;
  const [paid, rejected, returned, pending] = OUTCOMES.map(of) as [number, number, number, number];
  const unanswered = lineCount - lines.length;
  return { paid, rejected, returned, pending, unanswered, problems, others };
}
