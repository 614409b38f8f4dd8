import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  AFFILIATES,
  completePayout,
  expectRefusal,
  makeAffiliate,
  makeCommission,
  makePayout,
} from '../api/fixtures.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { commandsOf } from './here.ts';
import { useMachine } from './support.ts';

const world = useWorld();
const api = useAccount(world);
const machine = useMachine();

const SSN = '536-90-4399';
const WHO = ['--legal-type', 'person', '--legal-name', 'Ada Lovelace', '--country', 'us'];
const WHERE = ['--line1', '1 Main St', '--city', 'Boston', '--region', 'MA', '--postal-code', '02108'];
const SIGNED = ['--form', 'w9', '--signed-on', '2026-01-15', '--form-document', 'scan-17'];
const NUMBER = ['--tax-id-type', 'us_ssn', '--tax-id', SSN];

const { run, runJson, runText } = commandsOf(world, api, machine);
const set = (reference: string, ...args: string[]) =>
  run('affiliates', 'tax', 'set', reference, ...WHO, ...WHERE, ...args);

test('a tax profile is set by e-mail, shown with the end of its tax id, kept, and removed', async () => {
  const { id, email } = await makeAffiliate(api);
  const path = `${AFFILIATES}/${id}/tax-profile`;
  const made = await set(email, ...NUMBER, ...SIGNED);
  expect(made, made.stderr).toMatchObject({ code: 0 });
  expect(made.stdout).toContain('us_ssn …4399');
  expect(made.stdout + made.stderr).not.toMatch(/536-?90/);
  const agreed = ['--self-billing-on', '2026-02-01', '--self-billing-by', 'Ada L.'];
  expect(await set(String(id), ...SIGNED, ...agreed)).toMatchObject({ code: 0 });
  expect((await api.get(path)).body).toMatchObject({
    ...{ legal_name: 'Ada Lovelace', country: 'US', form: { type: 'w9', document: 'scan-17' } },
    tax_id: { type: 'us_ssn', ending: '4399' },
    self_billing: { agreed_on: '2026-02-01', agreed_by: 'Ada L.' },
  });
  const shown = await runText('affiliates', 'tax', 'show', String(id));
  expect(shown).toContain('1 Main St, Boston, MA, 02108, US');
  expect(shown).toContain('agreed on 2026-02-01 by Ada L.');
  expect(await set(String(id), '--tax-id', 'none')).toMatchObject({ code: 0 });
  expect((await api.get(path)).body).toMatchObject({ tax_id: null, form: null, self_billing: null });
  expect(await run('affiliates', 'tax', 'remove', String(id))).toMatchObject({ code: 2 });
  expect(await runJson('affiliates', 'tax', 'remove', String(id), '--yes')).toEqual({
    affiliate_id: id,
    deleted: true,
  });
  expectRefusal(await api.get(path), 404, 'resource_missing');
});

test('agreements that end soon are listed with their last day', async () => {
  const { id } = await makeAffiliate(api);
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const until = (expires_on: string) =>
    api.put(`/v2/affiliates/${id}/tax-profile`, {
      ...{
        legal_type: 'person',
        legal_name: 'Zoë',
        country: 'DE',
        address: { line1: 'Hof 1', city: 'Berlin' },
      },
      self_billing: { agreed_on: '2020-01-01', agreed_by: 'Zoë', expires_on },
    });
  const list = ['affiliates', 'agreements', 'list'] as const;
  await until(day(20));
  expect(await runText(...list, '--ending')).toMatch(
    new RegExp(`^${id} +Zoë +DE +2020-01-01 +${day(20)}`, 'm'),
  );
  await until(day(-2));
  expect(await runText(...list, '--ending')).toBe('No tax profiles found.\n');
  expect((await runJson(...list, '--ended')).data).toMatchObject([{ affiliate_id: id }]);
  expect(await run(...list, '--ended', '--ending')).toMatchObject({ code: 2 });
});

