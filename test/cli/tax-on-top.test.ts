import { expect, test } from 'vitest';
import { completePayout, makeAffiliate, makeCommission, makePayout } from '../api/fixtures.ts';
import { agree, letInvoice } from '../support/invoicing.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { commandsOf } from './here.ts';
import { useMachine } from './support.ts';

const world = useWorld();
const api = useAccount(world);
const machine = useMachine();
const { run, runText } = commandsOf(world, api, machine);

test('net commissions are set, and payouts show the tax on top, what to pay, and why a line has none', async () => {
  await letInvoice(api);
  const set = await run('account', 'change', '--commissions-are', 'net');
  expect(set, set.stderr).toMatchObject({ code: 0 });
  expect(await runText('account', 'show')).toMatch(/Commissions are\s+net: the tax is paid on top/);
  const [taxed, gross, without] = [
    await makeAffiliate(api),
    await makeAffiliate(api),
    await makeAffiliate(api),
  ];
  for (const { id } of [taxed, gross]) await agree(api, id);
  const changed = await run('affiliates', 'change', String(gross.id), '--commissions-are', 'gross');
  expect(changed, changed.stderr).toMatchObject({ code: 0 });
  for (const { id } of [taxed, gross, without])
    await makeCommission(api, id, { amount: 10_000, currency: 'eur' });

  const preview = await runText('payouts', 'preview');
  const payout = await makePayout(api);
  for (const text of [preview, await runText('payouts', 'show', 'current')]) {
    expect(text).toMatch(/TAX ON TOP\s+TO PAY\n\s*EUR\s+300\.00\s+3\s+3\s+19\.00\s+319\.00/);
    expect(text).toMatch(/100\.00\s+EUR\s+119\.00\s+19\.00 on top\n/);
    expect(text).toMatch(/100\.00\s+EUR\s+100\.00\s*\n/);
    expect(text).toMatch(/100\.00\s+EUR\s+100\.00\s+none, no agreement\n/);
  }
  await completePayout(api, payout);
  const path = [String(payout.number), String(taxed.id)];
  const part = await run('payouts', 'returned', ...path, '--amount', '50.00', '--reason', 'closed', '--yes');
  expect(part.stdout).toContain('50.00 EUR came back');
  expect(part.stdout).toContain(
    'The amount without a tax on top, and with what was withheld, is owed again.',
  );
  const rest = await run('payouts', 'returned', ...path, '--reason', 'closed', '--yes');
  expect(rest.stdout).toContain('69.00 EUR came back');
  const shown = await runText('payouts', 'show', String(payout.number));
  expect(shown).toMatch(/LEFT THE BANK\n\s*EUR\s.*\s319\.00\s+319\.00\n/);
  expect(shown).toContain('yes, returned');
  const listed = await runText('payouts', 'returns', 'list', ...path);
  expect(listed).toContain('50.00');
});
