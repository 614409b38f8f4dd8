import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { NeededPaymentFile, PaymentFileDownload, Payout, PayoutLine } from '../../src/client/api.ts';
import type { ApiError } from '../../src/client/errors.ts';
import { call } from './api.ts';
import { useRead } from './queries.ts';

const MOST_A_PAGE = 100;

/** All lines of a payout; those of a large one are loaded page by page. `loaded` counts them meanwhile. */
export function usePayoutLines(payout: Payout | undefined) {
  const [loaded, setLoaded] = useState(0);
  const { id = '', revision = 0, status } = payout ?? {};
  const query = useQuery<readonly PayoutLine[], ApiError>({
    queryKey: ['lines', id, revision],
    enabled: payout !== undefined,
    // at a revision they stay as they are; money that comes back later is noted on paid ones
    staleTime: status === 'unpaid' ? 'static' : Number.POSITIVE_INFINITY,
    structuralSharing: false,
    placeholderData: (previous, before) => (before?.queryKey[1] === id ? previous : undefined),
    queryFn: async ({ signal }) => {
      if (payout?.affiliates) return payout.affiliates;
      const lines: PayoutLine[] = [];
      for (let after: string | undefined; ; ) {
        const query = { per_page: MOST_A_PAGE, ...(after === undefined ? {} : { after }) };
        const { data, pagination } = await call('listPayoutAffiliates', { path: [id], query }, { signal });
        lines.push(...data);
        setLoaded(lines.length);
        if (pagination.next === null) return lines;
        after = pagination.next;
      }
    },
  });
  return { ...query, loaded };
}

/** The amounts of all lines, to compare with later ones: affiliate, name, currency, amount. */
export type Worth = readonly (readonly [affiliate: number, name: string, currency: string, amount: number])[];

/** The name of an affiliate, or whatever else identifies it. */
export const nameOf = ({
  name,
  email,
  affiliate_id,
}: Pick<PayoutLine, 'name' | 'email' | 'affiliate_id'>): string => name ?? email ?? `#${affiliate_id}`;

/** The current amount of each line. */
export const worthOf = (lines: readonly PayoutLine[]): Worth =>
  lines.flatMap((line) =>
    line.totals.map(({ currency, amount }) => [line.affiliate_id, nameOf(line), currency, amount] as const),
  );

export interface Change {
  readonly key: string;
  readonly name: string;
  readonly currency: string;
  /** null = it was not in the payout. */
  readonly before: number | null;
  /** null = it is no longer in the payout. */
  readonly after: number | null;
}

/** The lines whose amount changed, and those that were added or removed. */
export function changesBetween(before: Worth, after: Worth): Change[] {
  const changes = new Map<string, Change>();
  const keyOf = ([affiliate, , currency]: Worth[number]) => `${affiliate} ${currency}`;
  for (const each of before) {
    const [, name, currency, amount] = each;
    changes.set(keyOf(each), { key: keyOf(each), name, currency, before: amount, after: null });
  }
  for (const each of after) {
    const [, name, currency, amount] = each;
    const key = keyOf(each);
    const known = changes.get(key);
    changes.set(key, { key, name, currency, before: known?.before ?? null, after: amount });
  }
  return [...changes.values()].filter((change) => change.before !== change.after);
}

/** The payment files of a payout, who is left out of each, and who downloaded them. */
export const usePaymentFiles = ({ id }: Pick<Payout, 'id'>) =>
  useRead('getPaymentFiles', { path: [id] }, { isLive: true });

/** Downloads of a file that the payout has changed since: the last complete one, or the last one of each part. */
export function outdatedDownloads({ downloads, part_count }: NeededPaymentFile): PaymentFileDownload[] {
  const [last] = downloads;
  const standing = downloads.filter(({ part }, index) =>
    last?.part === null
      ? index === 0
      : part !== null && part <= part_count && downloads.findIndex((each) => each.part === part) === index,
  );
  return standing.filter(({ is_outdated }) => is_outdated);
}
