import { isAllowed } from '../contract/access.ts';
import { type PageInput, type PageReply, redirect } from '../contract/web-pages.ts';
import { idOf } from '../kernel/ids.ts';
import { accountsOf, switchAccount } from '../people/users/credentials.ts';
import { HOME, hasToken, refuseUnsigned, sessionEnded, sessionHeader, visitOf } from './guard.ts';
import { errorPage } from './html/html.ts';

const toHome = { href: HOME, label: 'Go to the start page' };

/**
 * POST /account/demo with `csrf`: 303 to the dashboard of a demo account of the person, which is created and filled unless they have
 * one. Only for owners.
 */
export async function createDemo(input: PageInput): Promise<PageReply> {
  const { db, demos, signedIn } = input;
  if (!signedIn) return sessionEnded(HOME);
  if (!hasToken(input)) return refuseUnsigned();
  const { principal, person } = signedIn;
  if (demos === null || !isAllowed(principal, 'people'))
    return errorPage(403, 'only owners may create a demo account', toHome);
  const accounts = await accountsOf(db.reader, person);
  const own = accounts.find(({ account }) => account === principal.account);
  const earlier = accounts.find((each) => each.is_demo);
  const demo = earlier
    ? idOf('acc', earlier.account)
    : await demos.create({ db, person, name: own?.user_name ?? 'Owner' });
  return redirect(HOME, sessionHeader(await switchAccount(db, signedIn, demo, visitOf(input)), input));
}

/**
 * POST /account/demo/delete with `csrf`: deletes the demo account of the session with everything in it. 303 to the account that the
 * person used before, or to the sign-in. Only for its owners.
 */
export async function deleteDemo(input: PageInput): Promise<PageReply> {
  const { db, demos, signedIn } = input;
  if (!signedIn) return sessionEnded(HOME);
  if (!hasToken(input)) return refuseUnsigned();
  const { principal, person } = signedIn;
  const accounts = await accountsOf(db.reader, person);
  const demo = accounts.find(({ account }) => account === principal.account);
  if (demos === null || !demo?.is_demo || !isAllowed(principal, 'people'))
    return errorPage(403, 'only a demo account can be deleted, and only by its owners', toHome);
  const other = accounts.find((each) => each !== demo);
  // first, because the sessions of the account are deleted with it
  const secret = other && (await switchAccount(db, signedIn, idOf('acc', other.account), visitOf(input)));
  const headers = sessionHeader(secret ?? null, input);
  const refusal = await demos.remove(demo.account);
  if (refusal === null) return redirect(other ? HOME : '/sign-in', headers);
  const page = errorPage(409, `the demo account was not deleted: ${refusal}`, toHome);
  return other ? { ...page, headers: { ...page.headers, ...headers } } : page;
}
