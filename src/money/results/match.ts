import type { DestinationId } from '../../kernel/ids.ts';
import { paymentReference } from '../../terms/payment-reference.ts';
import type { SentFiles, SentPayments } from '../payment-files/sent.ts';
import { accountOfEntry, type KnownPayments } from './ach-entry.ts';
import { minorOf } from './amounts.ts';
import type { Answer, Doubt, FileAnswer, ReadResult, Reference } from './answers.ts';
import type { Problem, ProblemKind } from './record.ts';

/** Where a line is paid, with the data that a verification is compared with. */
export interface KnownDestination {
  readonly id: DestinationId;
  readonly type: string;
  readonly holder_in_files: string | null;
  readonly last_four: string | null;
  /** When the affiliate's destinations were last changed, in milliseconds since 1970. */
  readonly changed_at: number;
}

/** A line of the payout, with the data that answers are compared with. */
export interface KnownLine extends KnownPayments {
  readonly affiliate_id: number;
  readonly name: string | null;
  readonly currency: string;
  /** Minor units: the line, less the amount Complete carried. */
  readonly due: number;
  readonly is_paid: boolean | null;
  readonly returned: number;
  /** The references of its returns. */
  readonly return_references: readonly string[];
  /** The amounts that downloaded payment files pay it, in minor units. */
  readonly sent: readonly number[];
  /** Where it is paid; null = it has no destination. */
  readonly destination: KnownDestination | null;
}

/** The payout that answers are compared with. */
export interface AnsweredPayout {
  readonly number: number;
  readonly status: 'unpaid' | 'paid';
  /** The IBAN it is paid from; null = the account has none. */
  readonly paidFrom: string | null;
}

/** An answer about a line, with its amount in minor units; null = not stated. */
export type Heard = Omit<Answer, 'amount' | 'of'> & {
  readonly amount: bigint | null;
  /** Stated about the whole file that contains the payment. */
  readonly isOfFile?: true;
};

/** The answers about a line. */
export interface HeardLine {
  /** The first `MOST_HEARD` of them. */
  readonly heard: Heard[];
  /** Their total number. */
  count: number;
  /** A problem about this line was reported. */
  isInDoubt: boolean;
}

/** Answers kept per line: more than a few are never one payment. */
const MOST_HEARD = 20;
/** Answers read per payment file. */
const MOST_OF_FILE = 5;

/** The result of comparing answers with lines. */
export interface Matched {
  readonly lines: ReadonlyMap<KnownLine, HeardLine>;
  readonly problems: readonly Problem[];
}

interface Matching {
  readonly isBank: boolean;
  readonly payout: AnsweredPayout;
  readonly byAffiliate: ReadonlyMap<number, readonly KnownLine[]>;
  readonly sent: SentFiles;
  readonly lines: Map<KnownLine, HeardLine>;
  readonly problems: Problem[];
  /** The amounts that a payment file pays its affiliates, computed on first use. */
  readonly amounts: Map<string, ReadonlyMap<number, ReadonlySet<number>>>;
}

/** The subject of a problem. */
type ProblemSubject = Partial<Pick<Problem, 'affiliate_id' | 'reference'>>;

function addProblem(
  { problems }: Pick<Matching, 'problems'>,
  kind: ProblemKind,
  { affiliate_id = null, reference = null }: ProblemSubject,
  message: string,
): void {
  problems.push({ kind, affiliate_id, reference, message });
}

const refer = ({ payout, affiliate }: Reference) => paymentReference(payout, affiliate);

/**
 * Finds the lines that a file is about, in one pass. Reports as a problem what does not exactly name a line of this
 * payout, what is booked on another account, and answers to a message that was not downloaded here.
 */
export function match(
  read: ReadResult,
  payout: AnsweredPayout,
  known: readonly KnownLine[],
  sent: SentFiles,
): Matched {
  const byAffiliate = new Map<number, KnownLine[]>();
  for (const line of known) {
    const lines = byAffiliate.get(line.affiliate_id);
    if (lines === undefined) byAffiliate.set(line.affiliate_id, [line]);
    else lines.push(line);
  }
  const isBank = read.kind.startsWith('camt') || read.kind === 'pain.002';
  const matching: Matching = {
    isBank,
    payout,
    byAffiliate,
    sent,
    lines: new Map(),
    problems: [],
    amounts: new Map(),
  };
  if (read.message !== null && !sent.has(read.message)) {
    const what =
      read.message === '' ? 'it names no message' : `it answers the message ${shown(read.message)}`;
    addProblem(matching, 'unknown_file', {}, `${what}, which is not a file downloaded here for this payout`);
    return matching;
  }
  const isOwn = refuseAccounts(matching, [...read.answers, ...read.fileAnswers, ...read.doubts]);
  for (const answer of read.answers) if (isOwn(answer)) matchPayment(matching, answer, read.message !== null);
  matchFiles(matching, read.fileAnswers.filter(isOwn));
  for (const doubt of read.doubts) if (isOwn(doubt)) noteDoubt(matching, doubt);
  return matching;
}

