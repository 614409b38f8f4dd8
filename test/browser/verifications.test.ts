import { expect, test } from 'vitest';
import { makePayee, makePayout, PAYOUTS } from '../api/fixtures.ts';
import { verification } from '../support/bank.ts';
import { someOf } from '../support/depth.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE, WIDE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('the verification of payees', (chromium) => {
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
  )(
    'is read from a file, shown before anybody approves, and corrected by one name, %s',
    async (_, viewport) => {
      await api.patch('/v2/account', { debtor: { name: 'Shop', iban: 'DE02120300000000202051' } });
      const people = [];
      for (const account_holder of ['P. Schmitz', 'Bob', 'Ada'])
        people.push(
          await makePayee(
            api,
            { type: 'sepa', account_holder, iban: 'DE89370400440532013000' },
            { commission: { amount: 1000, currency: 'eur' } },
          ),
        );
      const payout = await makePayout(api);
      const file = await api.get(`${PAYOUTS}/${payout.id}/payment-files/sepa`);
      const id = /<MsgId>(.*?)</.exec(file.text)?.[1] ?? '';
      const [close, none] = people.map((each) => `P${payout.number}-A${each.id}`);
      const report = verification(
        id,
        [
          { reference: close ?? '', status: 'RVMC', text: 'Peter Schmitz' },
          { reference: none ?? '', status: 'RVNM' },
        ],
        1,
      );

      const owner = await atDashboard(chromium, world, {
        api,
        path: `/payouts/${payout.id}?step=send`,
        viewport,
      });
      const { page } = owner;
      await page.getByRole('button', { name: 'Read a verification of payees' }).waitFor();
      await page
        .locator('input[type=file]')
        .setInputFiles({ name: 'vop.xml', mimeType: 'text/xml', buffer: Buffer.from(report) });
      await page.getByText('2 affiliates: the name does not match the account').waitFor();
      await page.getByText('Peter Schmitz').waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Use this name' }).click();
      const form = page.getByRole('dialog', { name: 'Use this name' });
      await form.getByText('“Peter Schmitz” replaces “P. Schmitz”').waitFor();
      await form.getByRole('button', { name: 'Use this name' }).click();
      await page.getByText('The account holder was changed').waitFor();
      await page.getByText('1 affiliate: the name does not match the account').waitFor();
      expect((await api.get(`${PAYOUTS}/${payout.id}`)).body.revision).toBe(payout.revision + 1);
      expectQuiet(owner);
    },
  );
});
