import { expect, test } from 'vitest';
import { AFFILIATES, makeAffiliate, makeCommission, PAYOUTS } from '../api/fixtures.ts';
import { camt } from '../support/bank.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, clicksOn, expectQuiet, WIDE } from './dashboard-support.ts';
import { inChromium, type Page } from './support.ts';

/** Chooses a file with a button, which is one click; the dialog of the system has the others. */
async function choose(page: Page, button: string, name: string, content: string): Promise<void> {
  const [dialog] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: button }).click(),
  ]);
  await dialog.setFiles({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(content) });
}

inChromium('a task', (chromium) => {
  const world = useWorld();

  test('an import with bad lines is corrected and imported in five clicks', async () => {
    const api = await world.otherAccount();
    await makeAffiliate(api, { email: 'ada@example.com' });
    const visitor = await atDashboard(chromium, world, { api, role: 'member', viewport: WIDE });
    const { page } = visitor;
    const clicks = await clicksOn(page);
    const file = (email: string) =>
      `external_id,affiliate_email,amount,currency\na,ada@example.com,1.00,usd\nb,${email},2.00,usd\n`;
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Commissions' }).click();
    // the navigation has a link to the import of affiliates
    await page
      .getByRole('main')
      .getByRole('link', { name: /^Import/ })
      .click();
    await choose(page, 'Choose a file', 'month.csv', file('adda@example.com'));
    await page.getByRole('row', { name: /^3 .*adda@example.com Belongs to no affiliate/ }).waitFor();
    await choose(page, 'Choose another file', 'month.csv', file('ada@example.com'));
    await page.getByRole('button', { name: 'Import 2 commissions' }).click();
    await page.getByText('2 new.').waitFor();
    expect(await clicks()).toBe(5);
    expectQuiet(visitor);
  });

  test("a payout is created, its file downloaded, the bank's answer read, and completed in nine clicks", async () => {
    const api = await world.otherAccount();
    await api.patch('/v2/account', {
      hold_days: 0,
      debtor: { name: 'Shop', iban: 'DE02120300000000202051' },
    });
    const { id } = await makeAffiliate(api, { name_first: 'Ada' });
    const sepa = { type: 'sepa', account_holder: 'Ada', iban: 'DE89370400440532013000' };
    expect((await api.put(`${AFFILIATES}/${id}/destination`, sepa)).status).toBe(200);
    await makeCommission(api, id, { amount: 700, currency: 'eur' });
    const visitor = await atDashboard(chromium, world, { api, role: 'member', viewport: WIDE });
    const { page } = visitor;
    const clicks = await clicksOn(page);
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Payouts' }).click();
    await page.getByRole('link', { name: 'New payout' }).first().click();
    await page.getByRole('button', { name: 'Create payout for 1 affiliate' }).click();
    await page.getByRole('link', { name: 'Continue to payment files' }).click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: /^Download/ }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/-sepa-eur\.xml$/);
    await page.getByRole('link', { name: 'Complete' }).click();
    const { body: payout } = await api.get(`${PAYOUTS}/current`);
    const answer = camt([{ reference: `P${payout.number}-A${id}`, amount: 700 }]);
    await choose(page, 'Tick from a file', 'answer.xml', answer);
    await page.getByText('1 line paid').waitFor();
    await page.getByRole('button', { name: /^Complete payout/ }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Complete payout/ })
      .click();
    await page.getByText('Payout completed').waitFor();
    expect(await clicks()).toBe(9);
    expect((await api.get(`${PAYOUTS}/${payout.id}`)).body.status).toBe('paid');
    expectQuiet(visitor);
  });
});
