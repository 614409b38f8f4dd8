import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type {
  NeededPaymentFile,
  PaymentFileDownload,
  PaymentFiles,
  Payout,
  PayoutLine,
} from '../../src/client/api.ts';
import type { ApiError } from '../../src/client/errors.ts';
import { visible } from '../../src/kernel/visible.ts';
import { call } from './api.ts';
import { useRead } from './queries.ts';

const MOST_A_PAGE = 100;

/** All lines of a payout; those of a large one are loaded page by page. `loaded` counts them meanwhile. */
export function usePayoutLines(payout: Payout | undefined) {
  const [loaded, setLoaded] = useState(0);
  const { id = '', revision = 0, status, affiliates: own = null } = payout ?? {};
  const isLarge = payout !== undefined && own === null;
  const files = useRead('getPaymentFiles', { path: [id] }, { isLive: true, isEnabled: isLarge }).data;
  const query = useQuery<readonly PayoutLine[], ApiError>({
    // a download changes lines: `is_in_file` says whether a downloaded file pays them
    queryKey: ['lines', id, revision, files && lastDownload(files)],
    enabled: isLarge && files !== undefined,
    // lines of a revision do not change, except that returned money is recorded on paid ones
    staleTime: status === 'unpaid' ? 'static' : Number.POSITIVE_INFINITY,
    structuralSharing: false,
    placeholderData: (previous, before) => (before?.queryKey[1] === id ? previous : undefined),
    queryFn: async ({ signal }) => {
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
  if (own !== null) return { ...query, data: own, error: null, isPlaceholderData: false, loaded };
  return { ...query, loaded };
}

/** When a payment file was last downloaded; null = none was. */
const lastDownload = ({ files }: PaymentFiles): string | null =>
  files
    .flatMap(({ downloads }) => downloads.map(({ downloaded_at }) => downloaded_at))
    .sort()
    .at(-1) ?? null;

/** The amounts of all lines, to compare with later ones: affiliate, name, currency, amount. */
export type Worth = readonly (readonly [affiliate: number, name: string, currency: string, amount: number])[];

/** The name of an affiliate, or another identifier. No character changes the direction of text. */
export const nameOf = ({
  name,
  email,
  affiliate_id,
}: Pick<PayoutLine, 'name' | 'affiliate_id'> & Partial<Pick<PayoutLine, 'email'>>): string =>
  visible(name ?? email ?? `#${affiliate_id}`);

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

/** The payment files of a payout, the affiliates each leaves out, and its downloads. */
export const usePaymentFiles = ({ id }: Pick<Payout, 'id'>) =>
  useRead('getPaymentFiles', { path: [id] }, { isLive: true });

/** The last download of each part of a file that are outdated, unless the file set they belong to was replaced. */
export function outdatedDownloads({ downloads }: NeededPaymentFile): PaymentFileDownload[] {
  const [last] = downloads;
  return downloads.filter(
    ({ file_set_id, part, is_outdated }, index) =>
      is_outdated &&
      file_set_id === last?.file_set_id &&
      downloads.findIndex((each) => each.file_set_id === file_set_id && each.part === part) === index,
  );
}
