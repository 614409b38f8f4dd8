import { type PageInput, type PageReply, redirect } from '../contract/web-pages.ts';
import { fromJson } from '../kernel/json.ts';
import { changePassword } from '../people/users/credentials.ts';
import { getUser } from '../people/users/service.ts';
import { hasToken, refuseForNow, refuseUnsigned, sessionEnded, sessionHeader, visitOf } from './guard.ts';
import { twicePasswordProblems } from './passwords.ts';

/** The screen of the dashboard that has the form. */
export const PROFILE = '/settings/profile';

/** The result, which the screen shows: `differs` is a new password that was typed differently the second time. */
type Result = 'changed' | 'wrong' | 'weak' | 'differs';

const backWith = (result: Result, headers: PageReply['headers'] = {}) =>
  redirect(`${PROFILE}?password=${result}`, headers);

/**
 * POST /account/password with `current`, `new`, `again` and `csrf`: 303 to the screen with the result. It is a form and
 * not an operation of the API, because a failed attempt must be counted and the browser gets a new session cookie.
 */
export async function submitOwnPassword(input: PageInput): Promise<PageReply> {
  const { db, signedIn, form: sent } = input;
  if (!signedIn) return sessionEnded(PROFILE);
  if (!hasToken(input)) return refuseUnsigned();
  const { account, id } = signedIn.principal;
  const { email } = fromJson(await getUser(db.reader, account, id));
  const [problem] = twicePasswordProblems(sent, { first: 'new', email });
  if (problem) return backWith(problem.field === 'again' ? 'differs' : 'weak');
  const passwords = { current: sent.get('current') ?? '', next: sent.get('new') ?? '' };
  const result = await changePassword(db, signedIn, passwords, visitOf(input));
  if (result.kind === 'limited') return refuseForNow(result.seconds);
  if (result.kind === 'wrong') return backWith('wrong');
  return backWith('changed', sessionHeader(result.secret, input));
}

/** GET /account, the address of the page before the dashboard had it. */
export async function showProfile(): Promise<PageReply> {
  return redirect(PROFILE);
}
