import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { completePayout, makeAffiliate, makeCommission, makePayout } from '../api/fixtures.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { commandsOf } from './here.ts';
import { useMachine } from './support.ts';

const world = useWorld();
const api = useAccount(world);
const machine = useMachine();
const { runJson, runText, refuse } = commandsOf(world, api, machine);

const show = (...args: string[]) => runText('reports', 'show', ...args);

test('a report is a table, the record of the API, or its file', async () => {
  const { id } = await makeAffiliate(api, {
    name_first: 'Ada',
    paypal_email: 'ada@example.com',
    country: 'DE',
  });
  await makeCommission(api, id, { amount: 100_000, currency: 'usd' });
  await makeCommission(api, id, { amount: 700, currency: 'jpy' });
  await completePayout(api, await makePayout(api));
  await makeCommission(api, id, { amount: 250, currency: 'usd' });
  const text = await show('--by', 'currency');
  expect(text).toMatch(/^From \d{4}-\d\d-01 to \d{4}-\d\d-\d\d, time zone UTC\n/);
  expect(text).toMatch(/^OPENING +EARNED +ADJUSTED +REFUNDED +VOIDED +PAID +RETURNED +CLOSING +CURRENCY$/m);
  expect(text).toMatch(/^ *0 +700 +0 +0 +0 +700 +0 +0 +JPY$/m);
  expect(text).toMatch(/^ *0\.00 +1002\.50 +0\.00 +0\.00 +0\.00 +1000\.00 +0\.00 +2\.50 +USD$/m);
  const people = await show('--by', 'affiliate', '--period', 'this_year');
  expect(people).toMatch(new RegExp(`^Ada \\(${id}\\) .* 2\\.50 +USD$`, 'm'));
  expect(people).toMatch(/^total .* 2\.50 +USD$/m);
  // only payments have a method
  const methods = await show('--by', 'method');
  expect(methods).toMatch(/^METHOD +PAID +RETURNED +CURRENCY$/m);
  expect(methods).toMatch(/^paypal +1000\.00 +0\.00 +USD$/m);
  expect(await show('--period', '2024-Q3')).toContain('Nothing was earned, paid or owed.');
  const path = '/v2/reports/summary';
  expect(await runJson('reports', 'show', '--by', 'country')).toEqual(
    (await api.get(`${path}?by=country`)).body,
  );
  const csv = (await api.get(`${path}/download?by=affiliate&period=this_year`)).text;
  const year = new Date().getUTCFullYear();
  const file = `exports/report-by-affiliate-${year}.csv`;
  expect(await show('--by', 'affiliate', '--period', 'this_year', '--csv')).toBe(`${file}\n`);
  expect(readFileSync(join(machine.folder, file), 'utf8')).toBe(csv);
  await refuse(
    1,
    `${file} exists: add --force`,
    'reports',
    'show',
    '--by',
    'affiliate',
    '--period',
    String(year),
    '--csv',
  );
  const pdf = await runJson('reports', 'show', '--period', String(year), '--pdf');
  expect(pdf).toMatchObject({ file: `exports/report-by-currency-${year}.pdf` });
  expect(readFileSync(join(machine.folder, pdf.file)).subarray(0, 5).toString()).toBe('%PDF-');
});

test('the entries behind an amount are a table or the page of the API, by affiliate, program and method', async () => {
  const { id } = await makeAffiliate(api, { email: 'ada@example.com', paypal_email: 'ada@example.com' });
  await makeCommission(api, id, { amount: 1050, order_id: 'o-1', external_id: 'sale-1' });
  await completePayout(api, await makePayout(api));
  const entries = (...args: string[]) => runText('reports', 'entries', ...args);
  const text = await entries('--affiliate', 'ada@example.com', '--sort', 'occurred_at');
  expect(text).toMatch(/^TIME +KIND +AFFILIATE +METHOD +AMOUNT +CURRENCY +WHAT +REFERENCE$/m);
  expect(text).toMatch(new RegExp(`^[-\\d]+ [:\\d]+ +earned +${id} +10\\.50 +USD +sale-1 +o-1 *$`, 'm'));
  expect(text).toMatch(new RegExp(`^[-\\d]+ [:\\d]+ +paid +${id} +paypal +-10\\.50 +USD +payout 1 *$`, 'm'));
  expect(text).toContain('2 entries, page 1 of 1');
  expect(await entries('--program', 'none', '--method', 'wise')).toBe('No entries found.\n');
  expect(await runJson('reports', 'entries', '--kind', 'paid', '--method', 'paypal')).toEqual(
    (await api.get('/v2/reports/summary/entries?kind=paid&payout_method=paypal')).body,
  );
  await refuse(1, 'kind must be one of earned, adjusted', 'reports', 'entries', '--kind', 'owed');
});

test('a mistake in the period or the group is named', async () => {
  await refuse(1, 'period must be a month such as 2026-07', 'reports', 'show', '--period', '2026-Q5');
  await refuse(
    1,
    'from must not be after to',
    'reports',
    'show',
    '--from',
    '2026-02-02',
    '--to',
    '2026-02-01',
  );
  await refuse(1, 'by must be one of currency, method', 'reports', 'show', '--by', 'colour');
  await refuse(2, '--csv', 'reports', 'show', '--csv', '--pdf');
});