test('forms that lapse this year are listed with their last day', async () => {
  const { id } = await makeAffiliate(api);
  const year = new Date().getUTCFullYear();
  const abroad = [
    '--legal-type',
    'person',
    '--legal-name',
    'Zoë',
    '--country',
    'de',
    '--line1',
    'Hof 1',
    '--city',
    'Berlin',
  ];
  const sign = (day: string) =>
    run('affiliates', 'tax', 'set', String(id), ...abroad, '--form', 'w8ben', '--signed-on', day);
  expect(await runText('affiliates', 'forms', 'list', '--lapsing')).toBe('No tax profiles found.\n');
  expect((await sign(`${year - 3}-02-01`)).stdout).toContain(`valid until ${year}-12-31`);
  expect(await runText('affiliates', 'forms', 'list', '--lapsing')).toMatch(
    new RegExp(`^${id} +Zoë +DE +w8ben +${year - 3}-02-01 +${year}-12-31`, 'm'),
  );
  await sign(`${year - 4}-02-01`);
  expect((await runJson('affiliates', 'forms', 'list', '--lapsing')).data).toEqual([]);
  expect((await runJson('affiliates', 'forms', 'list', '--lapsed')).data).toMatchObject([
    { affiliate_id: id },
  ]);
  expect(await run('affiliates', 'forms', 'list', '--lapsed', '--lapsing')).toMatchObject({ code: 2 });
  expect(await runText('account', 'change', '--payout-form', 'always')).toContain('always');
  expect(await runText('account', 'change', '--state-thresholds', '{"CA": 60000, "OH": null}')).toMatch(
    /Reports to states +CA from 600\.00 USD, OH none/,
  );
  expect(await runText('account', 'change', '--state-thresholds', 'none')).toContain('by the built-in table');
  await makeCommission(api, id, { amount: 500, currency: 'usd' });
  expect(await runText('payouts', 'preview')).toMatch(/form expired +a valid W-9 or W-8 is recorded/);
});

test('affiliates with the same tax id are named', async () => {
  const [first, second] = [await makeAffiliate(api), await makeAffiliate(api)];
  await set(String(first.id), ...NUMBER);
  const made = await set(String(second.id), ...NUMBER);
  expect(made.stderr).toContain(`Affiliate ${first.id} has the same tax id.`);
});

test.each<[string, string[], number, RegExp]>([
  ['a tax id without its kind', ['--tax-id', SSN], 2, /--tax-id-type and --tax-id go together/],
  ['a form without its day', ['--form', 'w9'], 2, /--form and --signed-on go together/],
  ['an agreement without a name', ['--self-billing-on', '2026-01-01'], 2, /--self-billing-by go together/],
  ['a number too short', ['--tax-id-type', 'us_ssn', '--tax-id', '536-90'], 1, /tax_id\.number/],
  ['a form for businesses', ['--form', 'w8bene', '--signed-on', '2026-01-15'], 1, /w8bene is for businesses/],
  ['an invalid day', ['--form', 'w9', '--signed-on', '2026-02-30'], 1, /form\.signed_on must be a day/],
])('%s is refused in words that do not repeat the number', async (_, args, code, words) => {
  const { id } = await makeAffiliate(api);
  const ran = await set(String(id), ...args);
  expect(ran, ran.stderr).toMatchObject({ code });
  expect(ran.stderr).toMatch(words);
  expect(ran.stderr).not.toContain('536-90');
  expectRefusal(await api.get(`${AFFILIATES}/${id}/tax-profile`), 404, 'resource_missing');
});

test('the lists of a year name the missing forms, and the file has the whole tax id and is readable by its owner only', async () => {
  const pay = async (name: string, amount: number) => {
    const { id } = await makeAffiliate(api, { name_first: name, country: 'US', payout_method: 'other' });
    await makeCommission(api, id, { amount, currency: 'usd' });
    return String(id);
  };
  const ada = await pay('Ada', 250_000);
  const ben = await pay('Ben', 12_345);
  await set(ada, ...NUMBER, ...SIGNED);
  const payout = await makePayout(api);
  await completePayout(api, payout);
  await world.query(`update payouts set paid_at = '2026-06-01' where public_id('po', id) = $1`, [payout.id]);
  const sums = await runText('reports', 'us-tax', '--year', '2026');
  expect(sums).toMatch(/To report +1 affiliate, 2500\.00 USD/);
  expect(sums).toMatch(/Without W-9 +1 affiliate/);
  expect(sums).toContain('A list, not advice');
  const missing = await runText('reports', 'us-tax-affiliates', '--year', '2026', '--missing', 'w9');
  expect(missing).toMatch(new RegExp(`^${ben} +Ben +us +w9 +123\\.45`, 'm'));
  expect(missing).not.toContain('Ada');
  const before = await run('reports', 'us-tax', '--year', '2019');
  expect(before).toMatchObject({ code: 1 });
  expect(before.stderr).toContain('year must be 2020');
  expect(await run('reports', 'us-tax-export', '--year', '2026', '-o', 'nec.csv')).toMatchObject({ code: 0 });
  const file = join(machine.folder, 'nec.csv');
  expect(readFileSync(file, 'utf8')).toContain('SSN,536904399');
  expect(statSync(file).mode & 0o077).toBe(0);
});
