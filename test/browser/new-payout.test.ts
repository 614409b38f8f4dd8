import { expect, test } from 'vitest';
import { type Json, makeAffiliate, makeCommission } from '../api/fixtures.ts';
import type { Api } from '../support/api.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet } from './dashboard-support.ts';
import { inChromium } from './support.ts';

/** An affiliate of that name who is owed something that was earned at an instant, or now. */
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

  test("pays until the end of last month, until yesterday or until today in the account's time zone", async () => {
    const api = await shop();
    // where the account is, it is another day than in UTC and than where the reader is, at any hour
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
    const owner = await atDashboard(
      chromium,
      { api, url: world.url },
      { path: '/payouts/new', ...(readers && { timezoneId: readers }) },
    );
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
  });
});
