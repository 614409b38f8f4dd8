import { visible } from './visible.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for an element. Invisible characters, and those that reverse the line, are made visible. */
export function escapeHtml(text: string): string {
  return escapeValue(visible(text));
}

/** Escapes text for a quoted attribute. */
export function escapeValue(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/**
 * Escapes text for an element of XML. Characters that XML cannot have become U+FFFD.
 */
export function escapeXml(text: string): string {
  return escapeHtml(text)
    .replaceAll('&#39;', '&apos;')
    .replaceAll(/[\uFFFE\uFFFF]/g, '\uFFFD');
}

const LIGHT =
  '--ground:#f5f6f8;--card:#fff;--ink:#171b22;--soft:#5a6473;--line:#e2e6ec;--edge:#c3cad4;--field:#fff;--accent:#3347c8;' +
  '--accent-strong:#2737a6;--on-accent:#fff;--tint:#eef0fd;--bad:#b3261e;--bad-tint:#fdf0ef;--bad-line:#f2c6c2;' +
  '--good:#11663f;--good-tint:#ecf7f1;--good-line:#bfe3cf;--warn:#7a4d00;--warn-tint:#fdf5e4;--warn-line:#efd9a6;' +
  '--shadow:0 1px 2px #10182810,0 8px 28px #10182812';

const DARK =
  '--ground:#0d1014;--card:#161a20;--ink:#e9edf3;--soft:#9ea8b6;--line:#272d36;--edge:#424b58;--field:#0f1318;' +
  '--accent:#93a4ff;--accent-strong:#b1bdff;--on-accent:#0d1230;--tint:#1e2440;--bad:#ff9d94;--bad-tint:#2b1716;' +
  '--bad-line:#5c2a27;--good:#7fd7a6;--good-tint:#12261c;--good-line:#25513b;--warn:#f0c674;--warn-tint:#2a2213;' +
  '--warn-line:#564623;--shadow:0 1px 2px #0006,0 10px 30px #0006';

/**
 * The colours of everything people see, light and dark: those of the system, unless the root says another theme
 * (`data-theme`). The dashboard is built with them too.
 */
export const PALETTE =
  `:root{color-scheme:light dark;${LIGHT}}:root[data-theme=light]{color-scheme:light}` +
  `@media (prefers-color-scheme:dark){:root:not([data-theme=light]){${DARK}}}` +
  `:root[data-theme=dark]{color-scheme:dark;${DARK}}`;
