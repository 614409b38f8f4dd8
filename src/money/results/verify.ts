import { paymentReference } from '../../terms/payment-reference.ts';
import type { KeptVerification, Verification } from '../ledger/verifications.ts';
import type { SentFiles } from '../payment-files/sent.ts';
import type { ReadResult, Verified, VerifiedFile } from './answers.ts';
import type { AnsweredPayout, KnownLine } from './match.ts';
import { reasonOf } from './reasons.ts';
import type { Problem, ProblemKind, ResultVerification } from './record.ts';

/** The verifications of a file. */
export interface Verifications {
  readonly shown: readonly ResultVerification[];
  readonly kept: readonly KeptVerification[];
  readonly problems: readonly Problem[];
}

/** A verification with the line that it is about. */
interface OfLine extends Omit<Verified, 'of'> {
  readonly line: KnownLine;
}

/**
 * Finds the lines whose payees a file verifies. A report of a bank counts only for payments of a file that was downloaded here, and only
 * if where the affiliate is paid has not changed since. A list counts for the name and the IBAN that it repeats. Everything else is a
 * problem.
 */
export function verify(
  { verified, verifiedFiles, message }: ReadResult,
  payout: AnsweredPayout,
  known: readonly KnownLine[],
  sent: SentFiles,
): Verifications {
  if (message !== null && !sent.has(message)) return { shown: [], kept: [], problems: [] };
  const problems: Problem[] = [];
  const add = (kind: ProblemKind, affiliate: number | null, what: string) => {
    const reference = affiliate === null ? null : paymentReference(payout.number, affiliate);
    problems.push({ kind, affiliate_id: affiliate, reference, message: what });
  };
  // SEPA files pay in euros
  const lines = new Map(
    known.filter(({ currency }) => currency === 'eur').map((line) => [line.affiliate_id, line]),
  );
  const found = new Map<KnownLine, OfLine[]>();
  const payees = new Map(
    [...sent].map(([file, all]) => [file, new Set(all.flatMap(({ affiliate_ids }) => affiliate_ids))]),
  );
  const paid = (file: string): ReadonlySet<number> => payees.get(file) ?? new Set();
  const listed = new Map<string, Verified[]>();
  for (const each of verified) {
    const { of, file, place } = each;
    if (file !== null) {
      const inFile = listed.get(file) ?? [];
      listed.set(file, inFile);
      inFile.push(each);
    }
    const line = lines.get(of.affiliate);
    const reference = paymentReference(of.payout, of.affiliate);
    if (of.payout !== payout.number)
      add('other_payout', null, `${place}: ${reference} is a payment of payout ${of.payout}`);
    else if (line === undefined)
      add('unknown_reference', null, `${place}: ${reference} is not in this payout`);
    else if (file !== null && !paid(file).has(of.affiliate))
      add('unknown_file', of.affiliate, `${place}: ${JSON.stringify(file)} has no payment to this affiliate`);
    else {
      const all = found.get(line) ?? [];
      found.set(line, all);
      all.push({ ...each, line });
    }
  }
  for (const file of verifiedFiles) {
    const others = unlisted(file, listed.get(file.file) ?? [], paid(file.file));
    if (typeof others === 'string') add('unclear', null, `${file.place}: ${others}`);
    else
      for (const affiliate of others) {
        const line = lines.get(affiliate);
        if (line !== undefined && !found.has(line)) found.set(line, [{ ...MATCH, ...file, line }]);
      }
  }
  const shown: ResultVerification[] = [];
  const kept: KeptVerification[] = [];
  for (const [line, [first, ...more]] of found) {
    if (first === undefined) continue;
    const problem = more.some(
      ({ result, bankName }) => result !== first.result || bankName !== first.bankName,
    )
      ? (['contradiction', 'the file has several results for this payee'] as const)
      : otherPayee(first, changedAfter(sent, first));
    if (problem !== null) add(problem[0], line.affiliate_id, `${first.place}: ${problem[1]}`);
    else if (line.destination !== null) {
      const result = shownOf(first, payout.number);
      shown.push(result);
      const { bank_name, reason, reason_code } = result;
      const destination_id = line.destination.id;
      kept.push({
        destination_id,
        result: first.result,
        bank_name,
        reason,
        reason_code,
        payment_file: first.file,
      });
    }
  }
  shown.sort((a, b) => a.affiliate_id - b.affiliate_id);
  return { shown, kept, problems };
}

const MATCH = {
  result: 'match' as Verification,
  bankName: null,
  code: null,
  words: null,
  name: null,
  iban: null,
};

/** The payees of a file that match because the bank does not list them, or why that is unclear. */
function unlisted(
  { counts, file }: VerifiedFile,
  listed: readonly Verified[],
  all: ReadonlySet<number>,
): readonly number[] | string {
  const named = new Set(listed.map(({ of }) => of.affiliate));
  const others = [...all].filter((affiliate) => !named.has(affiliate));
  if (counts === null) return others;
  const of = (wanted: Verification) => listed.filter(({ result }) => result === wanted).length;
  const isWhole =
    of('match') + others.length === (counts.get('match') ?? 0) &&
    (['close_match', 'no_match', 'not_possible'] as const).every(
      (each) => of(each) === (counts.get(each) ?? 0),
    );
  const what = `its numbers by result are not those of the payments in ${JSON.stringify(file)}`;
  return isWhole ? others : `${what}, so the payees that it does not list have no result`;
}

/** Whether the affiliate's destination changed after the last download of the file. */
const changedAfter = (sent: SentFiles, { file, line }: OfLine): boolean =>
  file !== null &&
  (line.destination?.changed_at ?? 0) >
    Math.max(...(sent.get(file) ?? []).map(({ downloaded_at }) => downloaded_at));

const spelled = (name: string) => name.toUpperCase().replaceAll(/\s+/g, ' ').trim();

/** Why a verification is about another payee than the line has now; null = it is about this one. */
function otherPayee(
  { line: { destination }, name, iban }: OfLine,
  isChanged: boolean,
): readonly [ProblemKind, string] | null {
  const holder = destination?.holder_in_files ?? null;
  if (destination === null || destination.type !== 'sepa' || holder === null)
    return ['other_payee', 'the affiliate has no bank account in SEPA now'];
  if (isChanged)
    return ['other_payee', 'where the affiliate is paid was changed after the file was downloaded'];
  if (name !== null && spelled(name) !== spelled(holder))
    return [
      'other_payee',
      `the bank checked ${JSON.stringify(name)}, but the account holder is ${JSON.stringify(holder)}`,
    ];
  if (iban !== null && iban.slice(-4) !== destination.last_four)
    return [
      'other_payee',
      `the bank checked the account that ends in ${iban.slice(-4)}, but this one ends in ${destination.last_four}`,
    ];
  return null;
}

function shownOf({ line, result, bankName, code, words }: OfLine, payout: number): ResultVerification {
  const { affiliate_id, name, currency, destination } = line;
  return {
    affiliate_id,
    name,
    currency,
    reference: paymentReference(payout, affiliate_id),
    result,
    account_holder: destination?.holder_in_files ?? null,
    bank_name: bankName,
    reason: result === 'match' ? null : reasonOf(code, words),
    reason_code: code,
  };
}
