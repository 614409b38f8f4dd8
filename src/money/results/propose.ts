import { formatDecimal, parseDecimal } from '../../kernel/money.ts';
import { paymentReference, readPaymentReference } from '../../kernel/payment-reference.ts';
import type { Answer, FileAnswer, Outcome, ReadResult, SentFile } from './answers.ts';
import { reasonOf } from './reasons.ts';
import type { Problem, ProblemKind, ResultLine } from './record.ts';

/** A line of the payout as answers are compared with it. */
export interface KnownLine {
  readonly affiliate_id: number;
  readonly name: string | null;
  readonly currency: string;
  /** Minor units: the line, less what Complete carried. */
  readonly due: number;
  readonly is_paid: boolean | null;
  readonly returned: number;
  /** The references of its returns. */
  readonly return_references: readonly string[];
  /** What downloaded payment files pay it, minor units. */
  readonly sent: readonly number[];
}

/** The payments of a SEPA file as it was downloaded. */
export interface SentPayments {
  readonly affiliate_ids: readonly number[];
  /** Minor units, of the affiliate at the same place. */
  readonly amounts: readonly number[];
}

/** A payout, as far as answers concern it. */
export interface Asked {
  readonly number: number;
  readonly status: 'unpaid' | 'paid';
  /** The IBAN that it is paid from; null = the account has none. */
  readonly paidFrom: string | null;
}

/** What a file proposes. */
export interface Proposed {
  readonly lines: readonly ResultLine[];
  readonly problems: readonly Problem[];
}

/** An answer with its amount in minor units; null = the file does not say. */
type Read = Omit<Answer, 'amount'> & { readonly amount: bigint | null };

/** What is found while answers are compared with lines. */
interface Comparing {
  readonly isBank: boolean;
  readonly payout: Asked;
  readonly byAffiliate: ReadonlyMap<number, readonly KnownLine[]>;
  readonly about: Map<KnownLine, Read[]>;
  readonly problems: Problem[];
}

/** Whom a problem is about. */
type Whom = Partial<Pick<Problem, 'affiliate_id' | 'reference'>>;

function tell(
  { problems }: Comparing,
  kind: ProblemKind,
  { affiliate_id = null, reference = null }: Whom,
  message: string,
): void {
  problems.push({ kind, affiliate_id, reference, message });
}

/**
 * Compares what a file says with the lines of a payout. `lines` are those of the affiliates it names, and `filesOf` finds the
 * downloads of a file. Whatever leaves a doubt is a problem, and its line has no answer.
 */
export function propose(
  { kind, answers, fileAnswers }: ReadResult,
  payout: Asked,
  lines: readonly KnownLine[],
  filesOf: (file: SentFile) => readonly SentPayments[],
): Proposed {
  const byAffiliate = new Map<number, KnownLine[]>();
  for (const line of lines)
    byAffiliate.set(line.affiliate_id, [...(byAffiliate.get(line.affiliate_id) ?? []), line]);
  const isBank = /^(camt|pain)/.test(kind);
  const comparing: Comparing = { isBank, payout, byAffiliate, about: new Map(), problems: [] };
  refuseAccounts(comparing, [...answers, ...fileAnswers]);
  for (const answer of answers) if (isOfAccount(payout, answer)) comparePayment(comparing, answer);
  for (const answer of fileAnswers)
    if (isOfAccount(payout, answer)) compareFile(comparing, answer, filesOf(answer.file));
  const judged = [...comparing.about].flatMap(([line, read]) => {
    const { affiliate_id } = line;
    const reference = paymentReference(payout.number, affiliate_id);
    const result = judge({ ...line, reference }, read, { payout, isList: kind === 'paid_list' });
    if (!('kind' in result)) return result;
    tell(comparing, result.kind, { affiliate_id, reference }, result.message);
    return [];
  });
  judged.sort((a, b) => a.affiliate_id - b.affiliate_id || (a.currency < b.currency ? -1 : 1));
  return { lines: judged, problems: comparing.problems };
}

/** Whether it is booked on the account that the payout is paid from, as far as both are known. */
const isOfAccount = ({ paidFrom }: Asked, { account }: Pick<Answer, 'account'>) =>
  paidFrom === null || account === undefined || account === paidFrom;

/** Tells once of each account of which the file is, and which does not pay this payout. */
function refuseAccounts(comparing: Comparing, answers: readonly Pick<Answer, 'account' | 'place'>[]): void {
  const { payout } = comparing;
  const others = answers.filter((answer) => !isOfAccount(payout, answer));
  for (const account of new Set(others.map(({ account = '' }) => account))) {
    const booked = others.filter((answer) => answer.account === account);
    const what = `${booked[0]?.place}: this is booked on the account that ends in ${account.slice(-4)}`;
    const own = `the debtor's ends in ${payout.paidFrom?.slice(-4)}`;
    const rest = booked.length === 1 ? '' : `, and so are ${booked.length - 1} more`;
    tell(comparing, 'other_account', {}, `${what}${rest}, but ${own}`);
  }
}

