import { formatDecimal } from '../../kernel/money.ts';
import type { Outcome, ResultKind } from './answers.ts';
import type { AnsweredPayout, Heard, HeardLine, KnownLine } from './match.ts';
import { reasonOf } from './reasons.ts';
import type { Problem, ProblemKind, ResultLine } from './record.ts';

type Fault = Pick<Problem, 'kind' | 'message'>;
type Named = KnownLine & { readonly reference: string };

/**
 * Several messages of a bank may concern one payment. Each transaction of a provider is one payment. A list is a person's
 * statement.
 */
type Source = 'bank' | 'provider' | 'list';
export const sourceOf = (kind: ResultKind): Source =>
  kind === 'paid_list' ? 'list' : kind === 'paypal' || kind === 'wise' ? 'provider' : 'bank';

/** Combines all answers about a line: its outcome, or why that is in doubt. */
export function judge(
  line: Named,
  about: HeardLine,
  payout: AnsweredPayout,
  source: Source,
): ResultLine | Fault {
  const { heard, count } = about;
  if (count > heard.length)
    return {
      kind: 'duplicate',
      message: `${placesOf(heard, count)}: ${count} entries are about this payment`,
    };
  if (source === 'provider') return judgeTransactions(line, heard, payout);
  return judgeBookings(line, heard, payout, source);
}

/** The places of answers, for a message. */
function placesOf(heard: readonly Heard[], count = heard.length): string {
  const named = heard.slice(0, 5).map(({ place }) => place);
  return count > named.length ? `${named.join(', ')} and ${count - named.length} more` : named.join(', ');
}

const moneyOf = ({ currency }: KnownLine, amount: bigint) =>
  `${formatDecimal(amount, currency)} ${currency.toUpperCase()}`;

/** Whether an amount can be this payment: the whole line, or what a payment file pays of it; for a list also any part. */
function fits({ due, sent }: KnownLine, amount: bigint, source: Source): boolean {
  if (amount === BigInt(due)) return true;
  return amount > 0n && amount < BigInt(due) && (source === 'list' || sent.includes(Number(amount)));
}

const otherAmount = (line: Named, heard: readonly Heard[], amount: bigint): Fault => ({
  kind: 'other_amount',
  message: `${placesOf(heard)}: the amount is ${moneyOf(line, amount)}, but the line is ${moneyOf(line, BigInt(line.due))}`,
});

/** For providers, every transaction is a payment, so there must be exactly one, unless all were refused. */
function judgeTransactions(line: Named, heard: readonly Heard[], payout: AnsweredPayout): ResultLine | Fault {
  const transactions = new Map(heard.map((each) => [transactionOf(each), each]));
  const all = [...transactions.values()];
  const last = all.at(-1);
  if (last === undefined) throw new Error('a line without an answer');
  if (all.length > 1 && all.some(({ outcome }) => outcome !== 'rejected')) {
    const words = all
      .slice(0, 5)
      .map(({ outcome }) => outcome)
      .join(', ');
    return {
      kind: 'duplicate',
      message: `${placesOf(all)}: ${all.length} transactions have this reference (${words}), so it may have been paid more than once`,
    };
  }
  const odd = all.find(({ amount }) => amount === null || !fits(line, amount, 'provider'));
  if (odd !== undefined) return otherAmount(line, all, odd.amount ?? 0n);
  return (
    completedOtherwise(line, all, payout) ??
    lineOf(line, last, last.outcome, Number(last.amount ?? BigInt(line.due)))
  );
}

/** Two lines of a file are the same transaction only if both state the same. */
const transactionOf = ({ bankReference, outcome, amount, place }: Heard): string =>
  bankReference === null ? place : JSON.stringify([bankReference, outcome, String(amount)]);

