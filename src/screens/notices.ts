import { isSigned, STOP_PATH } from '../alerts/affiliates/stop.ts';
import type { PageInput, PageReply, PageRoute } from '../contract/web-pages.ts';
import { fail } from '../kernel/errors.ts';
import { type AccountId, numberIdOf, uuidOf } from '../kernel/ids.ts';
import { endNotices } from '../money/affiliates/service.ts';
import { LANGUAGES, type Language } from '../notices/affiliate-kinds.ts';
import { TEXTS } from '../notices/affiliate-texts.ts';
import { show } from './guard.ts';
import { actions, button, card, form, layout } from './html/html.ts';

/** Whose notices a link ends; null if it was not signed here. */
function stoppedBy({ query, vault }: PageInput): { account: AccountId; affiliate: number } | null {
  const account = uuidOf('acc', query.get('link') ?? '');
  const affiliate = numberIdOf(query.get('affiliate') ?? '');
  if (account === null || affiliate === null) return null;
  return isSigned({ account, affiliate }, query.get('sign') ?? '', vault) ? { account, affiliate } : null;
}

const languageOf = ({ query }: PageInput): Language =>
  LANGUAGES.find((language) => language === query.get('language')) ?? LANGUAGES[0];

/** A page of only these words: it shows nothing of the account or the affiliate. */
function page(input: PageInput, status: number, lead: string, inside = ''): PageReply {
  const language = languageOf(input);
  const { title } = TEXTS[language].page;
  return show(status, layout({ title, language, body: card({ title, lead, body: inside }) }));
}

/** GET: asks first, because mail programs open links to check them. */
async function askToStop(input: PageInput): Promise<PageReply> {
  const texts = TEXTS[languageOf(input)].page;
  if (stoppedBy(input) === null) return page(input, 400, texts.ended);
  return page(input, 200, texts.lead, form(`${STOP_PATH}?${input.query}`, actions([button(texts.button)])));
}

/** POST, from that page or from a mail program (RFC 8058): the signature is enough, and the body says nothing more. */
async function stop(input: PageInput): Promise<PageReply> {
  const texts = TEXTS[languageOf(input)].page;
  const stopped = stoppedBy(input);
  if (stopped === null) return page(input, 400, texts.ended);
  const done = page(input, 200, texts.done);
  const cells = input.cells.list();
  for (const { db } of cells) {
    const isDone = await db?.anonymous.transaction((tx) =>
      endNotices(tx, stopped.account, stopped.affiliate),
    );
    if (isDone) return done;
  }
  // the account may be in a cell where nothing can be written now
  if (cells.some(({ db }) => db === null))
    throw fail('cell_unavailable', 'a database cannot be reached: try again', { 'retry-after': '5' });
  return done;
}

/** The end of notices to an affiliate, by the link in each, without signing in. */
export const NOTICE_ROUTES: readonly PageRoute[] = [
  { method: 'GET', path: STOP_PATH, errors: 'page', isPublic: true, handle: askToStop },
  { method: 'POST', path: STOP_PATH, errors: 'page', isPublic: true, ignoresBody: true, handle: stop },
];
