import { expect, test } from 'vitest';
import { ENDPOINTS, makeAffiliate, makeCommission, makePayout } from '../api/fixtures.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('the start of the dashboard', (chromium) => {
  const world = useWorld();

  test('from an empty account to the owed amount: steps tick themselves, sums lead to their rows', async () => {
    const visitor = await atDashboard(chromium, world, { path: '/', viewport: PHONE });
    const { page } = visitor;
    await page.getByText('Import your affiliates (to do)').waitFor();
    await page.getByText('Amounts that name no currency are in USD.').waitFor();
    const settings = page.getByRole('link', { name: 'Change currency and hold' });
    expect(await settings.getAttribute('href')).toBe('/settings/account');
    await page.getByText('Nothing is owed.').waitFor();
    await page.getByRole('button', { name: 'Copy npx payhook payouts create' }).waitFor();
    const names = [
      'Import affiliates',
      'Import commissions',
      'Add an endpoint',
      'Invite a colleague',
      'Preview a payout',
    ];
    for (const name of names) await page.getByRole('link', { name, exact: true }).first().waitFor();
    await expectAccessible(page);
    await world.api.patch('/v2/account', { hold_days: 0 });
    const ready = await makeAffiliate(world.api, { paypal_email: 'ready@example.com' });
    const paused = await makeAffiliate(world.api, { is_ready_for_payout: false });
    await makeCommission(world.api, ready.id);
    await makeCommission(world.api, paused.id, { amount: 250 });
    const payout = await makePayout(world.api);
    const missing = await makeAffiliate(world.api);
    await makeCommission(world.api, missing.id, { amount: 4000 });
    await page.reload();
    await page.getByText('Import your affiliates (done)').waitFor();
    await page.getByRole('heading', { name: `Payout #${payout.number}` }).waitFor();
    await page.getByRole('row', { name: 'Total 52.50 USD' }).waitFor();
    await page.getByText('1 affiliate owed money in a currency without a destination').waitFor();
    await expectAccessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
    // a chart is read with the keys, and is a table on demand
    const chart = page.getByRole('slider', { name: 'Commissions by month in USD' });
    await chart.focus();
    const reading = await chart.getAttribute('aria-valuetext');
    expect(reading).toMatch(/^\p{L}+ \d{4}: Earned 52.50 USD, Refunded 0.00 USD, Paid 0.00 USD$/u);
    await page.keyboard.press('ArrowLeft');
    expect(await chart.getAttribute('aria-valuetext')).toMatch(/: Earned 0.00 USD/);
    await page.keyboard.press('t');
    await page.getByRole('row', { name: / 52.50 USD 0.00 USD 0.00 USD/ }).waitFor();
    await expectAccessible(page);
    await page.getByText('No deliveries in the last 24 hours.').waitFor();
    await world.api.post(ENDPOINTS, { url: 'https://example.com/hook' });
    await world.api.post('/v2/events', { type: 'order.paid', data: {} });
    await world.api.post('/v2/users', { email: 'grace@example.com', name: 'Grace', role: 'finance' });
    await page.reload();
    await page.getByRole('link', { name: '1 delivery' }).waitFor();
    const hours = page.getByRole('slider', { name: 'Deliveries by hour' });
    expect(await hours.getAttribute('aria-valuetext')).toMatch(/Delivered 0, Failed 0, Waiting 1$/);
    await expectAccessible(page);
    await page.getByRole('heading', { name: `Payout #${payout.number}` }).waitFor();
    expect(await page.getByText('Set up Payhook').count()).toBe(0);
    await page.getByRole('link', { name: 'Payouts paused' }).click();
    await page.getByRole('link', { name: paused.email }).waitFor();
    expect(await page.getByRole('link', { name: missing.email }).count()).toBe(0);
    expectQuiet(visitor);
  });
});
