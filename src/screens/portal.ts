import { html, json, type PageInput, type PageReply, type PageRoute } from '../contract/web-pages.ts';
import { framesOf, openPortal } from '../webhooks/portal/service.ts';
import { portalPage } from './dashboard/files.ts';
import { pagePolicy } from './dashboard.ts';
import { errorPage } from './html/html.ts';

/**
 * GET /portal?link=…: the page of a portal, the same for everybody. The link determines which pages may frame it. The secret
 * is in the fragment, which browsers do not send.
 */
async function showPortal({ db, query }: PageInput): Promise<PageReply> {
  const page = portalPage();
  if (page === null) return errorPage(503, 'the dashboard was not built: run `npm run build` on the server');
  const frames = await framesOf(db.reader, query.get('link') ?? '');
  return {
    ...html(200, page, { 'content-security-policy': pagePolicy(frames) }),
    isFramed: frames.length > 0,
  };
}

// shown to people by the portal page
const REFUSALS = {
  used: 'this link was opened before, and opens only once',
  revoked: 'this link was revoked',
  expired: 'this link was not opened in time',
  unknown: 'there is no such link',
} as const;

/** POST /portal: opens the portal of a link, once. The token is only for this page, so it is not in a cookie. */
async function open({ db, form, requestId }: PageInput): Promise<PageReply> {
  const [id, secret] = [form.get('link') ?? '', form.get('secret') ?? ''];
  const opened = await openPortal(db, { id, secret, requestId });
  if ('token' in opened) return json(200, { token: opened.token, ends_at: opened.endsAt });
  return json(400, {
    error: opened.refusal,
    error_description: `${REFUSALS[opened.refusal]}: ask for a new one where you found it`,
  });
}

/** The portal, and what opens it. */
export const PORTAL_ROUTES: readonly PageRoute[] = [
  { method: 'GET', path: '/portal', errors: 'page', isPublic: true, handle: showPortal },
  { method: 'POST', path: '/portal', errors: 'oauth', isPublic: true, handle: open },
];
