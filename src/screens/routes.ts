import type { PageRoute } from '../contract/web-pages.ts';
import { showAccounts, submitAccount } from './accounts.ts';
import { submitChoice } from './choice.ts';
import { DASHBOARD_ROUTES } from './dashboard.ts';
import { createDemo, deleteDemo } from './demo.ts';
import { submitJoin } from './invitation.ts';
import { showPassword, submitPassword } from './links.ts';
import { NOTICE_ROUTES } from './notices.ts';
import { showProfile, submitOwnPassword } from './own-password.ts';
import { PORTAL_ROUTES } from './portal.ts';
import { REFERENCE_ROUTES } from './reference/routes.ts';
import { showSetUp, submitSetUp } from './set-up.ts';
import { showSignIn, signOut, submitSignIn } from './sign-in.ts';
import { WEBHOOK_KEYS_ROUTE } from './webhook-keys.ts';

const page = (
  method: PageRoute['method'],
  path: string,
  handle: PageRoute['handle'],
  more: Pick<PageRoute, 'withoutCell'> = {},
): PageRoute => ({ method, path, errors: 'page', handle, ...more });

/** The pages for people: sign-in and sign-out, set-up, passwords, the choice of an account, the reference, the dashboard. */
export const PAGE_ROUTES: readonly PageRoute[] = [
  page('GET', '/sign-in', showSignIn, { withoutCell: true }),
  page('POST', '/sign-in', submitSignIn, { withoutCell: true }),
  page('POST', '/sign-in/account', submitChoice, { withoutCell: true }),
  page('POST', '/sign-out', signOut),
  page('GET', '/set-up', showSetUp),
  page('POST', '/set-up', submitSetUp),
  page('GET', '/password', showPassword),
  page('POST', '/password', submitPassword),
  page('POST', '/password/join', submitJoin),
  page('GET', '/account', showProfile),
  page('GET', '/account/switch', showAccounts),
  page('POST', '/account/switch', submitAccount),
  page('POST', '/account/password', submitOwnPassword),
  page('POST', '/account/demo', createDemo),
  page('POST', '/account/demo/delete', deleteDemo),
  ...REFERENCE_ROUTES,
  ...DASHBOARD_ROUTES,
  ...PORTAL_ROUTES,
  ...NOTICE_ROUTES,
  WEBHOOK_KEYS_ROUTE,
];