const shown = (text: string) => JSON.stringify(text.slice(0, 60));

/**
 * Reports each account in the file that does not pay this payout, once. Returns a predicate: whether an answer is booked
 * on the debtor's account, as far as both are known.
 */
function refuseAccounts(
  matching: Matching,
  all: readonly Pick<Answer, 'account' | 'place'>[],
): (answer: Pick<Answer, 'account'>) => boolean {
  const { paidFrom } = matching.payout;
  const isOwn = ({ account }: Pick<Answer, 'account'>) =>
    paidFrom === null || account === undefined || account === paidFrom;
  const others = new Map<string, { readonly first: string; count: number }>();
  for (const answer of all) {
    if (isOwn(answer)) continue;
    const { account = '', place } = answer;
    const other = others.get(account) ?? { first: place, count: 0 };
    other.count += 1;
    others.set(account, other);
  }
  for (const [account, { first, count }] of others) {
    const what = `${first}: booked on the account that ends in ${account.slice(-4)}`;
    const rest = count === 1 ? '' : `, and so are ${count - 1} more`;
    addProblem(
      matching,
      'other_account',
      {},
      `${what}${rest}, but the debtor's ends in ${paidFrom?.slice(-4)}`,
    );
  }
  return isOwn;
}

/** The lines of an affiliate that an answer can be about. Reports a problem if there are none. */
function linesOf(
  matching: Matching,
  of: Answer['of'],
  { place, currency }: { place: string; currency: string | null },
): { readonly lines: readonly KnownLine[]; readonly subject: ProblemSubject } | null {
  const { payout, byAffiliate } = matching;
  const subject: ProblemSubject = of.payout === null ? {} : { reference: refer(of) };
  const who = subject.reference ?? `affiliate ${of.affiliate}`;
  if (of.payout !== null && of.payout !== payout.number) {
    addProblem(matching, 'other_payout', subject, `${place}: ${who} is a payment of payout ${of.payout}`);
    return null;
  }
  const all = byAffiliate.get(of.affiliate);
  if (all === undefined) {
    addProblem(matching, 'unknown_reference', subject, `${place}: ${who} is not in this payout`);
    return null;
  }
  const known: ProblemSubject = { ...subject, affiliate_id: of.affiliate };
  const lines = all.filter((line) => currency === null || line.currency === currency);
  if (lines.length > 0) return { lines, subject: known };
  const own = all.map((line) => line.currency.toUpperCase()).join(', ');
  const what = `it is in ${currency?.toUpperCase()}, but the payout pays them in ${own}`;
  addProblem(matching, 'other_currency', known, `${place}: ${what}`);
  for (const line of all) heardOf(matching, line).isInDoubt = true;
  return null;
}

function heardOf({ lines }: Matching, line: KnownLine): HeardLine {
  const heard = lines.get(line) ?? { heard: [], count: 0, isInDoubt: false };
  lines.set(line, heard);
  return heard;
}

function note(matching: Matching, line: KnownLine, answer: Heard): void {
  const about = heardOf(matching, line);
  about.count += 1;
  if (about.heard.length < MOST_HEARD) about.heard.push(answer);
}

/** Finds the lines that an answer about one payment concerns. */
function matchPayment(matching: Matching, answer: Answer, isOfMessage: boolean): void {
  const { of, place } = answer;
  const currency = answer.currency ?? (matching.isBank ? 'eur' : null);
  const found = linesOf(matching, of, { place, currency });
  if (found === null) return;
  const { lines, subject } = found;
  const { of: _, amount: written, ...rest } = answer;
  for (const line of lines) {
    const amount =
      written !== null && lines.length > 1
        ? doubt('other_currency', 'its amount needs a currency, because the payout pays them in several')
        : amountOf(matching, answer, line, isOfMessage);
    if (typeof amount !== 'object' || amount === null) {
      note(matching, line, { ...rest, amount });
      continue;
    }
    addProblem(matching, amount.kind, subject, `${place}: ${amount.message}`);
    for (const each of lines) heardOf(matching, each).isInDoubt = true;
    return;
  }
}

type Fault = Pick<Problem, 'kind' | 'message'>;
const doubt = (kind: ProblemKind, message: string): Fault => ({ kind, message });

/** The amount of an answer in minor units of the line, or of the payment file it names; null if neither states one. */
function amountOf(
  matching: Matching,
  answer: Answer,
  line: KnownLine,
  isOfMessage: boolean,
): bigint | null | Fault {
  const { amount: written } = answer;
  const { currency } = line;
  const amount = written === null ? null : minorOf(written, currency);
  if (amount === undefined) {
    const what = written?.join(' or ') || 'the stated amount';
    return doubt('other_amount', `${what} is not an unambiguous amount in ${currency.toUpperCase()}`);
  }
  if (answer.entry !== undefined) {
    const account = accountOfEntry(answer.entry, line, amount === null ? null : Number(amount));
    if ('kind' in account) return account;
  }
  return isOfMessage ? sentAmount(matching, answer, amount) : amount;
}

