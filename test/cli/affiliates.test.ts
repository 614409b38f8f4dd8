import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AFFILIATES, makeAffiliate, makeCommission, PAYOUTS, PROGRAMS } from '../api/fixtures.ts';
import { longRun } from '../support/depth.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { commandsOf } from './here.ts';
import { useMachine } from './support.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);
const machine = useMachine();
const { runJson, refuse, runText } = commandsOf(world, api, machine);

test('put creates the affiliate of an external_id, and the next time changes the named fields', async () => {
  const made = await runJson(
    'affiliates',
    'put',
    'crm/7',
    '--email',
    'zoe@example.com',
    '--name-first',
    'Zoë',
  );
  expect(made).toMatchObject({ external_id: 'crm/7', name_first: 'Zoë' });
  const changed = await runJson('affiliates', 'put', 'crm/7', '--name-first', '', '--slug', 'zoe');
  expect(changed).toMatchObject({ id: made.id, email: 'zoe@example.com', name_first: null, slug: 'zoe' });
  expect(await runText('affiliates', 'put', 'crm/7', '--metadata', 'crm=lead-311')).toMatch(
    /^Metadata +crm=lead-311$/m,
  );
  await refuse(1, 'email is required', 'affiliates', 'put', 'crm/8', '--name-first', 'Bob');
});

test('an existing affiliate is named by its id', async () => {
  const { id } = await makeAffiliate(api, { email: 'ada@example.com' });
  await refuse(1, `affiliate ${id} of the account`, 'affiliates', 'create', '--email', 'ADA@example.com');
});

test('metadata of affiliates and programs are given, replaced, removed and shown', async () => {
  const { id } = await runJson('affiliates', 'create', '--email', 'a@b.example', '--metadata', 'a=1');
  const shown = async () => (await api.get(`${AFFILIATES}/${id}`)).body.metadata;
  expect(await shown()).toEqual({ a: '1' });
  await runJson('affiliates', 'change', `${id}`, '--metadata', 'b=x=y', '--metadata', 'c=');
  expect(await shown()).toEqual({ b: 'x=y', c: '' });
  expect(await runText('affiliates', 'show', `${id}`)).toMatch(/^Metadata +b=x=y, c=$/m);
  await runJson('affiliates', 'change', `${id}`, '--metadata', '');
  expect(await shown()).toEqual({});

  await runJson('programs', 'create', '--name', 'Creators', '--metadata', 'team=finance');
  expect(await runText('programs', 'show', 'Creators')).toMatch(/^Metadata +team=finance$/m);
  await runJson('programs', 'change', 'Creators', '--metadata', 'team=sales');
  expect((await api.get(PROGRAMS)).body.data[0].metadata).toEqual({ team: 'sales' });
});

test('metadata of a payout are given when it is created, shown, and replaced when it is completed', async () => {
  await makeCommission(api, (await makeAffiliate(api)).id);
  expect(await runText('payouts', 'create', '--metadata', 'run=november')).toContain(
    'Metadata: run=november\n',
  );
  const shown = await runText('payouts', 'show', 'current');
  expect(shown).toContain('Metadata: run=november\n');
  expect(shown).toMatch(/^Created \S+ \S+ by .+ \(API key\) \(UTC\)$/m);
  await runJson(
    'payouts',
    'complete',
    'current',
    '--all-paid',
    '--also-without-file',
    '--yes',
    '--metadata',
    'bank_run=B-9',
  );
  expect((await api.get(PAYOUTS)).body.data[0].metadata).toEqual({ bank_run: 'B-9' });
});

test('invalid metadata are refused before any request', async () => {
  const { id } = await makeAffiliate(api);
  for (const text of ['a', '=x']) {
    await refuse(2, '--metadata must look like', 'affiliates', 'change', `${id}`, '--metadata', text);
  }
  await refuse(2, 'a twice', 'programs', 'create', '--name', 'P', '--metadata', 'a=1', '--metadata', 'a=2');
});

longRun.test(
  'a statement is written as a PDF and as a page to print, readable by its owner only, and never overwrites a file',
  async () => {
    const { id } = await makeAffiliate(api, { name_first: 'Ada' });
    await makeCommission(api, id, { external_id: 'sale-1' });
    const period = ['--from', '2026-01-01', '--to', '2026-12-31'];
    const pdf = `exports/statement-${id}-from-2026-01-01-to-2026-12-31.pdf`;
    expect(await runText('affiliates', 'statement', `${id}`, ...period, '--pdf')).toBe(`${pdf}\n`);
    expect(readFileSync(join(machine.folder, pdf)).subarray(0, 5).toString()).toBe('%PDF-');
    expect(statSync(join(machine.folder, pdf)).mode & 0o777).toBe(0o600);
    await refuse(1, `${pdf} exists`, 'affiliates', 'statement', `${id}`, ...period, '--pdf');
    const page = await runJson('affiliates', 'statement', `${id}`, '--html', '-o', 'ada.html');
    expect(page).toEqual({ file: 'ada.html', bytes: statSync(join(machine.folder, 'ada.html')).size });
    expect(readFileSync(join(machine.folder, 'ada.html'), 'utf8')).toContain('<bdi>sale-1</bdi>');
    await refuse(2, '--pdf', 'affiliates', 'statement', `${id}`, '--pdf', '--html');
  },
);
