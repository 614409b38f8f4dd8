import { expect, test } from 'vitest';
import { AFFILIATES, completePayout, makePayee, makePayout, PAYOUTS } from '../api/fixtures.ts';
import { achReturns } from '../support/ach-returns.ts';
import { someOf } from '../support/depth.ts';
import { type NachaPayment, paymentsIn } from '../support/nacha.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE, WIDE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('returns and corrections of a bank', (chromium) => {
  const world = useWorld();
  const api = useAccount(world);

  test.each(
    someOf(
      [
        ['wide', WIDE],
        ['on a phone', PHONE],
      ] as const,
      1,
    ),
  )('are read from a file, booked, and decided about, %s', async (_, viewport) => {
    await api.patch('/v2/account', {
      originator: {
        immediate_destination: '021000021',
        immediate_destination_name: 'JPMorgan Chase',
        immediate_origin: '1234567890',
        immediate_origin_name: 'Difference Engines',
        company_name: 'Difference Engin',
        company_id: '1234567890',
      },
    });
    const people = [];
    for (const account_holder of ['Zoe Okafor', 'Bob Ray', 'Ada King'])
      people.push(
        await makePayee(
          api,
          {
            type: 'ach',
            account_holder,
            routing_number: '121042882',
            account_number: '000123456789',
            account_type: 'checking',
          },
          { commission: { amount: 1000, currency: 'usd' } },
        ),
      );
    const payout = await makePayout(api);
    const sent = await api.get(`${PAYOUTS}/${payout.id}/payment-files/nacha`);
    const [zoe, bob, ada] = paymentsIn(sent.text) as [NachaPayment, NachaPayment, NachaPayment];
    await completePayout(api, payout);
    const file = achReturns([
      { payment: zoe, code: 'R02' },
      { payment: bob, code: 'C02', data: '021000021' },
      { payment: ada, code: 'C05', data: '32' },
    ]);

    const owner = await atDashboard(chromium, world, { api, path: `/payouts/${payout.id}`, viewport });
    const { page } = owner;
    await page.getByRole('button', { name: 'Read returned money from a file' }).waitFor();
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'returns.ach', mimeType: 'text/plain', buffer: Buffer.from(file) });
    const book = page.getByRole('dialog', { name: 'Record returned money' });
    await book.getByText('the account is closed').filter({ visible: true }).first().waitFor();
    await book.getByText('It corrects where 2 affiliates are paid').waitFor();
    await book.getByRole('button', { name: 'Record returned money' }).click();
    await page.getByText('Recorded that 1 payment came back').waitFor();
    await page.getByText('2 affiliates: the bank corrected where they are paid.').waitFor();
    await expectAccessible(page);
    if (process.env.PICTURES)
      await page.screenshot({ path: `${process.env.PICTURES}-${viewport.width}.png` });

    await page.getByRole('button', { name: 'Use this correction' }).first().click();
    const form = page.getByRole('dialog', { name: 'Use this correction' });
    await form.getByText('Routing number: 121042882 → 021000021').waitFor();
    await form.getByRole('button', { name: 'Use this correction' }).click();
    await page.getByText('The destination was changed').waitFor();
    await page.getByText('1 affiliate: the bank corrected where it is paid.').waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await page.getByRole('dialog', { name: 'Dismiss' }).getByRole('button', { name: 'Dismiss' }).click();
    await page.getByText('The correction was dismissed').waitFor();
    const { body } = await api.get(`${AFFILIATES}/${people[1]?.id}/destination`);
    expect(body.destinations).toMatchObject([{ routing_number: '021000021', last_four: '6789' }]);
    expectQuiet(owner);
  });
});
