import { escapeHtml } from '../../kernel/html.ts';
import { type Book, bookOf } from './book.ts';
import { readDescription } from './description.ts';
import { eventTypesHtml } from './events.ts';
import { groupsHtml } from './groups.ts';
import { operationHtml, routeOf } from './operation.ts';
import { overviewHtml } from './overview.ts';
import { recordsHtml } from './records.ts';
import { EXAMPLE_URL, MISSING, OVERVIEW } from './routes.ts';
import { SECTIONS, type Section } from './sections.ts';
import { leafHtml } from './shell.ts';
import { paragraphs } from './text.ts';

/** All pages of the reference by name, made from an OpenAPI description of `/v2`. */
export function pagesOf(description: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const book = bookOf(readDescription(description), EXAMPLE_URL);
  const overview = leafHtml(book, { title: 'API reference', section: null, body: overviewHtml(book) });
  return new Map([
    [OVERVIEW, overview],
    ...SECTIONS.map((section) => [section.slug, sectionPage(book, section)] as const),
    [MISSING, missingPage(book)],
  ]);
}

function sectionPage(book: Book, section: Section): string {
  const operations = book.operationsOf(section);
  const list = operations.map(
    (operation) =>
      `<li><a href="#${operation.id}">${routeOf(operation)}<span>${escapeHtml(operation.summary)}</span></a></li>`,
  );
  const body =
    `<h1>${escapeHtml(section.title)}</h1>` +
    `<div class="lead">${paragraphs(section.lead, (word) => book.linkTo(word, section))}</div>` +
    `<ul class="list">${list.join('')}</ul>` +
    operations.map((operation) => operationHtml(book, section, operation)).join('') +
    (section.slug === 'events' ? eventTypesHtml() : '') +
    recordsHtml(book, section);
  return leafHtml(book, { title: section.title, section, body });
}

function missingPage(book: Book): string {
  const body =
    '<h1>There is no such page</h1><p class="lead">The reference has an <a href="/docs">overview</a> and these ' +
    `sections.</p>${groupsHtml(() => '')}`;
  return leafHtml(book, { title: 'No such page', section: undefined, body });
}
