import type { Api } from './api.ts';

/** One commission to be taken in; the rest has defaults. */
export interface Sale {
  readonly external_id: string;
  readonly affiliate_id: number;
  readonly amount: number;
  readonly currency?: string;
  readonly occurred_at?: string;
}

/** Makes affiliates named after `prefix`; returns their ids. */
export async function makeAffiliates(api: Api, count: number, prefix = 'affiliate'): Promise<number[]> {
  const ids: number[] = [];
  for (let index = 0; index < count; index++) {
    const made = await api.post('/v2/affiliates', {
      email: `${prefix}-${index}@example.com`,
      external_id: `${prefix}-${index}`,
      name_first: 'Ada',
      name_last: `No ${index}`,
      paypal_email: `pay-${prefix}-${index}@example.com`,
      payout_method: 'paypal',
    });
    if (made.status !== 201) throw new Error(made.text);
    ids.push(made.body.id);
  }
  return ids;
}

/** `count` sales that go around the affiliates; amounts 100, 101, 102 … */
export function salesFor(affiliates: readonly number[], count: number, prefix = 'sale'): Sale[] {
  return Array.from({ length: count }, (_, index) => ({
    external_id: `${prefix}-${index}`,
    affiliate_id: affiliates[index % affiliates.length] ?? 0,
    amount: 100 + index,
    currency: 'usd',
  }));
}

/** Takes sales in, a thousand a request. */
export async function takeIn(api: Api, sales: readonly Sale[]): Promise<void> {
  for (let start = 0; start < sales.length; start += 1000) {
    const taken = await api.post('/v2/affiliates/commissions/batch', {
      commissions: sales.slice(start, start + 1000),
    });
    if (taken.status !== 200) throw new Error(taken.text);
  }
}

/** The file of these sales. */
export function salesFile(sales: readonly Sale[]): string {
  const lines = sales.map(({ external_id, affiliate_id, amount, currency = 'usd' }) =>
    [external_id, affiliate_id, (amount / 100).toFixed(2), currency].join(','),
  );
  return `external_id,affiliate_id,amount,currency\n${lines.join('\n')}\n`;
}

/** What sales come to. */
export function sumOf(sales: readonly { readonly amount: number }[]): number {
  return sales.reduce((sum, { amount }) => sum + amount, 0);
}