/** Finds the lines that an answer about one payment is about. */
function comparePayment(comparing: Comparing, answer: Answer): void {
  const { payout, byAffiliate, isBank } = comparing;
  const { place, reference } = answer;
  const named = readPaymentReference(reference);
  const whom: Whom = reference === '' ? {} : { reference };
  if (named !== null && named.payout !== payout.number) {
    tell(comparing, 'other_payout', whom, `${place}: ${reference} is a payment of payout ${named.payout}`);
    return;
  }
  const affiliate = answer.affiliateId ?? named?.affiliate ?? 0;
  const all = byAffiliate.get(affiliate);
  if (all === undefined) {
    const who = reference || `affiliate ${affiliate}`;
    tell(comparing, 'unknown_reference', whom, `${place}: ${who} is not in this payout`);
    return;
  }
  const known: Whom = { ...whom, affiliate_id: affiliate };
  const currency = answer.currency ?? (isBank ? 'eur' : null);
  const lines = all.filter((line) => currency === null || line.currency === currency);
  if (lines.length === 0) {
    const own = all.map((line) => line.currency.toUpperCase()).join(', ');
    const what = `it is in ${currency?.toUpperCase()}, but the payout pays them in ${own}`;
    tell(comparing, 'other_currency', known, `${place}: ${what}`);
    return;
  }
  if (answer.amount !== null && lines.length > 1) {
    const what = 'its amount needs a currency, because the payout pays them in several';
    tell(comparing, 'other_currency', known, `${place}: ${what}`);
    return;
  }
  for (const line of lines) {
    const amount = minorOf(answer.amount, line.currency);
    if (amount !== undefined) note(comparing, line, { ...answer, amount });
    else tell(comparing, 'other_amount', known, `${place}: ${answer.amount} is no amount in this currency`);
  }
}

const note = ({ about }: Comparing, line: KnownLine, answer: Read) =>
  about.set(line, [...(about.get(line) ?? []), answer]);

/** Spreads an answer about a whole file over its payments, except those with an answer of their own. */
function compareFile(comparing: Comparing, answer: FileAnswer, downloads: readonly SentPayments[]): void {
  const { payout, byAffiliate, about } = comparing;
  const { place, file } = answer;
  if (file.payout !== payout.number) {
    tell(comparing, 'other_payout', {}, `${place}: ${idOf(file)} is a file of payout ${file.payout}`);
    return;
  }
  const sent = paymentsOf(answer, downloads);
  if (sent === null) {
    const what = `no file ${idOf(file)} with this sum was downloaded here, so its payments are not known`;
    tell(comparing, 'unknown_file', {}, `${place}: ${what}`);
    return;
  }
  sent.affiliate_ids.forEach((affiliate, index) => {
    const amount = BigInt(sent.amounts[index] ?? 0);
    const reference = paymentReference(payout.number, affiliate);
    const line = byAffiliate.get(affiliate)?.find(({ currency }) => currency === 'eur');
    if (line === undefined) {
      const what = `${idOf(file)} pays ${reference}, which is not in this payout any more`;
      tell(comparing, 'unknown_reference', { reference }, `${place}: ${what}`);
      return;
    }
    // money that came back came back of this payment
    const hasOwn = about.get(line)?.some(({ outcome }) => outcome !== 'returned') ?? false;
    if (!hasOwn) note(comparing, line, { ...answer, reference, affiliateId: affiliate, amount });
  });
}

const idOf = ({ payout, revision, part }: SentFile) => `P${payout}-R${revision}-F${part}`;

/** Minor units; undefined for what is no amount of the currency. Banks may write more zeros than it has digits. */
function minorOf(text: string | null, currency: string): bigint | null | undefined {
  if (text === null) return null;
  let end = text.length;
  if (text.includes('.')) while (text[end - 1] === '0') end -= 1;
  const short = text.slice(0, text[end - 1] === '.' ? end - 1 : end);
  const minor = parseDecimal(short, currency);
  return minor === null || minor < 0n ? undefined : minor;
}

/** The one download that fits what the bank says of the whole file; null when none does, or several differ. */
function paymentsOf({ count, amount }: FileAnswer, downloads: readonly SentPayments[]): SentPayments | null {
  const sum = minorOf(amount, 'eur');
  const fitting = downloads.filter(
    ({ amounts }) =>
      (count === null || count === amounts.length) &&
      (sum === null || sum === amounts.reduce((total, each) => total + BigInt(each), 0n)),
  );
  const kinds = new Set(fitting.map((each) => JSON.stringify([each.affiliate_ids, each.amounts])));
  return kinds.size === 1 ? (fitting[0] ?? null) : null;
}

