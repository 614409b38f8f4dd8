import { roleLabel } from '../contract/roles.ts';
import { type PageInput, type PageReply, redirect } from '../contract/web-pages.ts';
import { Failure } from '../kernel/errors.ts';
import { escapeHtml, escapeValue } from '../kernel/html.ts';
import { idOf } from '../kernel/ids.ts';
import { accountsOf, switchAccount } from '../people/users/credentials.ts';
import type { Membership } from '../people/users/people.ts';
import { hasToken, localPath, refuseUnsigned, sessionEnded, sessionHeader, show, visitOf } from './guard.ts';
import { actions, button, card, errorPage, form, hidden, layout } from './html/html.ts';
import { cellFor, targetsAfter } from './targets.ts';

/** GET /account/switch: the accounts of the person, to continue in another one at `next`, or to sign out without scripts. */
export async function showAccounts(input: PageInput): Promise<PageReply> {
  const { cells, db, query, signedIn } = input;
  const next = localPath(query.get('next'));
  if (!signedIn) return redirect(`/sign-in?${new URLSearchParams({ next })}`);
  const accounts = await accountsOf(db.reader, signedIn.person);
  const rows = accounts.map((each) => {
    const { account, account_name: name } = each;
    if (account === signedIn.principal.account)
      return accountRow(each, { tag: '<span class="tag">this account</span>' });
    const fields = [
      hidden('csrf', signedIn.csrfToken),
      hidden('account', idOf('acc', account)),
      hidden('next', next),
      button('Switch', { kind: 'plain', small: true, says: `Switch to ${name}` }),
    ];
    return accountRow(each, { change: form('/account/switch', fields.join('')) });
  });
  const signOut = form(
    '/sign-out',
    hidden('csrf', signedIn.csrfToken) + actions([button('Sign out', { kind: 'plain' })]),
  );
  const body = card({
    title: 'Your accounts',
    lead: 'You work in one account at a time. At your next sign-in it is the one you used last.',
    body: `<ul class="rows">${rows.join('')}</ul>${elsewhere(input, next)}${signOut}`,
  });
  const page = show(200, layout({ title: 'Your accounts', body }));
  return { ...page, formTargets: await targetsAfter(cells, next) };
}

/** An account in a list of the class `rows`. `tag` and `change`, which follow its name, are HTML. */
export function accountRow(
  { account_name: name, role }: Pick<Membership, 'account_name' | 'role'>,
  { tag = '', change = '' }: { tag?: string; change?: string },
): string {
  const does = `<p class="hint">${roleLabel(role)}</p>`;
  return `<li><div><b>${escapeHtml(name)}</b>${tag}${does}</div>${change}</li>`;
}

/**
 * The link to accounts of the same e-mail address in other cells. It is the same whether or not there are any
 * (docs/decisions/0099). An application gets access only to accounts of its own cell.
 */
function elsewhere({ cells }: PageInput, next: string): string {
  if (cells.list().length === 1 || cellFor(cells, next) !== null) return '';
  const href = `/sign-in?${new URLSearchParams({ another: '', next })}`;
  return `<p><a href="${escapeValue(href)}">Sign in to another account of this address</a></p>`;
}

/**
 * POST /account/switch with `account` (`acc_…`), `csrf` and `next`, a path: 303 to it with the cookie of a session
 * in that account, which replaces the old one. An account the person is not a member of is a page with status 404.
 */
export async function submitAccount(input: PageInput): Promise<PageReply> {
  const { db, form: sent, signedIn } = input;
  if (!signedIn) return sessionEnded(localPath(sent.get('next')));
  if (!hasToken(input)) return refuseUnsigned();
  try {
    const secret = await switchAccount(db, signedIn, sent.get('account') ?? '', visitOf(input));
    return redirect(localPath(sent.get('next')), sessionHeader(secret, input));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return errorPage(404, 'you are not a member of this account: an owner can invite you', {
      href: '/account/switch',
      label: 'Choose an account',
    });
  }
}
