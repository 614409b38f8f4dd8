import { expect, test } from 'vitest';
import { makePayee, makePayout, PAYOUTS } from '../api/fixtures.ts';
import { ARENAS, inArena } from './support.ts';

const ORIGINATOR = {
  immediate_destination: '021000021',
  immediate_destination_name: 'JPMorgan Chase',
  immediate_origin: '1234567890',
  immediate_origin_name: 'Difference Engines',
  company_name: 'Difference Engin',
  company_id: '1234567890',
  rows_per_file: 2,
};
const ACH = {
  type: 'ach',
  account_holder: 'Ada',
  routing_number: '121042882',
  account_number: '000123456789',
  account_type: 'checking',
};

test.each(ARENAS)('NACHA files created at once have different letters and trace numbers: $name', (arena) =>
  inArena(arena, async ({ api, racer, race }) => {
    await api.patch('/v2/account', { originator: ORIGINATOR });
    for (let index = 0; index < 8; index += 1)
      await makePayee(api, ACH, { commission: { amount: 100, currency: 'usd' } });
    const payout = await makePayout(api);
    const ask = (index: number) => {
      const part = (index % 4) + 1;
      return racer(Math.floor(index / 2)).get(`${PAYOUTS}/${payout.id}/payment-files/nacha?part=${part}`);
    };
    const answers = await race(() => Promise.all(Array.from({ length: 8 }, (_, index) => ask(index))));
    for (const answer of answers) expect(answer.status, answer.text).toBe(200);
    const texts = [...new Set(answers.map(({ text }) => text))];
    expect(texts).toHaveLength(4);
    expect(texts.map((text) => text[33]).toSorted()).toEqual(['A', 'B', 'C', 'D']);
    const traces = texts.flatMap((text) =>
      text
        .split('\r\n')
        .filter((line) => line.startsWith('6'))
        .map((line) => Number(line.slice(-7))),
    );
    expect(traces.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  }),
);

test.each(ARENAS)('of two concurrent files that pay an affiliate twice, one warns: $name', (arena) =>
  inArena(arena, async ({ api, racer, race }) => {
    await api.patch('/v2/account', { originator: ORIGINATOR });
    for (let index = 0; index < 4; index += 1)
      await makePayee(api, ACH, { commission: { amount: 100, currency: 'usd' } });
    const payout = await makePayout(api);
    const path = `${PAYOUTS}/${payout.id}/payment-files/nacha?part=1&rows_per_file=`;
    const answers = await race(() => Promise.all([2, 3].map((rows, index) => racer(index).get(path + rows))));
    const warnings = answers.map(({ headers }) => headers.get('payhook-affiliates-in-other-files'));
    expect(warnings.toSorted()).toEqual(['0', '2']);
  }),
);
