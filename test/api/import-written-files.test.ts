import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { useAccount, useWorld } from '../support/world.ts';
import { allOf, COMMISSIONS, expectRefusal, type Json, makeAffiliate } from './fixtures.ts';

// Files that other programs wrote: spreadsheets/README.md says how.

const world = useWorld();
const api = useAccount(world);
const written = (name: string) => readFileSync(new URL(`spreadsheets/${name}`, import.meta.url));

const send = (path: string, name: string, query: object = {}) => {
  const texts = Object.entries({ kind: 'commissions', ...query }).map(([key, value]): [string, string] => [
    key,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ]);
  return api.upload(`/v2/imports${path}?${new URLSearchParams(texts)}`, written(name));
};

/** Imports a file; returns the id, amount, currency and day of each commission. */
async function imported(name: string, query: object): Promise<unknown[]> {
  const answer = await send('', name, { accept_guesses: true, ...query });
  expect(answer.status, answer.text).toBe(200);
  const rows = await allOf(api, `${COMMISSIONS}?sort=id`);
  return rows.map((row: Json) => [row.external_id, row.amount, row.currency, row.occurred_at.slice(0, 10)]);
}

beforeEach(async () => {
  await makeAffiliate(api, { email: 'ada@example.com' });
  await api.patch('/v2/account', { default_currency: 'eur' });
});

describe('a file that another program wrote', () => {
  test.each(['libreoffice.xlsx', 'libreoffice.ods'])(
    '%s has its cells, and the results of its formulas',
    async (name) => {
      const mapping = { Commission: 'ignore', Double: 'amount' };
      expect(await imported(name, { mapping })).toEqual([
        ['00042', 6380, 'eur', '2026-09-01'],
        ['00043', 200_100, 'eur', '2026-09-02'],
      ]);
    },
  );

  test('openpyxl.xlsx has a merged title, its header on line 7, and a total without a value in the last line', async () => {
    const { questions, guessed, dialect } = (await send('/preview', 'openpyxl.xlsx')).body;
    expect(dialect.header_row).toBe(7);
    expect(guessed.join('\n')).toMatch(/line 7 names the columns/);
    expect(guessed.join('\n')).toMatch(/merged/);
    expect(questions).toMatchObject([{ about: 'totals' }]);
    expect(await imported('openpyxl.xlsx', { totals: 'skip' })).toEqual([
      ['1001', 3190, 'eur', '2026-09-01'],
      ['1002', 100_050, 'eur', '2026-09-02'],
    ]);
  });

  test('xlsxwriter-1904.xlsx counts days from 1904, and keeps the zeros of a text', async () => {
    expect(await imported('xlsxwriter-1904.xlsx', {})).toEqual([['00042', 3190, 'eur', '2026-09-01']]);
  });

  test.each([
    ['password.xlsx', 'protected with a password'],
    ['libreoffice.xls', 'old format of Excel (.xls)'],
  ])('%s is refused, with the reason', async (name, reason) => {
    expectRefusal(await send('/preview', name), 400, 'invalid_file', reason);
  });
});
