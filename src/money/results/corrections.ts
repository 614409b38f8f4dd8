import type { DestinationId } from '../../kernel/ids.ts';
import { paymentReference } from '../../terms/payment-reference.ts';
import { accountOfEntry, type Fault } from './ach-entry.ts';
import type { Correction, ReadResult, Reference } from './answers.ts';
import type { AnsweredPayout, KnownLine } from './match.ts';
import type { Problem } from './record.ts';

/** A correction of a destination. */
export type FoundCorrection = Omit<Correction, 'of' | 'entry' | 'place'> & {
  readonly affiliate_id: number;
  readonly destination_id: DestinationId;
};

/** Finds the destinations that a file corrects. Everything that is not exactly a payment of this payout is a problem. */
export function findCorrections(
  { corrections }: ReadResult,
  payout: AnsweredPayout,
  known: readonly KnownLine[],
): { readonly found: readonly FoundCorrection[]; readonly problems: readonly Problem[] } {
  const lines = new Map(
    known.filter(({ currency }) => currency === 'usd').map((line) => [line.affiliate_id, line]),
  );
  const found = new Map<string, FoundCorrection>();
  const problems: Problem[] = [];
  for (const { of, entry, code, corrected, place } of corrections) {
    const reference = paymentReference(of.payout, of.affiliate);
    const line = of.payout === payout.number ? lines.get(of.affiliate) : undefined;
    const account = line === undefined ? notHere(of, reference, payout) : accountOfEntry(entry, line, null);
    const key = `${of.affiliate} ${code}`;
    const before = found.get(key);
    const fault: Fault | null =
      'kind' in account
        ? account
        : before !== undefined && JSON.stringify(before.corrected) !== JSON.stringify(corrected)
          ? {
              kind: 'contradiction',
              message: `there are several corrections ${code}, and the first one counts`,
            }
          : null;
    if (fault !== null)
      problems.push({
        kind: fault.kind,
        affiliate_id: line?.affiliate_id ?? null,
        reference,
        message: `${place}: ${fault.message}`,
      });
    else if ('id' in account)
      found.set(key, before ?? { affiliate_id: of.affiliate, destination_id: account.id, code, corrected });
  }
  return { found: [...found.values()], problems };
}

const notHere = (of: Reference, reference: string, payout: AnsweredPayout): Fault =>
  of.payout === payout.number
    ? { kind: 'unknown_reference', message: `${reference} is not in this payout` }
    : { kind: 'other_payout', message: `${reference} is a payment of payout ${of.payout}` };