/** The amount of a payment in the file that an answer names, or why it is not a payment of that file. */
function sentAmount(matching: Matching, { of, file }: Answer, stated: bigint | null): bigint | Fault {
  const name = shown(file ?? '');
  const downloads = matching.sent.get(file ?? '');
  if (downloads === undefined)
    return doubt('unknown_file', `it is about ${name}, which is not a file downloaded here for this payout`);
  const amounts = amountsIn(matching, file ?? '', downloads).get(of.affiliate);
  if (amounts === undefined)
    return doubt('unknown_file', `${name} has no payment to affiliate ${of.affiliate}`);
  if (stated !== null) return stated;
  const [only] = amounts;
  return amounts.size === 1 && only !== undefined
    ? BigInt(only)
    : doubt('other_amount', `it has no amount, and ${name} was downloaded with several`);
}

function amountsIn(
  { amounts }: Matching,
  file: string,
  downloads: readonly SentPayments[],
): ReadonlyMap<number, ReadonlySet<number>> {
  const known = amounts.get(file);
  if (known !== undefined) return known;
  const found = new Map<number, Set<number>>();
  for (const download of downloads)
    download.affiliate_ids.forEach((affiliate, index) => {
      const all = found.get(affiliate) ?? new Set();
      found.set(affiliate, all.add(download.amounts[index] ?? 0));
    });
  amounts.set(file, found);
  return found;
}

/** Processes answers about whole files, each file once. */
function matchFiles(matching: Matching, answers: readonly FileAnswer[]): void {
  const byFile = new Map<string, FileAnswer[]>();
  for (const answer of answers) {
    const all = byFile.get(answer.file);
    if (all === undefined) byFile.set(answer.file, [answer]);
    else all.push(answer);
  }
  for (const [file, all] of byFile) {
    if (all.length > MOST_OF_FILE) {
      const what = `${all.length} bookings are about the whole file ${shown(file)}, so it is not clear which one paid it`;
      addProblem(matching, 'duplicate', {}, `${all[0]?.place}: ${what}`);
    } else for (const answer of all) matchFile(matching, answer);
  }
}

/** Applies an answer about a whole file to its payments, except those with an answer of their own. */
function matchFile(matching: Matching, answer: FileAnswer): void {
  const { payout, byAffiliate, lines } = matching;
  const { place, file } = answer;
  const downloads = matching.sent.get(file);
  const sent = downloads === undefined ? null : paymentsOf(answer, downloads);
  if (sent === null) {
    const what = `no file ${shown(file)} with this sum was downloaded here for this payout, so its payments are unknown`;
    addProblem(matching, 'unknown_file', {}, `${place}: ${what}`);
    return;
  }
  const { count: _, ...rest } = answer;
  sent.affiliate_ids.forEach((affiliate, index) => {
    const amount = BigInt(sent.amounts[index] ?? 0);
    const reference = paymentReference(payout.number, affiliate);
    const line = byAffiliate.get(affiliate)?.find(({ currency }) => currency === 'eur');
    if (line === undefined) {
      const what = `${file} pays ${reference}, which is no longer in this payout`;
      addProblem(matching, 'unknown_reference', { reference }, `${place}: ${what}`);
      return;
    }
    // a return may be the return of this payment
    const hasOwn =
      lines.get(line)?.heard.some((heard) => heard.outcome !== 'returned' && !heard.isOfFile) ?? false;
    if (!hasOwn) note(matching, line, { ...rest, amount, isOfFile: true });
  });
}

/**
 * The only download that fits the bank's statement about the whole file; null if none fits, or several different ones.
 */
function paymentsOf({ count, amount }: FileAnswer, downloads: readonly SentPayments[]): SentPayments | null {
  const sum = amount === null ? null : minorOf(amount, 'eur');
  if (sum === undefined) return null;
  const fitting = downloads.filter(
    ({ amounts }) =>
      (count === null || count === amounts.length) &&
      (sum === null || sum === amounts.reduce((total, each) => total + BigInt(each), 0n)),
  );
  return fitting.length === 1 ? (fitting[0] ?? null) : null;
}

/** Reports a mention without a clear result. */
function noteDoubt(matching: Matching, { kind, of, place, message, isAboutLine }: Doubt): void {
  if (of === null) {
    addProblem(matching, kind, {}, `${place}: ${message}`);
    return;
  }
  if (kind === 'inexact_reference' && of.payout !== matching.payout.number) return;
  const found = linesOf(matching, of, { place, currency: null });
  if (found === null) return;
  addProblem(
    matching,
    kind,
    isAboutLine ? found.subject : { reference: found.subject.reference ?? null },
    `${place}: ${message}`,
  );
  if (isAboutLine) for (const line of found.lines) heardOf(matching, line).isInDoubt = true;
}
