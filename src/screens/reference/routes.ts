import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { html, type PageInput, type PageReply, type PageRoute } from '../../contract/web-pages.ts';
import { escapeHtml } from '../../kernel/html.ts';
import { ROOT } from '../../kernel/installation.ts';
import { errorPage } from '../html/html.ts';
import { llmsText } from './guides.ts';

/** The address of the server in the pages as they were built; the reader gets the address of this one. */
export const EXAMPLE_URL = 'https://payhook.example.com';
/** The names of the pages that are not sections. */
export const OVERVIEW = 'overview';
export const MISSING = 'missing';

/** A page as it is sent, with its validator. */
interface Printed {
  readonly body: string;
  readonly etag: string;
}

const printed = new Map<string, Printed>();

/** A page that `npm run build` made (`scripts/reference.ts`), with the address of this server; null if there is none. */
function pageOf(name: string, baseUrl: string): Printed | null {
  const key = `${baseUrl} ${name}`;
  const known = printed.get(key);
  if (known !== undefined) return known;
  const file = new URL(`dist/reference/${name}.html`, ROOT);
  if (!existsSync(file)) return null;
  const body = readFileSync(file, 'utf8').replaceAll(EXAMPLE_URL, escapeHtml(baseUrl));
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  printed.set(key, { body, etag });
  return { body, etag };
}

const CACHING = 'public, max-age=0, must-revalidate';

async function showPage({ path, baseUrl, headers }: PageInput): Promise<PageReply> {
  const named = path.slice('/docs/'.length);
  const isSection = /^[a-z-]+$/.test(named) && named !== OVERVIEW && named !== MISSING;
  const page = isSection || named === '' ? pageOf(named || OVERVIEW, baseUrl) : null;
  if (page === null) return missing(baseUrl);
  const cached = { etag: page.etag, 'cache-control': CACHING };
  const known = headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known?.includes(page.etag)) return { status: 304, body: '', type: null, headers: cached };
  return html(200, page.body, cached);
}

function missing(baseUrl: string): PageReply {
  const page = pageOf(MISSING, baseUrl);
  if (page !== null) return html(404, page.body);
  return errorPage(503, 'the reference was not built: run `npm run build` on the server');
}

const route = (path: string): PageRoute => ({
  method: 'GET',
  path,
  errors: 'page',
  isPublic: true,
  isStatic: true,
  handle: showPage,
});

/** What assistants read first. */
const LLMS_ROUTE: PageRoute = {
  ...route('/llms.txt'),
  handle: async ({ baseUrl }) => ({
    status: 200,
    body: llmsText(baseUrl),
    type: 'text/plain; charset=utf-8',
    headers: { 'cache-control': CACHING },
  }),
};

/** The reference: public, made from the OpenAPI description. */
export const REFERENCE_ROUTES: readonly PageRoute[] = [route('/docs'), route('/docs/*'), LLMS_ROUTE];
