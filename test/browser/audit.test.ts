import { expect, test } from 'vitest';
import { useWorld } from '../support/world.ts';
import { atDashboard, expectAccessible } from './dashboard-support.ts';
import { inChromium } from './support.ts';

inChromium('the audit of a page', (chromium) => {
  const world = useWorld();

  test('finds a field without a label, and a text that is too faint only in dark mode', async () => {
    const { page } = await atDashboard(chromium, world, { path: '/payouts' });
    await page.getByRole('combobox', { name: 'Status' }).waitFor();
    await expectAccessible(page, true);
    const style = (rules: string) =>
      page.evaluate(`(() => {
        const sheet = new CSSStyleSheet();
        sheet.replaceSync(${JSON.stringify(rules)});
        document.adoptedStyleSheets = [sheet];
      })()`);
    // the colours of a kind of element are audited once
    await page.evaluate(`document.querySelector('h1').className = 'faint'`);
    await style('@media (prefers-color-scheme: dark) { .faint { color: #333; background: #222 } }');
    await expect(expectAccessible(page, true)).rejects.toThrow(/^dark [\s\S]*color-contrast/);
    await style('');
    await page
      .getByRole('combobox', { name: 'Status' })
      .evaluate((field) =>
        (field as unknown as { removeAttribute(name: string): void }).removeAttribute('aria-label'),
      );
    await expect(expectAccessible(page)).rejects.toThrow(/select-name/);
  });
});
