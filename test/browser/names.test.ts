import { beforeAll, expect, test } from 'vitest';
import { visible } from '../../src/kernel/visible.ts';
import { COMMISSIONS, type Json, makeAffiliate, makePayout, PAYOUTS } from '../api/fixtures.ts';
import { someOf } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible, expectQuiet, goTo, PHONE, WIDE } from './dashboard-support.ts';
import { inChromium, type Page } from './support.ts';

const MARKUP = '<img src=x onerror="window.harmed=1"></script><b>';
// markup, an unclosed right-to-left override, and no place to break; then 200 right-to-left characters
const FIRST = `${MARKUP}\u202e\u2067`.padEnd(200, 'W');
/** As it is shown: no character changes the direction of the text after it, such as an amount. */
const SHOWN = visible(FIRST);
const LAST = 'عباس שלום '.repeat(20);
/** Together 15 digits: 149,999,999,999,850 minor units of each. */
const SALES = 150;
const SUMS = ['1,499,999,999,998.50', '149,999,999,999,850', '149,999,999,999.850'];

inChromium('a hostile name and sums of 15 digits', (chromium) => {
  const world = useWorld();
  let affiliate: Json;
  let payout: Json | undefined;
  beforeAll(async () => {
    await world.api.patch('/v2/account', { hold_days: 0 });
    affiliate = await makeAffiliate(world.api, {
      name_first: FIRST,
      name_last: LAST.trim(),
      paypal_email: `${'w'.repeat(60)}@${'w'.repeat(60)}.example.com`,
    });
    await makeAffiliate(world.api, { name_first: 'Ada', email: 'ada@example.com' });
    const sales = Array.from({ length: SALES }, (_, sale) =>
      [
        ['usd', '9999999999.99'],
        ['jpy', '999999999999'],
        ['bhd', '999999999.999'],
      ].map(
        ([currency, amount]) =>
          `${currency}-${sale},${affiliate.email},${currency},${amount},${'o'.repeat(200)}`,
      ),
    ).flat();
    const lines = [
      'external_id,affiliate_email,currency,amount,order_id',
      ...sales,
      'one,ada@example.com,usd,1.00,',
      '',
    ];
    const done = await world.api.upload(`${COMMISSIONS}/import`, lines.join('\n'));
    expect(done.status, done.text).toBe(200);
  });

  /** Elements that overflow, markup that was executed, and text that may reverse what follows. */
  const broken = (page: Page): Promise<string[]> =>
    page.evaluate(`(() => {
      const places = [document.documentElement, ...document.querySelectorAll(
        // the first lines of a file have as many columns as the file
        'dialog .overlay-body, .bar, .card, .stacked, .table-frame:not([aria-label^="The first lines"])')];
      const wide = places.filter((each) => each.scrollWidth > each.clientWidth + 1);
      return [
        ...wide.map((each) => each.tagName + '.' + each.className + ' ' + each.scrollWidth + ' > ' + each.clientWidth),
        ...(window.harmed ? ['harmed'] : []),
        ...(/[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText) ? ['a character that changes the direction of text'] : []),
      ];
    })()`);
  /** Names that make a row higher than a few lines, and badges outside of the screen. */
  const cut = (page: Page): Promise<string[]> =>
    page.evaluate(`[
      ...[...document.querySelectorAll('.table .rowlink')].filter((each) => each.clientHeight > 80),
      ...[...document.querySelectorAll('.table .status')]
        .filter((each) => each.getBoundingClientRect().right > document.documentElement.clientWidth),
    ].map((each) => each.textContent.slice(0, 20))`);
  const see = async (page: Page, path: string, seen: string) => {
    await goTo(page, path);
    await page.getByText(seen).first().waitFor();
    expect(await broken(page), path).toEqual([]);
  };

  for (const [size, viewport] of someOf(Object.entries({ 'a phone': PHONE, wide: WIDE }), 1)) {
    test(`is text that fits everywhere it is shown, on ${size}`, async () => {
      const ada = await atDashboard(chromium, world, { path: '/', viewport });
      const { page } = ada;
      const { id } = affiliate;
      // the other size may have left a payout, whose commissions are not in a preview
      if (payout) await world.api.delete(`${PAYOUTS}/${payout.id}`);
      await see(page, '/affiliates', SHOWN);
      for (const sum of SUMS) await page.getByText(sum).first().waitFor();
      await page.getByText('No destination').first().waitFor();
      expect(await cut(page)).toEqual([]);
      await expectAccessible(page);
      await see(page, `/affiliates/${id}`, SHOWN);
      await see(page, `/affiliates/${id}?open=edit`, 'Edit');
      await see(page, `/affiliates/${id}?open=adjust`, 'Adjust');
      await page.getByLabel('Amount').fill('9999999999.99');
      expect(await broken(page)).toEqual([]);
      await page.getByLabel('Currency').fill('Bahrain');
      await page.keyboard.press('Enter');
      await page.getByLabel('Amount').fill('1.2345');
      await page.getByText('Enter an amount in BHD above 0, such as 15.000.').waitFor();
      await see(page, '/commissions', SHOWN);
      expect(await cut(page)).toEqual([]);
      const { body } = await world.api.get(`${COMMISSIONS}?affiliate_id=${id}&currency=bhd`);
      await see(page, `/commissions?open=${body.data[0].id}`, '999,999,999.999 BHD');
      await see(page, '/', SUMS[2] ?? '');
      await expectAccessible(page);

      await see(page, '/payouts/new', SHOWN);
      await see(page, '/payouts/new?view=out&currency=eur', 'Left out');
      payout = await makePayout(world.api);
      await see(page, '/payouts', SUMS[2] ?? '');
      await see(page, `/payouts/${payout.id}`, SHOWN);
      expect(await cut(page)).toEqual([]);
      await page.emulateMedia({ media: 'print' });
      expect(await broken(page)).toEqual([]);
      await page.getByText(SHOWN).first().waitFor();
      await page.emulateMedia({ media: null });
      await see(page, `/payouts/${payout.id}?line=${id}`, SUMS[1] ?? '');
      await see(page, `/payouts/${payout.id}?step=files`, SUMS[2] ?? '');
      await see(page, `/payouts/${payout.id}?step=complete`, SHOWN);
      await page.getByRole('checkbox', { name: /^Also tick/ }).check();
      await page.getByRole('button', { name: /^Paid in part: .*JPY/ }).click();
      const part = page.getByRole('dialog', { name: /^Payment to/ });
      expect(await broken(page)).toEqual([]);
      await part.getByLabel('Amount paid').fill('149999999999849');
      await part.getByText('1 JPY is owed again.').waitFor();
      await part.getByRole('button', { name: 'Tick with 149,999,999,999,849 JPY' }).click();
      await page.getByText('149,999,999,999,849').first().waitFor();
      await page.getByRole('button', { name: /^Complete payout #/ }).click();
      const question = page.getByRole('dialog', { name: /^Complete payout #/ });
      await question.getByText('1 affiliate 149,999,999,999.850 BHD').waitFor();
      expect(await broken(page)).toEqual([]);
      await expectAccessible(page);
      expect((await world.api.get(`${PAYOUTS}/${payout.id}`)).body.status).toBe('unpaid');

      await goTo(page, '/affiliates');
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Go to anything' }).fill('onerror');
      await page.getByRole('option', { name: MARKUP }).waitFor();
      expect(await broken(page)).toEqual([]);
      await expectAccessible(page);

      await goTo(page, '/import?kind=affiliates');
      const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
      const file = `email,name_first,name_last,${cell(MARKUP)}\nnew@example.com,${cell(FIRST)},${LAST},x\nnobody,x,y,z\n`;
      await page.locator('input[type=file]').setInputFiles({
        name: `${MARKUP.replace('/', '')}.csv`,
        mimeType: 'text/csv',
        buffer: Buffer.from(file),
      });
      await page.getByRole('button', { name: /^Import 1 affiliate/ }).waitFor();
      await page
        .getByLabel('The first lines, as they are read')
        .getByText('new@example.com', { exact: true })
        .waitFor();
      expect(await broken(page)).toEqual([]);
      await expectAccessible(page);
      expectQuiet(ada);
    });
  }
});
