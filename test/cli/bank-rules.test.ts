import { afterEach, beforeEach, expect, test } from 'vitest';
import { makePayee, makePayout } from '../api/fixtures.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { runHere, runOn } from './here.ts';
import { type Machine, settingsOf, startMachine } from './support.ts';

const world = useWorld({ cell: 0 });
/** An account and a folder of their own for each test. */
const api = useAccount(world);
let machine: Machine;
beforeEach(() => {
  machine = startMachine();
});
afterEach(() => machine.close());

const run = (...args: string[]) =>
  runHere(args, { env: { PAYHOOK_URL: world.url, PAYHOOK_API_KEY: api.key }, cwd: machine.folder });

test('an export names the rule by which a bank may refuse the file, and doctor the account', async () => {
  const doctor = async () => (await runOn(machine)(['doctor'], { env: await settingsOf(world) })).stdout;
  const debtor = { name: 'Shop', iban: 'DE02120300000000202051' };
  const change = (fields: object) =>
    run('account', 'change', '--debtor', JSON.stringify({ ...debtor, ...fields }));
  expect((await change({ message: 'pain.001.001.03' })).code).toBe(0);
  const payee = { type: 'sepa', account_holder: 'Zoe Okafor', iban: 'DE89370400440532013000' };
  const { id } = await makePayee(api, payee, { commission: { amount: 1000, currency: 'eur' } });
  await makePayout(api);
  const old = await run('payouts', 'export', 'current', '--format', 'sepa');
  expect(old.code, old.stderr).toBe(0);
  expect(old.stderr).toMatch(
    new RegExp(`WARNING: banks in Germany refuse pain.001.001.03 .*\\(1 affiliate: ${id}\\)`),
  );
  const account = (await api.get('/v2/account')).body.id;
  expect(await doctor()).toMatch(
    new RegExp(`! +bank files +.*debtor.message of ${account} should be pain.001.001.09`),
  );
  expect((await change({})).code).toBe(0);
  const instant = await run('payouts', 'export', 'current', '--format', 'sepa', '--instant', '-o', '-');
  expect(instant.stdout).toContain('<Cd>INST</Cd>');
  expect(instant.stderr).not.toContain('banks in Germany');
  expect(await doctor()).toMatch(/✓ +bank files/);
  const refused = await run('payouts', 'export', 'current', '--format', 'nacha', '--instant');
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--instant needs --format sepa'),
  });
});
