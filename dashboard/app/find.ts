import { ApiError } from '../../src/client/errors.ts';
import { call } from '../data/api.ts';
import { payouts } from '../texts/payouts.ts';
import type { Found } from './commands.tsx';

type Finder = (text: string, signal: AbortSignal) => Promise<readonly Found[]>;

/** Where records are looked for, each by what is typed; a new noun is a line here. */
const FINDERS: readonly Finder[] = [findPayout];

/** The records that a text names: an id, a number, an e-mail address, a part of a name. */
export async function findRecords(text: string, signal: AbortSignal): Promise<readonly Found[]> {
  if (text === '') return [];
  const found = await Promise.all(FINDERS.map((find) => find(text, signal)));
  return found.flat();
}

async function findPayout(text: string, signal: AbortSignal): Promise<readonly Found[]> {
  const number = /^#?(\d{1,9})$/.exec(text)?.[1];
  const record = /^po_/.test(text) ? await orNone(call('getPayout', { path: [text] }, { signal })) : null;
  const listed = number
    ? (await call('listPayouts', { query: { per_page: 100, sort: '-number' } }, { signal })).data
    : [];
  return [...(record ? [record] : []), ...listed.filter((payout) => payout.number === Number(number))].map(
    (payout) => ({
      key: payout.id,
      title: payouts.name(payout.number),
      detail: payouts.status[payout.status],
      icon: 'payouts',
      to: `/payouts/${payout.id}`,
    }),
  );
}

/** null in place of a refusal that there is no such record. */
export async function orNone<Record>(asked: Promise<Record>): Promise<Record | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
