import { escapeHtml } from '../../kernel/html.ts';
import { htmlDocument, LOGO } from '../html/html.ts';
import type { Book } from './book.ts';
import { PARTS } from './overview.ts';
import { addressOf, GROUPS, SECTIONS, type Section } from './sections.ts';
import { REFERENCE_STYLE } from './style.ts';

/** What a page of the reference shows. */
export interface Leaf {
  /** Plain text. */
  readonly title: string;
  /** The section, null for the overview, undefined for a page that is neither. */
  readonly section: Section | null | undefined;
  /** Inside of `main`, as HTML. */
  readonly body: string;
}

/** A whole document of the reference around its inside. */
export function leafHtml(book: Book, { title, section, body }: Leaf): string {
  const contents = contentsHtml(book, section);
  const inside =
    '<a class="skip" href="#content">Skip to the content</a>' +
    `<header class="top"><a class="brand" href="/docs">${LOGO}Payhook</a><span class="what">API reference</span>` +
    '<a class="raw" href="/v2/openapi.json">OpenAPI</a></header>' +
    `<details class="menu"><summary>Contents</summary><nav aria-label="Contents, folded">${contents}</nav></details>` +
    `<div class="frame"><nav class="side" aria-label="Contents">${contents}</nav>` +
    `<main id="content">${body}${turnHtml(section)}</main></div>`;
  return htmlDocument({ title, style: REFERENCE_STYLE, body: inside });
}

function contentsHtml(book: Book, section: Section | null | undefined): string {
  const groups = GROUPS.map(
    ({ title, sections }) =>
      `<p>${escapeHtml(title)}</p><ul>${sections.map((each) => entryHtml(book, each, section)).join('')}</ul>`,
  );
  return `<ul>${overviewEntry(section)}</ul>${groups.join('')}`;
}

const current = (isCurrent: boolean) => (isCurrent ? ' aria-current="page"' : '');
const inner = (entries: readonly (readonly [string, string])[]) =>
  `<ul>${entries.map(([id, title]) => `<li><a href="#${id}">${escapeHtml(title)}</a></li>`).join('')}</ul>`;

function overviewEntry(section: Section | null | undefined): string {
  const parts = section === null ? inner(PARTS.map(({ id, title }) => [id, title])) : '';
  return `<li><a href="/docs"${current(section === null)}>Overview</a>${parts}</li>`;
}

function entryHtml(book: Book, entry: Section, section: Section | null | undefined): string {
  const isCurrent = entry === section;
  const records = book.recordsOf(entry).length > 0 ? [['records', 'Records'] as const] : [];
  const types = entry.slug === 'events' ? [['types', 'Types of event'] as const] : [];
  const operations = book.operationsOf(entry).map(({ id, summary }) => [id, summary] as const);
  const parts = isCurrent ? inner([...operations, ...types, ...records]) : '';
  return `<li><a href="${addressOf(entry)}"${current(isCurrent)}>${escapeHtml(entry.title)}</a>${parts}</li>`;
}

/** Where one reads on. */
function turnHtml(section: Section | null | undefined): string {
  if (section === undefined) return '';
  const pages: readonly (Section | null)[] = [null, ...SECTIONS];
  const at = pages.indexOf(section);
  const to = (page: Section | null | undefined, word: string) =>
    page === undefined
      ? '<span></span>'
      : `<a href="${addressOf(page)}" rel="${word === 'Previous' ? 'prev' : 'next'}"><small>${word}</small>` +
        `${escapeHtml(page?.title ?? 'Overview')}</a>`;
  return `<nav class="turn" aria-label="Pages">${to(pages[at - 1], 'Previous')}${to(pages[at + 1], 'Next')}</nav>`;
}
