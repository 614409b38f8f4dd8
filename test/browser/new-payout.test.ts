import { expect, test } from 'vitest';
import { COMMISSIONS, type Json, makeAffiliate, makeCommission, PAYOUTS } from '../api/fixtures.ts';
import type { Api } from '../support/api.ts';
import { longRun, someOf } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, PHONE, WIDE } from './dashboard-support.ts';
import { inChromium } from './support.ts';

/** An affiliate of that name with an owed amount earned at an instant, or now. */
async function owed(api: Api, name: string, amount: number, earned?: string): Promise<Json> {
  const affiliate = await makeAffiliate(api, { name_first: name, paypal_email: 'paid@example.com' });
  await makeCommission(api, affiliate.id, { amount, ...(earned ? { occurred_at: earned } : {}) });
  return affiliate;
}

inChromium('a new payout', (chromium) => {
  const world = useWorld();
  const shop = async () => {
    const api = await world.otherAccount();
    await api.patch('/v2/account', { hold_days: 0 });
    return api;
  };

  for (const [size, viewport] of someOf(Object.entries({ 'on a phone': PHONE, wide: WIDE }), 1)) {
    test(`leaves out chosen affiliates, and includes them again, ${size}`, async () => {
      const api = await shop();
      const ada = await owed(api, 'Ada', 10_000);
      const ben = await owed(api, 'Ben', 2550);
      await owed(api, 'Cleo', 700);
      const at = { api, path: '/payouts/new', viewport };
      const mia = await atDashboard(chromium, world, { ...at, role: 'member' });
      const { page } = mia;
      const create = (of: number) =>
        page.getByRole('button', { name: `Create payout for ${of} affiliate${of === 1 ? '' : 's'}` });
      await create(3).waitFor();
      await page.getByRole('link', { name: 'Leave out Ada' }).click();
      await page.getByText('1 affiliate less and 100.00 USD less').waitFor();
      await page.getByRole('link', { name: 'Leave out Ben' }).click();
      await create(1).waitFor();
      // the URL contains the choice: a colleague who opens it sees the same
      expect(new URL(page.url()).searchParams.get('without')).toBe(`${ada.id},${ben.id}`);
      await page.reload();
      await create(1).waitFor();
      await expectAccessible(page);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
      await page.getByRole('button', { name: 'Pay Ben after all' }).click();
      await create(2).click();
      await page.getByRole('heading', { level: 1, name: /^Payout #/ }).waitFor();
      const { body } = await api.get(`${PAYOUTS}/current`);
      expect(body.affiliates.map(({ name }: Json) => name).sort()).toEqual(['Ben', 'Cleo']);
      expect(body.filters).toEqual({ affiliate_id: { nin: [ada.id] } });
      expectQuiet(mia);
    });
  }

  longRun.test(
    'names affiliates with one bank account, in the preview and before the payout is completed',
    async () => {
      const api = await shop();
      for (const name of ['Ada', 'Ben', 'Cleo']) {
        const { id } = await owed(api, name, 700);
        const iban = name === 'Cleo' ? 'FR1420041010050500013M02606' : 'DE89370400440532013000';
        await api.put(`/v2/affiliates/${id}/destination`, { type: 'sepa', account_holder: name, iban });
      }
      const mia = await atDashboard(chromium, world, { api, path: '/payouts/new', viewport: PHONE });
      const { page } = mia;
      const warning = page.getByRole('status').filter({ hasText: 'may point to fraud' });
      const named = warning.getByText(/…3000 is the account of affiliates/).first();
      await named.waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
      await page.getByRole('button', { name: 'Create payout for 3 affiliates' }).click();
      await page.getByRole('link', { name: 'Complete' }).click();
      await page.getByRole('checkbox', { name: /^Also tick 3 lines/ }).check();
      await page.getByRole('button', { name: /^Complete payout/ }).click();
      await page
        .getByRole('alertdialog')
        .or(page.getByRole('dialog'))
        .getByText(/…3000 is the account of affiliates/)
        .first()
        .waitFor();
      await expectAccessible(page);
      expectQuiet(mia);
    },
  );

  longRun.test(
    'reports when filters leave out other affiliates than before, though the same are paid',
    async () => {
      const api = await shop();
      await owed(api, 'Ada', 10_000);
      const ben = await makeAffiliate(api, { name_first: 'Ben', payout_method: 'wise' });
      const sale = await makeCommission(api, ben.id, { amount: 700 });
      await api.post(`${COMMISSIONS}/${sale.id}/hold`);
      const owner = await atDashboard(chromium, world, { api, path: '/payouts/new?view=out' });
      const { page } = owner;
      await page.getByRole('link', { name: 'Left out (1)' }).waitFor();
      await page.getByRole('combobox', { name: 'paid by' }).selectOption('PayPal');
      await page.getByText('1 affiliate less left out', { exact: true }).waitFor();
      expect(await page.getByText('no difference').count()).toBe(0);
      await page.getByRole('button', { name: 'Clear all filters' }).click();
      await page.getByText('1 affiliate more left out', { exact: true }).waitFor();
      await expectAccessible(page);
      expectQuiet(owner);
    },
  );

  test('names nobody of another account, and says that there is no such affiliate', async () => {
    const api = await shop();
    await owed(api, 'Ada', 10_000);
    const foreign = await owed(await shop(), 'Somebody else', 10_000);
    const path = `/payouts/new?without=${foreign.id}`;
    const owner = await atDashboard(chromium, world, { api, path });
    const { page } = owner;
    await page.getByText(`no such affiliate: ${foreign.id}`).first().waitFor();
    await page.getByRole('button', { name: `Pay #${foreign.id} after all` }).click();
    await page.getByRole('button', { name: 'Create payout for 1 affiliate' }).waitFor();
    expect(await page.getByText('Somebody else').count()).toBe(0);
  });

  longRun.test(
    "pays until the end of last month, until yesterday or until today in the account's time zone",
    async () => {
      const api = await shop();
      // the account's date always differs from UTC and from the reader's date
      const ends = ['Pacific/Kiritimati', 'Pacific/Pago_Pago'];
      const [zone, readers] = new Date().getUTCHours() < 11 ? ends.reverse() : ends;
      await api.patch('/v2/account', { time_zone: zone });
      const days = async () => {
        const [row] = await world.query<{ today: string; yesterday: string; month: string }>(
          `select to_char(at, 'YYYY-MM-DD') as today, to_char(at - interval '1 day', 'YYYY-MM-DD') as yesterday,
           to_char(date_trunc('month', at) - interval '1 day', 'YYYY-MM-DD') as month
         from (select now() at time zone '${zone}' as at) x`,
        );
        if (row === undefined) throw new Error('no row');
        return row;
      };
      const before = await days();
      await owed(api, 'Ada', 10_000, `${before.month}T00:00:00Z`);
      await owed(api, 'Ben', 2550);
      const at = { api, path: '/payouts/new', ...(readers && { timezoneId: readers }) };
      const owner = await atDashboard(chromium, world, at);
      const { page } = owner;
      const until = () => new URL(page.url()).searchParams.get('until');
      for (const [name, day] of [
        ['Today', 'today'],
        ['Yesterday', 'yesterday'],
        ['End of last month', 'month'],
      ] as const) {
        const preset = page.getByRole('button', { name, exact: true });
        await preset.click();
        await expect.poll(() => preset.getAttribute('aria-pressed')).toBe('true');
        const [then, now] = [before[day], (await days())[day]];
        expect([then, now]).toContain(until());
        expect(await page.getByLabel('earned up to and including').inputValue()).toBe(until());
      }
      await page.getByText('1 affiliate').first().waitFor();
      await page.getByText('Ada').waitFor();
      await page.getByText('Ben').waitFor({ state: 'detached' });
      await expectAccessible(page);
      expectQuiet(owner);
    },
  );
});