/** What all final answers about one line come to. */
interface Sums {
  readonly paid: readonly Read[];
  readonly returned: readonly Read[];
  /** What left once, and in all; what came back. Minor units. */
  readonly once: bigint;
  readonly out: bigint;
  readonly back: bigint;
}

type Fault = Pick<Problem, 'kind' | 'message'>;

/** What all answers about one line come to: its outcome, or why that is in doubt. */
function judge(
  line: KnownLine & { readonly reference: string },
  answers: readonly Read[],
  about: { readonly payout: Asked; readonly isList: boolean },
): ResultLine | Fault {
  const final = answers.filter(({ outcome }) => outcome !== 'pending');
  const of = (wanted: Outcome) => final.filter(({ outcome }) => outcome === wanted);
  const [paid, returned] = [of('paid'), of('returned')];
  const due = BigInt(line.due);
  const sumOf = (each: readonly Read[]) => each.reduce((sum, { amount }) => sum + (amount ?? due), 0n);
  const once = paid[0]?.amount ?? due;
  const out = paid.length > 0 ? sumOf(paid) : returned.length > 0 ? due : 0n;
  const sums: Sums = { paid, returned, once, out, back: sumOf(returned) };
  const fault = faultOf(line, final, sums, about);
  if (fault !== null) return fault;
  // paid again after it came back
  const isPaid = paid.length > 0 && (sums.back === 0n || (paid.length > 1 && out - sums.back === once));
  const decisive = isPaid ? paid : returned.length > 0 ? returned : final;
  const said = (decisive.length > 0 ? decisive : answers).at(-1);
  if (said === undefined) throw new Error('a line without an answer');
  const { code, words, bankReference } = said;
  const outcome = isPaid ? 'paid' : returned.length > 0 ? 'returned' : said.outcome;
  const returnedAmount = paid.length > 1 ? once : sums.back;
  const amount = Number(isPaid ? once : returned.length > 0 ? returnedAmount : (said.amount ?? due));
  return {
    affiliate_id: line.affiliate_id,
    name: line.name,
    currency: line.currency,
    reference: line.reference,
    outcome,
    amount,
    line_amount: line.due,
    reason: isPaid ? null : reasonOf(code, words),
    reason_code: isPaid ? null : code,
    booked_on: said.on,
    bank_reference: bankReference?.slice(0, 255) ?? null,
    is_booked: isBooked(line, outcome, { amount, bankReference }),
  };
}

/** What in the answers about a line leaves a doubt; null = nothing. */
function faultOf(
  line: KnownLine,
  final: readonly Read[],
  { paid, returned, once, out, back }: Sums,
  { payout, isList }: { readonly payout: Asked; readonly isList: boolean },
): Fault | null {
  const places = final.map(({ place }) => place).join(', ');
  const money = (amount: bigint) => `${formatDecimal(amount, line.currency)} ${line.currency.toUpperCase()}`;
  const due = BigInt(line.due);
  const fits = (amount: bigint) =>
    amount === due || (amount < due && amount > 0n && (isList || line.sent.includes(Number(amount))));
  const odd = final.find(({ outcome, amount }) => outcome !== 'returned' && amount !== null && !fits(amount));
  const fault = (kind: ProblemKind, what: string): Fault => ({ kind, message: `${places}: ${what}` });
  if (odd !== undefined)
    return fault('other_amount', `it says ${money(odd.amount ?? 0n)}, but the line is ${money(due)}`);
  const isRefused = final.some(({ outcome }) => outcome === 'rejected');
  if (isRefused && paid.length + returned.length > 0)
    return fault('contradiction', 'refused in one place, and paid or returned in another');
  if (back > out) return fault('other_amount', `${money(back)} came back, but ${money(out)} was paid`);
  if (paid.length > 1 && out - back !== once && out !== back)
    return fault('duplicate', `paid ${paid.length} times, ${money(out - back)} in all`);
  if (paid.length > 0 && out !== back && payout.status === 'paid' && line.is_paid === false)
    return fault(
      'contradiction',
      'it was paid, but the payout is completed with this line as not paid, so it is owed again',
    );
  return null;
}

/** Whether the payout says so already. */
function isBooked(
  { is_paid, returned, return_references, due }: KnownLine,
  outcome: Outcome,
  { amount, bankReference }: { amount: number; bankReference: string | null },
): boolean {
  if (is_paid === null || outcome === 'pending') return false;
  if (outcome === 'paid') return is_paid;
  if (!is_paid) return true;
  if (bankReference !== null && return_references.includes(bankReference)) return true;
  return bankReference === null ? returned >= amount : due - returned < amount;
}
