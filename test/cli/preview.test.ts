import { expect, test } from 'vitest';
import { bookDebt, COMMISSIONS, makeAffiliate, makeCommission, PAYOUTS } from '../api/fixtures.ts';
import { longRun } from '../support/depth.ts';
import { salesFor, takeIn } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { commandsOf } from './here.ts';
import { useMachine } from './support.ts';

const world = useWorld();
const api = useAccount(world);
const { run, runJson, runText } = commandsOf(world, api, useMachine());

test('payouts preview says who gets what, who is left out and why, and how to include them', async () => {
  await api.patch('/v2/account', { minimum_payout: { usd: 500 } });
  const paid = await makeAffiliate(api, { name_first: 'Grace', name_last: 'Hopper' });
  await makeCommission(api, paid.id, { amount: 1234 });
  const low = await makeAffiliate(api, { name_first: 'Lo' });
  await makeCommission(api, low.id, { amount: 499 });
  const off = await makeAffiliate(api, { name_first: 'Off', is_ready_for_payout: false });
  await makeCommission(api, off.id);
  const quiet = await makeAffiliate(api, { name_first: 'Quiet', status: 'inactive' });
  await makeCommission(api, quiet.id);
  const debtor = await makeAffiliate(api, { name_first: 'Deb' });
  await bookDebt(world, debtor.id, -70);
  const held = await makeAffiliate(api, { name_first: 'Held' });
  const { id } = await makeCommission(api, held.id);
  await api.post(`${COMMISSIONS}/${id}/hold`);
  await api.patch('/v2/account', { hold_days: 10 });
  const waiting = await makeAffiliate(api, { name_first: 'Wait' });
  await makeCommission(api, waiting.id, { occurred_at: '2998-12-22T10:15:00Z' });

  const text = await runText('payouts', 'preview');
  expect(text).toMatch(/Grace Hopper .* 12\.34 {2}USD/);
  expect(text).toMatch(/Lo .* 4\.99 {2}USD .*below minimum .*at 5\.00 USD, or with --ignore-minimum/);
  expect(text).toMatch(/Off .*not ready .*payouts are resumed: payhook affiliates change --ready/);
  expect(text).toMatch(/Quiet .*affiliate inactive .*--filter affiliate_status=inactive/);
  expect(text).toMatch(/Deb .*-0\.70 .*negative balance .*new commissions exceed the negative balance/);
  expect(text).toMatch(/Held .*on hold .*the review ends: payhook commissions unhold/);
  expect(text).toMatch(/Wait .*on hold .*the hold ends, first on 2999-01-01 10:15 \(UTC\)/);
  const filtered = await runText('payouts', 'preview', '--filter', `affiliate_id=${paid.id}`);
  expect(filtered).not.toContain('LEFT OUT');
  expect(await runJson('payouts', 'preview')).toEqual({
    ...(await api.post(`${PAYOUTS}/preview`)).body,
    as_of: expect.any(String),
  });
});

test('affiliates with one bank account are named by payouts preview, show and complete', async () => {
  const [ada, ben] = [
    await makeAffiliate(api, { name_first: 'Ada' }),
    await makeAffiliate(api, { name_first: 'Ben' }),
  ];
  for (const { id } of [ada, ben]) {
    const sepa = { type: 'sepa', account_holder: 'Ada', iban: 'DE89370400440532013000' };
    await api.put(`/v2/affiliates/${id}/destination`, sepa);
    await makeCommission(api, id);
  }
  const shared = `sepa …3000 is the account of affiliates ${ada.id}, ${ben.id}`;
  expect(await runText('payouts', 'preview')).toContain(shared);
  await api.post(PAYOUTS);
  expect(await runText('payouts', 'show', 'current')).toContain(shared);
  expect(await runText('payouts', 'signals', 'current', '--rule', 'shared_destination')).toContain(shared);
  expect((await runJson('payouts', 'signals', 'current', '--ended')).data).toEqual([]);
  const file = await runText('payouts', 'export', 'current', '--format', 'signals', '-o', '-');
  expect(file.match(/,shared_destination,/g)).toHaveLength(2);
  const complete = ['payouts', 'complete', 'current', '--all-paid', '--also-without-file', '--yes'];
  const { stderr } = await run(...complete);
  expect(stderr).toContain(shared);
});

longRun.test('above 1,000 affiliates the first 1,000 are named, and the others are counted', async () => {
  const { id } = await makeAffiliate(api, { name_first: 'Many 0' });
  const made = await world.query<{ id: string }>(
    `insert into affiliates (account_id, email, name_first)
     select account_id, 'many-' || n || '@example.com', 'Many ' || n
     from affiliates, generate_series(1, 1003) n where id = $1 returning id`,
    [id],
  );
  await takeIn(api, salesFor([id, ...made.map((row) => Number(row.id))], 1004));
  const text = await runText('payouts', 'preview');
  expect(text.match(/Many \d+/g)).toHaveLength(1000);
  expect(text).toContain('and 4 affiliates more: narrow them down with --filter and --search');
});
