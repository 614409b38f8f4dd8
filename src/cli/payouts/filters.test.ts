import { expect, test } from 'vitest';
import { readFilterOptions } from './filters.ts';

const read = (...pairs: string[]) => readFilterOptions(pairs, undefined);

test('no option means no filters', () => {
  expect(read()).toBeUndefined();
});

test.each([
  [['currency=usd'], { currency: { eq: 'usd' } }],
  [['currency=usd,eur'], { currency: { in: ['usd', 'eur'] } }],
  [['affiliate_id=7', 'affiliate_id=8'], { affiliate_id: { in: [7, 8] } }],
  [['affiliate_id[ne]=7,8'], { affiliate_id: { nin: [7, 8] } }],
  [['affiliate_id[in]=7'], { affiliate_id: { in: [7] } }],
  [['order_id=a,b'], { order_id: { eq: 'a,b' } }],
  [['order_id=1001'], { order_id: { eq: '1001' } }],
  [['is_ready_for_payout=true'], { is_ready_for_payout: { eq: true } }],
  [
    ['occurred_at[gte]=2026-09-01', 'occurred_at[lt]=2026-10-01'],
    { occurred_at: { gte: '2026-09-01', lt: '2026-10-01' } },
  ],
  [['total[gte]=5000', 'currency=usd'], { total: { gte: 5000 }, currency: { eq: 'usd' } }],
  [['affiliate_id=ada'], { affiliate_id: { eq: 'ada' } }], // the server names the rule
])('%j becomes %j', (pairs, filters) => {
  expect(read(...pairs)).toEqual(filters);
});

test('JSON is passed on as it is', () => {
  expect(readFilterOptions([], '{"type":{"nin":["bonus"]}}')).toEqual({ type: { nin: ['bonus'] } });
});

test('what cannot be understood is a usage error', () => {
  expect(() => read('currency')).toThrow('--filter must be key=value');
  expect(() => read('currency=')).toThrow('--filter must be key=value');
  expect(() => read('total[gt]=1', 'total[gt]=2')).toThrow('--filter total[gt] takes one value');
  expect(() => readFilterOptions([], '{currency')).toThrow('--filters is not JSON');
  expect(() => readFilterOptions([], '{"type":"sale","type":null}')).toThrow(
    '--filters: type: the object has this key twice',
  );
  expect(() => readFilterOptions([], '{"program_id":[0.99999999999999999999]}')).toThrow(
    'program_id[0] must be a whole',
  );
  expect(() => readFilterOptions(['a=b'], '{}')).toThrow('not both');
});
