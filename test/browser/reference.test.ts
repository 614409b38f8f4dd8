import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADDRESSES } from '../docs/pages.ts';
import { someOf } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { inChromium, type Page, type Visitor } from './support.ts';

const world = useWorld();

/** Unfolds everything, so that folded content is checked too. */
const unfold = (page: Page) =>
  page.evaluate('for (const each of document.querySelectorAll("details")) each.open = true');

/** How far the page exceeds the right edge, and which elements do. */
const overflowOf = (page: Page): Promise<{ pixels: number; culprits: string[] }> =>
  page.evaluate(`(() => {
    const width = document.documentElement.clientWidth;
    const clipped = (each) => {
      for (let at = each.parentElement; at; at = at.parentElement)
        if (getComputedStyle(at).overflowX !== 'visible') return true;
      return false;
    };
    const out = [...document.body.querySelectorAll('*')]
      .filter((each) => each.getBoundingClientRect().right > width + 1 && !clipped(each));
    return {
      pixels: document.documentElement.scrollWidth - width,
      culprits: out.slice(0, 5).map((each) => each.outerHTML.slice(0, 120)),
    };
  })()`);

/** Texts whose contrast with their background is below WCAG 2.2 AA: 4.5, or 3 for large ones. */
const faintTexts = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const parse = (color) => (color.match(/[\\d.]+/g) ?? []).map(Number);
    const over = ([r, g, b, a = 1], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a)];
    const behind = (each) => {
      if (!each) return [255, 255, 255];
      const color = parse(getComputedStyle(each).backgroundColor);
      return (color[3] ?? 1) === 1 ? color.slice(0, 3) : over(color, behind(each.parentElement));
    };
    const light = (color) => {
      const [r, g, b] = color.map((value) => {
        const part = value / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const faint = new Map();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const at = walker.currentNode.parentElement;
      if (walker.currentNode.data.trim() === '' || at.getClientRects().length === 0) continue;
      const style = getComputedStyle(at);
      const ground = behind(at);
      const [a, b] = [light(over(parse(style.color), ground)), light(ground)];
      const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      const isLarge = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
      if (ratio < (isLarge ? 3 : 4.5))
        faint.set(style.color + ' on ' + ground, at.outerHTML.slice(0, 100) + ' ' + ratio.toFixed(2));
    }
    return [...faint].map(([colors, example]) => colors + ': ' + example);
  })()`);

/** The structure of a page, as assistive technology reads it. */
const outlineOf = (
  page: Page,
): Promise<{
  headings: number[];
  doubled: string[];
  landmarks: Record<string, number>;
  unnamed: string[];
  plainTables: number;
}> =>
  page.evaluate(`(() => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    const seen = (selector) => all(selector).filter((each) => each.getClientRects().length > 0);
    const ids = all('[id]').map(({ id }) => id);
    return {
      headings: seen('h1,h2,h3,h4').map(({ tagName }) => Number(tagName[1])),
      doubled: ids.filter((id, index) => ids.indexOf(id) !== index),
      landmarks: { main: all('main').length, header: all('body>header').length, nav: seen('nav').length },
      unnamed: all('nav:not([aria-label]),section:not([aria-labelledby]):not(.group),pre:not([aria-label])')
        .map((each) => each.outerHTML.slice(0, 100)),
      plainTables: all('table').filter((each) => !each.querySelector('thead th[scope=col]')).length,
    };
  })()`);

inChromium('the reference in a browser', (chromium) => {
  // the layout of a page takes a second or more, so it is opened once for all checks
  describe.each([...someOf(ADDRESSES, 2), '/docs/unknown'])('%s', (address) => {
    const messages: string[] = [];
    let visitor: Visitor;
    beforeAll(async () => {
      visitor = await chromium.visitor({ scripts: true, kept: true });
      visitor.page.on('console', (message) => messages.push(message.text()));
      await visitor.page.goto(world.url + address);
      await unfold(visitor.page);
    });
    afterAll(() => visitor.context.close());

    test.each([360, 1024, 1440])('never scrolls sideways, on a screen of %i pixels', async (width) => {
      await visitor.page.setViewportSize({ width, height: 900 });
      expect(await overflowOf(visitor.page)).toEqual({ pixels: 0, culprits: [] });
    });

    test.each(['light', 'dark'] as const)('has enough contrast, in %s', async (colorScheme) => {
      await visitor.page.emulateMedia({ colorScheme });
      expect(await faintTexts(visitor.page)).toEqual([]);
    });

    test('has headings in order, named landmarks, tables with headers and no duplicate id', async () => {
      const { headings, ...rest } = await outlineOf(visitor.page);
      expect(rest).toEqual({
        doubled: [],
        landmarks: { main: 1, header: 1, nav: address === '/docs/unknown' ? 1 : 2 },
        unnamed: [],
        plainTables: 0,
      });
      expect(headings.filter((level) => level === 1)).toEqual([1]);
      const skipped = headings.filter((level, index) => level > (headings[index - 1] ?? 0) + 1);
      expect(skipped, String(headings)).toEqual([]);
    });

    test('logs nothing to the console: the policy allows all of it', () => {
      // the browser reports the missing page
      const wrong = messages.filter((text) => !text.startsWith('Failed to load resource'));
      expect([wrong, visitor.refusals, visitor.errors]).toEqual([[], [], []]);
    });
  });

  test('works with the keyboard: past the contents, with a visible focus', async () => {
    const { page } = await chromium.visitor();
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${world.url}/docs/payouts`);
    await page.keyboard.press('Tab');
    const focused = (): Promise<{ text: string; isSeen: boolean; ring: string }> =>
      page.evaluate(`(() => {
        const at = document.activeElement;
        const { top, bottom } = at.getBoundingClientRect();
        return { text: at.textContent, isSeen: top >= 0 && bottom <= innerHeight, ring: getComputedStyle(at).outlineStyle };
      })()`);
    expect(await focused()).toEqual({ text: 'Skip to the content', isSeen: true, ring: 'solid' });
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    const next = await focused();
    expect(next.text).toContain('/v2/affiliates/payouts');
    expect([next.isSeen, next.ring]).toEqual([true, 'solid']);
  });

  test('leads on a phone from the contents to an operation, whose example scrolls by itself', async () => {
    const { page } = await chromium.visitor();
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${world.url}/docs`);
    await page.getByText('Contents', { exact: true }).click();
    await page.getByRole('link', { name: 'Commissions', exact: true }).first().click();
    await page
      .getByRole('link', { name: /Refund a commission$/ })
      .last()
      .click();
    await page.waitForURL('**/docs/commissions#refundCommission');
    const place: { top: number; scrolls: boolean } = await page.evaluate(`(() => {
      const section = document.getElementById('refundCommission');
      const code = section.querySelector('pre');
      code.scrollLeft = 40;
      return { top: section.getBoundingClientRect().top, scrolls: code.scrollLeft > 0 };
    })()`);
    expect(place.top).toBeGreaterThanOrEqual(0);
    expect(place.top).toBeLessThan(200);
    expect(place.scrolls).toBe(true);
  });
});
