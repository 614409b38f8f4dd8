import type { PageInput, PageReply, PageRoute } from '../contract/web-pages.ts';
import type { Tx } from '../db/database.ts';
import { fail } from '../kernel/errors.ts';
import { endNotices } from '../money/affiliates/service.ts';
import { LANGUAGES, type Language } from '../notices/affiliate-kinds.ts';
import { TEXTS } from '../notices/affiliate-texts.ts';
import { CONTACT_TEXTS } from '../notices/contact-texts.ts';
import { filled } from '../notices/mail.ts';
import { STOP_PATH, type Stopped, stoppedBy } from '../notices/stop.ts';
import { accountOfLink, CONFIRM_PATH, confirmContact, endContact } from '../webhooks/endpoints/contact.ts';
import { show } from './guard.ts';
import { actions, button, card, form, layout } from './html/html.ts';

const languageOf = ({ query }: PageInput): Language =>
  LANGUAGES.find((language) => language === query.get('language')) ?? LANGUAGES[0];

function page(
  input: PageInput,
  status: number,
  { title, lead, body = '' }: { title: string; lead: string; body?: string },
): PageReply {
  return show(status, layout({ title, language: languageOf(input), body: card({ title, lead, body }) }));
}

const ask = (path: string, { query }: PageInput, label: string) =>
  form(`${path}?${query}`, actions([button(label)]));

/** The words of the page that ends notices: it shows nothing of the account, the affiliate or the endpoint. */
const stopTexts = (input: PageInput) =>
  input.query.has('endpoint') ? CONTACT_TEXTS[languageOf(input)].stopPage : TEXTS[languageOf(input)].page;

/** GET: asks first, because mail programs open links to check them. */
async function askToStop(input: PageInput): Promise<PageReply> {
  const { title, lead, ended, button: label } = stopTexts(input);
  if (stoppedBy(input.query, input.vault) === null) return page(input, 400, { title, lead: ended });
  return page(input, 200, { title, lead, body: ask(STOP_PATH, input, label) });
}

const end = (tx: Tx, stopped: Stopped): Promise<boolean> =>
  'affiliate' in stopped
    ? endNotices(tx, stopped.account, stopped.affiliate)
    : endContact(tx, stopped.account, stopped);

/** POST, from that page or from a mail program (RFC 8058): the signature is enough, and the body says nothing more. */
async function stop(input: PageInput): Promise<PageReply> {
  const { title, ended, done } = stopTexts(input);
  const stopped = stoppedBy(input.query, input.vault);
  if (stopped === null) return page(input, 400, { title, lead: ended });
  const reply = page(input, 200, { title, lead: done });
  const cells = input.cells.list();
  for (const { db } of cells) {
    const isDone = await db?.anonymous.transaction((tx) => end(tx, stopped));
    if (isDone) return reply;
  }
  // the account may be in a cell where nothing can be written now
  if (cells.some(({ db }) => db === null))
    throw fail('cell_unavailable', 'a database cannot be reached: try again', { 'retry-after': '5' });
  return reply;
}

const tokenOf = ({ query }: PageInput) => query.get('token') ?? '';

/** GET: says what is confirmed and asks, because mail programs open links to check them. */
async function askToConfirm(input: PageInput): Promise<PageReply> {
  const { title, lead, ended, button: label } = CONTACT_TEXTS[languageOf(input)].confirmPage;
  const merchant = await accountOfLink(input.db.reader, tokenOf(input));
  if (merchant === null) return page(input, 400, { title, lead: ended });
  const words = filled(lead, { merchant }) ?? '';
  return page(input, 200, { title, lead: words, body: ask(CONFIRM_PATH, input, label) });
}

/** POST, from that page: the token is enough, once. */
async function confirm(input: PageInput): Promise<PageReply> {
  const { title, done, ended } = CONTACT_TEXTS[languageOf(input)].confirmPage;
  const isDone = await input.db.transaction((tx) => confirmContact(tx, tokenOf(input)));
  return page(input, isDone ? 200 : 400, { title, lead: isDone ? done : ended });
}

/** The links in notices to affiliates and to contacts of endpoints, which need no signing in. */
export const NOTICE_ROUTES: readonly PageRoute[] = [
  { method: 'GET', path: STOP_PATH, errors: 'page', isPublic: true, handle: askToStop },
  { method: 'POST', path: STOP_PATH, errors: 'page', isPublic: true, ignoresBody: true, handle: stop },
  { method: 'GET', path: CONFIRM_PATH, errors: 'page', isPublic: true, handle: askToConfirm },
  { method: 'POST', path: CONFIRM_PATH, errors: 'page', isPublic: true, ignoresBody: true, handle: confirm },
];