/** Money left, but the payout was completed with this line as not paid. */
function completedOtherwise(line: Named, paid: readonly Heard[], { status }: AnsweredPayout): Fault | null {
  if (!paid.some(({ outcome }) => outcome === 'paid') || status !== 'paid' || line.is_paid !== false)
    return null;
  const what = 'it was paid, but the payout was completed with this line as not paid, so it is owed again';
  return { kind: 'contradiction', message: `${placesOf(paid)}: ${what}` };
}

/** For banks and lists, bookings of one payment add up. */
function judgeBookings(
  line: Named,
  heard: readonly Heard[],
  payout: AnsweredPayout,
  source: Source,
): ResultLine | Fault {
  const of = (wanted: Outcome) => heard.filter(({ outcome }) => outcome === wanted);
  const [paid, returned, rejected, pending] = [of('paid'), of('returned'), of('rejected'), of('pending')];
  const final = heard.filter(({ outcome }) => outcome !== 'pending');
  const due = BigInt(line.due);
  const sumOf = (each: readonly Heard[]) => each.reduce((sum, { amount }) => sum + (amount ?? due), 0n);
  const once = paid[0]?.amount ?? due;
  const out = paid.length > 0 ? sumOf(paid) : returned.length > 0 ? due : 0n;
  const back = sumOf(returned);
  const fault = (kind: ProblemKind, what: string): Fault => ({
    kind,
    message: `${placesOf(final)}: ${what}`,
  });
  const odd = final.find(
    ({ outcome, amount }) => outcome !== 'returned' && amount !== null && !fits(line, amount, source),
  );
  if (odd !== undefined) return otherAmount(line, final, odd.amount ?? 0n);
  if (rejected.length > 0 && paid.length + returned.length > 0)
    return fault('contradiction', 'refused in one place, and paid or returned in another');
  if (returned.some(({ amount }) => amount === 0n)) return fault('other_amount', 'nothing came back');
  if (back > out)
    return fault('other_amount', `${moneyOf(line, back)} came back, but ${moneyOf(line, out)} was paid`);
  if (paid.length > 1 && out - back !== once && out !== back)
    return fault('duplicate', `paid ${paid.length} times, ${moneyOf(line, out - back)} in total`);
  // paid again after it was returned
  const isPaid = paid.length > 0 && (back === 0n || (paid.length > 1 && out - back === once));
  const booked = new Set(paid.map(({ bankReference }) => bankReference));
  const open = pending.filter(({ bankReference }) => bankReference === null || !booked.has(bankReference));
  if (!isPaid && final.length > 0 && open.length > 0)
    return {
      kind: 'contradiction',
      message: `${placesOf([...final, ...open])}: refused or returned in one place, and pending in another`,
    };
  const completed = isPaid ? completedOtherwise(line, paid, payout) : null;
  if (completed !== null) return completed;
  const decisive = isPaid ? paid : returned.length > 0 ? returned : final;
  const last = (decisive.length > 0 ? decisive : heard).at(-1);
  if (last === undefined) throw new Error('a line without an answer');
  const outcome = isPaid ? 'paid' : returned.length > 0 ? 'returned' : last.outcome;
  const amount = isPaid ? once : returned.length > 0 ? (paid.length > 1 ? once : back) : (last.amount ?? due);
  return lineOf(line, last, outcome, Number(amount));
}

function lineOf(line: Named, last: Heard, outcome: Outcome, amount: number): ResultLine {
  const { code, words, bankReference } = last;
  return {
    affiliate_id: line.affiliate_id,
    name: line.name,
    currency: line.currency,
    reference: line.reference,
    outcome,
    amount,
    line_amount: line.due,
    reason: outcome === 'paid' ? null : reasonOf(code, words),
    reason_code: outcome === 'paid' ? null : code,
    booked_on: last.on,
    bank_reference: bankReference?.slice(0, 255) ?? null,
    payment_file: last.file,
    is_booked: isBooked(line, outcome, { amount, bankReference }),
  };
}

/** Whether the payout already records this outcome. */
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
