import { useState } from 'react';
import type { CompletePayoutBody, Payout, PayoutLine } from '../../../src/client/api.ts';
import { paymentReference } from '../../../src/terms/payment-reference.ts';
import { netPart, toPay } from '../../../src/terms/with-tax.ts';
import { type Sum, sumsOf } from '../../parts/sums.ts';

/** A line to select: one affiliate in one currency, so `totals` has one entry. */
export interface DueLine extends PayoutLine {
  readonly key: string;
  readonly currency: string;
  /** What leaves the bank. */
  readonly amount: number;
  /** What is owed: the amount without the tax on top. */
  readonly net: number;
  /** A payment file that was downloaded pays it. */
  readonly isInFile: boolean;
  /** The affiliate has lines in other currencies too. */
  readonly hasOthers: boolean;
}

/** The lines of affiliates, one per currency. */
export function dueLines(lines: readonly PayoutLine[]): DueLine[] {
  return lines.flatMap((line) =>
    line.totals.map((total) => ({
      ...line,
      totals: [total],
      key: `${line.affiliate_id} ${total.currency}`,
      currency: total.currency,
      amount: toPay(total),
      net: total.amount,
      isInFile: total.is_in_file,
      commission_count: total.commission_count,
      hasOthers: line.totals.length > 1,
    })),
  );
}

/** The lines that were paid, and the amounts of those paid in part, in minor units; both by key. */
export interface Ticks {
  readonly ticked: ReadonlySet<string>;
  readonly parts: ReadonlyMap<string, number>;
  readonly set: (ticked: ReadonlySet<string>) => void;
  /** null = the whole line. */
  readonly setPart: (key: string, amount: number | null) => void;
  /** Replaces both at once. */
  readonly take: (ticked: ReadonlySet<string>, parts: ReadonlyMap<string, number>) => void;
}

/** A hook: the selection, empty at first. */
export function useTicks(): Ticks {
  const [ticked, set] = useState<ReadonlySet<string>>(new Set());
  const [parts, setParts] = useState<ReadonlyMap<string, number>>(new Map());
  return {
    ticked,
    parts,
    set,
    setPart(key, amount) {
      const next = new Map(parts);
      if (amount === null) next.delete(key);
      else next.set(key, amount);
      setParts(next);
    },
    take(nextTicked, nextParts) {
      set(nextTicked);
      setParts(nextParts);
    },
  };
}

/** The amount paid of a selected line: its part, or the whole line if it is now smaller than the part. */
export const leavingOf = ({ key, amount }: DueLine, parts: Ticks['parts']): number =>
  Math.min(parts.get(key) ?? amount, amount);

/** What stays owed of a line of which a part is paid: without the tax on top. */
export const restOf = ({ amount, net }: DueLine, leaving: number): number =>
  net - Number(netPart(BigInt(leaving), BigInt(net), BigInt(amount - net)));

const worth = (currency: string, amount: number) => ({ totals: [{ currency, amount }] });
const peopleOf = (lines: readonly DueLine[]) => new Set(lines.map(({ affiliate_id }) => affiliate_id)).size;

/** What completing a payout would do. */
export interface Outcome {
  readonly paid: readonly DueLine[];
  readonly released: readonly DueLine[];
  /** `carried` is what stays owed of lines that are paid in part. */
  readonly sums: Readonly<Record<'paid' | 'released' | 'carried', readonly Sum[]>>;
  /** Numbers of affiliates, who may have several lines. */
  readonly people: Readonly<Record<'paid' | 'released', number>>;
}

/** The outcome for the selection. It is computed at every tick, for up to tens of thousands of lines. */
export function outcomeOf(
  lines: readonly DueLine[],
  { ticked, parts }: Pick<Ticks, 'ticked' | 'parts'>,
): Outcome {
  const paid: DueLine[] = [];
  const released: DueLine[] = [];
  for (const line of lines) (ticked.has(line.key) ? paid : released).push(line);
  const rests = paid
    .filter(({ key }) => parts.has(key))
    .filter((line) => leavingOf(line, parts) < line.amount)
    .map((line) => ({ currency: line.currency, amount: restOf(line, leavingOf(line, parts)) }));
  return {
    paid,
    released,
    sums: {
      paid: sumsOf(paid.map((line) => worth(line.currency, leavingOf(line, parts)))),
      released: sumsOf(released.map(({ currency, net }) => worth(currency, net))),
      carried: sumsOf(rests.map(({ currency, amount }) => worth(currency, amount))),
    },
    people: { paid: peopleOf(paid), released: peopleOf(released) },
  };
}

/** The entries of the request, one per line. */
export function entriesOf(
  lines: readonly DueLine[],
  { ticked, parts }: Pick<Ticks, 'ticked' | 'parts'>,
  referenceOf: (line: DueLine) => string,
): CompletePayoutBody['commissions'] {
  return lines.map((line) => {
    const isPaid = ticked.has(line.key);
    const amount = leavingOf(line, parts);
    const reference = referenceOf(line);
    return {
      affiliate_id: line.affiliate_id,
      currency: line.currency,
      is_paid: isPaid,
      ...(isPaid && amount < line.amount ? { amount } : {}),
      ...(isPaid && reference !== '' ? { payment_reference: reference } : {}),
    };
  });
}

/**
 * The lines whose payment references a text contains. If an affiliate has several lines, a currency on the same line of the
 * text decides.
 */
export function namedIn(text: string, payout: Payout, lines: readonly DueLine[]): DueLine[] {
  const words = new Map<string, Set<string>>();
  for (const row of text.split(/\r\n?|\n/)) {
    for (const [reference] of row.matchAll(/P\d+-A\d+/g)) {
      const known = words.get(reference) ?? new Set();
      for (const [word] of row.matchAll(/\b[A-Z]{3}\b/gi)) known.add(word.toLowerCase());
      words.set(reference, known);
    }
  }
  const found = (line: DueLine) => words.get(paymentReference(payout.number, line.affiliate_id));
  const decided = new Set(
    lines.filter((line) => found(line)?.has(line.currency)).map((line) => line.affiliate_id),
  );
  return lines.filter((line) => {
    const named = found(line);
    return named !== undefined && (named.has(line.currency) || !decided.has(line.affiliate_id));
  });
}
