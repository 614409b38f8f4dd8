import { createHash } from 'node:crypto';
import { html, type PageInput, type PageReply, type PageRoute } from '../../contract/web-pages.ts';
import { escapeHtml } from '../../kernel/html.ts';
import { type Book, bookOf } from './book.ts';
import { readDescription } from './description.ts';
import { eventTypesHtml } from './events.ts';
import { groupsHtml } from './groups.ts';
import { operationHtml, routeOf } from './operation.ts';
import { overviewHtml } from './overview.ts';
import { recordsHtml } from './records.ts';
import { addressOf, SECTIONS, type Section } from './sections.ts';
import { leafHtml } from './shell.ts';
import { paragraphs } from './text.ts';

/** A page as it is sent, with its validator. */
interface Printed {
  readonly body: string;
  readonly etag: string;
}

// what the examples call the server, whose own address the reader can paste
const EXAMPLE_URL = 'https://payhook.example.com';
const printed = new Map<string, Printed>();

/** The page under this name: made when it is first asked for, then kept. */
function print({ baseUrl, description }: PageInput, name: string, make: (book: Book) => string): Printed {
  const key = `${baseUrl} ${name}`;
  let found = printed.get(key);
  if (found === undefined) {
    const page = make(bookOf(readDescription(description()), baseUrl));
    const body = page.replaceAll(EXAMPLE_URL, escapeHtml(baseUrl));
    found = { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
    printed.set(key, found);
  }
  return found;
}

const CACHING = 'public, max-age=0, must-revalidate';

/** Anybody may keep the page, and asks before showing it again. */
function reply({ headers }: PageInput, { body, etag }: Printed): PageReply {
  const cached = { etag, 'cache-control': CACHING };
  const known = headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known?.includes(etag)) return { status: 304, body: '', type: null, headers: cached };
  return html(200, body, cached);
}

const route = (path: string, handle: PageRoute['handle']): PageRoute => ({
  method: 'GET',
  path,
  errors: 'page',
  handle,
});

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

/** The reference: public, made from the OpenAPI description. */
export const REFERENCE_ROUTES: readonly PageRoute[] = [
  route('/docs', async (input) =>
    reply(
      input,
      print(input, 'overview', (book) =>
        leafHtml(book, { title: 'API reference', section: null, body: overviewHtml(book) }),
      ),
    ),
  ),
  ...SECTIONS.map((section) =>
    route(addressOf(section), async (input) =>
      reply(
        input,
        print(input, section.slug, (book) => sectionPage(book, section)),
      ),
    ),
  ),
  route('/docs/*', async (input) => html(404, print(input, '*', missingPage).body)),
];
