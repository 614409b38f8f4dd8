import { expect, test } from 'vitest';
import { completePayout, makeAffiliate, makeCommission, makePayout } from '../api/fixtures.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { commandsOf } from './here.ts';
import { useMachine } from './support.ts';

const world = useWorld();
const api = useAccount(world);
const machine = useMachine();
const { run, runText } = commandsOf(world, api, machine);

test('backup withholding is switched on, and payouts, returns and the list for US tax forms show it', async () => {
  const set = await run('account', 'change', '--backup-withholding', 'always');
  expect(set, set.stderr).toMatchObject({ code: 0 });
  expect(await runText('account', 'show')).toMatch(/Backup withholding\s+always/);
  const withheld = await makeAffiliate(api, { country: 'US', name_first: 'Ada' });
  const foreign = await makeAffiliate(api, { country: 'DE', name_first: 'Ben' });
  for (const { id } of [withheld, foreign])
    await makeCommission(api, id, { amount: 10_000, currency: 'usd' });

  const preview = await runText('payouts', 'preview');
  const payout = await makePayout(api);
  for (const text of [preview, await runText('payouts', 'show', 'current')]) {
    expect(text).toMatch(/COMMISSIONS\s+WITHHELD\s+TO PAY\n\s*USD\s+200\.00\s+2\s+2\s+24\.00\s+176\.00/);
    expect(text).toMatch(/100\.00\s+USD\s+76\.00\s+24\.00 withheld\n/);
    expect(text).toMatch(/100\.00\s+USD\s+100\.00\s*\n/);
  }
  await completePayout(api, payout);
  expect(await runText('payouts', 'show', String(payout.number))).toMatch(
    /LEFT THE BANK\n\s*USD\s.*\s176\.00\n/,
  );
  expect(await runText('reports', 'us-tax')).toMatch(
    /To report\s+1 affiliate, 100\.00 USD\n[\s\S]*Withheld\s+24\.00 USD/,
  );
  expect(await runText('reports', 'us-tax-affiliates', '--reportable')).toMatch(/100\.00\s+0\.00\s+24\.00\n/);

  const path = [String(payout.number), String(withheld.id)];
  const back = await run('payouts', 'returned', ...path, '--reason', 'closed', '--yes');
  expect(back.stdout).toContain('76.00 USD came back');
  expect(back.stdout).toContain('with what was withheld, is owed again.');
  expect(await runText('payouts', 'returns', 'list', ...path)).toMatch(/\s76\.00\s+USD/);
});
