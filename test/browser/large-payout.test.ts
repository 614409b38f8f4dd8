import { expect, test } from 'vitest';
import { AFFILIATES, COMMISSIONS, makePayout, PAYOUTS } from '../api/fixtures.ts';
import { rounds } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectQuiet } from './dashboard-support.ts';
import { inChromium, type Page } from './support.ts';

/** More than a payout lists itself, and many more than a page shows. */
const [FEW, MANY] = [100, rounds(1200, 10_000)];
/**
 * How many more functions an action may call for each further line. A step that grows with the square of the lines, or that
 * shows all of them, is far above.
 */
const MOST_CALLS = 100;

inChromium(`a payout of ${MANY.toLocaleString('en-GB')} affiliates`, (chromium) => {
  const world = useWorld();

  test('is searched, ticked and completed like one of 100, with hardly more work', async () => {
    await world.api.patch('/v2/account', { hold_days: 0 });
    const numbers = Array.from({ length: MANY }, (_, index) => index + 1);
    const people = numbers.map((number) => `p${number}@example.com,Person,No${number}`).join('\n');
    const load = async (path: string, body: string) => {
      const done = await world.api.upload(path, body);
      expect(done.status, done.text).toBe(200);
    };
    const earn = (month: string, some: readonly number[]) =>
      load(
        `${COMMISSIONS}/import`,
        `external_id,affiliate_email,amount,currency\n${some
          .map((number) => `${month}-${number},p${number}@example.com,1.${10 + (number % 90)},usd`)
          .join('\n')}\n`,
      );
    await load(`${AFFILIATES}/import`, `email,name_first,name_last\n${people}\n`);
    const finance = await atDashboard(chromium, world, { path: '/payouts' });
    const { page } = finance;

    await earn('may', numbers.slice(0, FEW));
    const few = await completeAll(page, world.url, (await makePayout(world.api)).id, FEW);
    await earn('june', numbers);
    const payout = await makePayout(world.api);
    expect(payout.affiliates).toBeNull();
    const many = await completeAll(page, world.url, payout.id, MANY);

    for (const [action, calls] of Object.entries(many)) {
      const more = (calls - (few[action] ?? 0)) / (MANY - FEW);
      expect(more, `${action}: ${JSON.stringify({ few, many })}`).toBeLessThan(MOST_CALLS);
    }
    expect((await world.api.get(`${PAYOUTS}/${payout.id}`)).body).toMatchObject({
      status: 'paid',
      affiliate_count: MANY,
    });
    expectQuiet(finance);
  });
});

/**
 * Ticks all but one line of a payout, after searching, and completes it. Resolves to the number of calls of functions of the
 * dashboard in each action.
 */
async function completeAll(page: Page, url: string, payout: string, lines: number) {
  const whole = lines.toLocaleString('en-GB');
  await page.goto(`${url}/payouts/${payout}?step=complete`);
  await page.getByText(`1–25 of ${whole}`).waitFor();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Profiler.enable');
  await devtools.send('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const calls: Record<string, number> = {};
  /** The calls since it was asked before. */
  const newCalls = async () => {
    const { result } = await devtools.send('Profiler.takePreciseCoverage');
    const own = result.filter(({ url: script }) => script.includes('/assets/'));
    return own
      .flatMap(({ functions }) => functions)
      .reduce((sum, { ranges: [range] }) => sum + (range?.count ?? 0), 0);
  };
  const measure = async (action: string, act: () => Promise<unknown>) => {
    await newCalls();
    await act();
    calls[action] = await newCalls();
  };
  const search = page.getByRole('searchbox', { name: 'Search lines' });
  const complete = page.getByRole('button', { name: /^Complete payout #/ });
  await measure('search', async () => {
    await search.fill('p77@example');
    await page.getByText('1–1 of 1').waitFor();
  });
  await measure('tick', async () => {
    await page.getByRole('checkbox', { name: 'Select Person No77' }).check();
    await page.getByText('Paid (1 affiliate)').waitFor();
  });
  await measure('clear', async () => {
    await search.fill('');
    await page.getByText(`1–25 of ${whole}`).waitFor();
  });
  await measure('tick all', async () => {
    await page.getByRole('checkbox', { name: /^Also tick/ }).check();
    await page.getByText(`Paid (${whole} affiliates)`).waitFor();
  });
  await measure('untick', async () => {
    await page.getByRole('checkbox', { name: 'Select Person No1', exact: true }).uncheck();
    await page.getByText('Released (1 affiliate)').waitFor();
  });
  const paid = (lines - 1).toLocaleString('en-GB');
  await measure('ask', async () => {
    await complete.click();
    await page
      .getByRole('dialog')
      .getByText(new RegExp(`^Pays ${paid} affiliates `))
      .waitFor();
  });
  await measure('complete', async () => {
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Complete payout #/ })
      .click();
    await page.getByText('Payout completed').waitFor();
  });
  await devtools.detach();
  return calls;
}
