import type { PageInput, PageReply, SignedIn } from '../contract/pagination.ts';
import { getUser, isAnybodyThere } from '../people/users/service.ts';
import { HOME, show } from './guard.ts';
import { actions, card, errorPage, escapeHtml, layout, linkButton } from './html/html.ts';
import { SET_UP_HINT } from './sign-in.ts';

const SIGNED_OUT = 'Sign in to manage your password, your sessions and the accounts you work in.';

// Addresses of the server that anybody may look at.
const PLACES = [
  { href: '/docs', label: 'API reference', hint: 'every operation, record and event, with examples' },
  { href: '/v2/openapi.json', label: 'OpenAPI description', hint: 'the same for programs, as JSON' },
  { href: '/healthz', label: 'Health', hint: 'whether the process is running' },
  { href: '/readyz', label: 'Readiness', hint: 'whether it can take requests: database and schema' },
] as const;

/** GET / in a browser: what this is, who is signed in, and where to go on. */
export async function showStart(input: PageInput): Promise<PageReply> {
  const rows = PLACES.map(
    ({ href, label, hint }) =>
      `<li><div><b><a href="${href}">${label}</a></b><p class="hint">${hint}</p></div></li>`,
  );
  const body =
    (await welcome(input)) +
    card({ level: 2, title: 'On this server', body: `<ul class="rows">${rows.join('')}</ul>` });
  return show(200, layout({ title: 'Start', body }), { vary: 'accept, cookie' });
}

/** A browser at an address where nothing is. */
export function nothingHere(): PageReply {
  return errorPage(404, 'there is no page at this address; the start page lists the pages');
}

async function welcome(input: PageInput): Promise<string> {
  const about = {
    title: 'This is a Payhook server',
    lead: 'It works out which affiliate is paid how much, and delivers webhooks.',
  };
  const { signedIn, db } = input;
  if (signedIn) {
    const text = `<p>You are signed in as <b>${escapeHtml(await nameOf(input, signedIn))}</b>.</p>`;
    return card({ ...about, body: text + actions([linkButton(HOME, 'Go to your account', 'primary')]) });
  }
  if (!(await isAnybodyThere(db.reader))) return card({ ...about, body: SET_UP_HINT });
  const text = `<p>${SIGNED_OUT}</p>`;
  return card({ ...about, body: text + actions([linkButton('/sign-in', 'Sign in', 'primary')]) });
}

async function nameOf({ db }: PageInput, { principal }: SignedIn): Promise<string> {
  const { name } = JSON.parse(await getUser(db.reader, principal.account, principal.id)) as { name: string };
  return name;
}
