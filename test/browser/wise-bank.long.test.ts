import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { AFFILIATES, makeAffiliate, makeCommission, PAYOUTS } from '../api/fixtures.ts';
import { someOf } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE, WIDE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('paying through Wise to an IBAN', (chromium) => {
  const world = useWorld();

  test.each(
    someOf(
      [
        ['on a phone', PHONE],
        ['wide', WIDE],
      ] as const,
      1,
    ),
  )('from the destination to the file, %s', async (_, viewport) => {
    const { id } = await makeAffiliate(world.api, { name_first: 'Zoë', payout_method: null });
    await makeCommission(world.api, id, { amount: 10_000, currency: 'eur' });
    const visitor = await atDashboard(chromium, world, { path: `/affiliates/${id}`, viewport });
    const { page } = visitor;
    await page.getByRole('button', { name: 'Set destination' }).click();
    const form = page.getByRole('dialog');
    await form.getByRole('combobox', { name: 'Destination type' }).selectOption('Wise to an IBAN');
    // only what this type accepts
    expect(await form.getByLabel('BIC').count()).toBe(0);
    expect(await form.getByLabel('Routing number').count()).toBe(0);
    const save = form.getByRole('button', { name: 'Set destination' });
    expect(await save.isDisabled()).toBe(true);
    await form.getByLabel('Account holder').fill('Zoë Okafor');
    await form.getByLabel('IBAN').fill('DE88 3704 0044 0532 0130 00');
    await expectAccessible(page);
    await save.click();
    await form.getByText(/^iban .*wrong check digits/i).waitFor();
    await form.getByLabel('IBAN').fill('DE89 3704 0044 0532 0130 00');
    await form.getByLabel('Currency').fill('usd');
    await save.click();
    await form.getByText(/^currency .*EUR/i).waitFor();
    await form.getByLabel('Currency').fill('');
    await save.click();
    await page.getByText('Wise to an IBAN').first().waitFor();
    await page.getByText('In payment files: Zoe Okafor').waitFor();
    expect((await world.api.get(`${AFFILIATES}/${id}/destination`)).body.destinations).toMatchObject([
      { type: 'wise_bank', account_holder: 'Zoë Okafor', country: 'DE', last_four: '3000', currency: null },
    ]);

    const { body: payout } = await world.api.post(PAYOUTS);
    await page.goto(`${world.url}/payouts/${payout.id}?step=files`);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /Download/ }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/-wise_bank-eur\.csv$/);
    expect(readFileSync(await file.path(), 'utf8')).toContain('DE89370400440532013000');
    await expectAccessible(page);
    expectQuiet(visitor);
    // only one payout is unpaid at a time
    expect((await world.api.delete(`${PAYOUTS}/${payout.id}`)).status).toBe(204);
  });
});
