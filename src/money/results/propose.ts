import { paymentReference } from '../../terms/payment-reference.ts';
import type { SentFiles } from '../payment-files/sent.ts';
import type { ReadResult } from './answers.ts';
import { type FoundCorrection, findCorrections } from './corrections.ts';
import { judge, sourceOf } from './judge.ts';
import { type AnsweredPayout, type KnownLine, match } from './match.ts';
import type { Problem, ResultLine } from './record.ts';
import { type Verifications, verify } from './verify.ts';

/** The proposal from a file. */
export interface Proposed {
  readonly lines: readonly ResultLine[];
  readonly problems: readonly Problem[];
  readonly verifications: Pick<Verifications, 'shown' | 'kept'>;
  readonly corrections: readonly FoundCorrection[];
}

/**
 * Compares a file's answers with the lines of a payout. `lines` are those of the affiliates it names, and `sent` the
 * payment files of this payout that it names and that were downloaded here. A line with any doubt is a problem and gets
 * no answer.
 */
export function propose(
  read: ReadResult,
  payout: AnsweredPayout,
  lines: readonly KnownLine[],
  sent: SentFiles,
): Proposed {
  const matched = match(read, payout, lines, sent);
  const verifications = verify(read, payout, lines, sent);
  const corrections = findCorrections(read, payout, lines);
  const problems = [...matched.problems, ...verifications.problems, ...corrections.problems];
  const judged: ResultLine[] = [];
  for (const [line, about] of matched.lines) {
    if (about.isInDoubt || about.count === 0) continue;
    const { affiliate_id } = line;
    const reference = paymentReference(payout.number, affiliate_id);
    const result = judge({ ...line, reference }, about, payout, sourceOf(read.kind));
    if ('kind' in result) problems.push({ ...result, affiliate_id, reference });
    else judged.push(result);
  }
  judged.sort((a, b) => a.affiliate_id - b.affiliate_id || (a.currency < b.currency ? -1 : 1));
  return { lines: judged, problems, verifications, corrections: corrections.found };
}
