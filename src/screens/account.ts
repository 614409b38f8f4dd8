import type { Principal } from '../contract/route.ts';
import { type PageInput, type PageReply, redirect, type SignedIn } from '../contract/web-pages.ts';
import { escapeHtml } from '../kernel/html.ts';
import { idOf } from '../kernel/ids.ts';
import { fromJson } from '../kernel/json.ts';
import { getAccount } from '../people/accounts/service.ts';
import { endOwnSessions, liveSessions } from '../people/sessions/service.ts';
import { accountsOf, changePassword } from '../people/users/credentials.ts';
import type { User } from '../people/users/record.ts';
import { getUser } from '../people/users/service.ts';
import { accountsCard } from './accounts.ts';
import { browserName } from './browsers.ts';
import {
  hasToken,
  refuseForNow,
  refuseUnsigned,
  sessionEnded,
  sessionHeader,
  show,
  visitOf,
} from './guard.ts';
import {
  actions,
  button,
  card,
  errorSummary,
  field,
  form,
  goodNotice,
  hidden,
  layout,
  type Problem,
} from './html/html.ts';
import { newPasswordFields, newPasswordProblems, usernameHint } from './passwords.ts';

const ACCOUNT = '/account';
const TO_SIGN_IN = `/sign-in?next=${encodeURIComponent(ACCOUNT)}`;

// Remarks after something was done, by the word in the URL.
const DONE: Readonly<Record<string, string>> = {
  password: 'Your password was changed. You are signed out everywhere else.',
  session: 'The session has ended.',
  sessions: 'You are signed out everywhere else.',
  account: 'You are now working in this account.',
};

/** A signed-in user's principal with what is always there, and the person (UUID). */
function identityOf({ principal, person }: SignedIn) {
  return { ...(principal as Principal & { user: string; session: string }), person };
}

/** GET /account */
export async function showAccount(input: PageInput): Promise<PageReply> {
  if (!input.signedIn) return redirect(TO_SIGN_IN);
  return show(200, await document(input, input.signedIn, []));
}

/** POST /account/password */
export async function submitNewPassword(input: PageInput): Promise<PageReply> {
  const { db, signedIn, form: sent } = input;
  if (!signedIn) return sessionEnded(ACCOUNT);
  if (!hasToken(input)) return refuseUnsigned();
  const { email } = await meOf(input, signedIn);
  const current = sent.get('current') ?? '';
  const problems = [
    ...(current === '' ? [{ field: 'current', message: 'enter your current password' }] : []),
    ...newPasswordProblems(sent, { first: 'new', email }),
  ];
  if (problems.length > 0) return show(400, await document(input, signedIn, problems));
  const passwords = { current, next: sent.get('new') ?? '' };
  const result = await changePassword(db, signedIn, passwords, visitOf(input));
  if (result.kind === 'limited') return refuseForNow(result.seconds);
  if (result.kind === 'signedIn') {
    return redirect(`${ACCOUNT}?done=password`, sessionHeader(result.secret, input));
  }
  const wrong = [{ field: 'current', message: 'this is not your current password' }];
  return show(400, await document(input, signedIn, wrong));
}

/** POST /account/sessions/end: one session of the person, or all the others, in all accounts. */
export async function endSessions(input: PageInput): Promise<PageReply> {
  const { db, signedIn, form: sent, requestId } = input;
  if (!signedIn) return sessionEnded(ACCOUNT);
  if (!hasToken(input)) return refuseUnsigned();
  const { person, session } = identityOf(signedIn);
  const wanted = sent.get('session') ?? '';
  const which = wanted === 'others' ? { except: session } : { id: wanted };
  // a session that does not exist has ended, which is what was asked for
  await db.transaction((tx) => endOwnSessions(tx, person, which, requestId));
  if (wanted === idOf('ses', session)) return redirect('/sign-in?done', sessionHeader(null, input));
  return redirect(`${ACCOUNT}?done=${wanted === 'others' ? 'sessions' : 'session'}`);
}

async function meOf({ db }: PageInput, signedIn: SignedIn): Promise<User> {
  const { account, id } = identityOf(signedIn);
  return fromJson(await getUser(db.reader, account, id));
}

async function document(input: PageInput, signedIn: SignedIn, problems: readonly Problem[]): Promise<string> {
  const me = await meOf(input, signedIn);
  const csrf = hidden('csrf', signedIn.csrfToken);
  const done = Object.entries(DONE).find(([word]) => word === input.query.get('done'))?.[1];
  const accounts = await accountsOf(input.db.reader, signedIn.person);
  const body = [
    done === undefined ? '' : goodNotice(done),
    await identityCard(input, signedIn, me),
    accounts.length > 1 ? accountsCard(accounts, { signedIn, next: `${ACCOUNT}?done=account` }) : '',
    passwordCard(me, csrf, problems),
    await sessionsCard(input, signedIn, { csrf, isInSeveral: accounts.length > 1 }),
  ];
  const aside = form('/sign-out', csrf + button('Sign out', { kind: 'plain', small: true }));
  return layout({ title: 'Your account', body: body.join(''), aside, wide: true });
}

const ROLES: Readonly<Record<string, string>> = {
  owner: 'Owner: may do everything',
  member: 'Member: may do everything except API keys, users and applications',
  viewer: 'Viewer: may read',
};

async function identityCard({ db }: PageInput, signedIn: SignedIn, me: User): Promise<string> {
  const account = fromJson(await getAccount(db.reader, identityOf(signedIn).account));
  const facts = Object.entries({
    'E-mail address': me.email,
    Role: ROLES[me.role] ?? me.role,
    Account: account.name,
  }).map(([term, text]) => `<dt>${term}</dt><dd>${escapeHtml(text)}</dd>`);
  return card({ title: me.name, body: `<dl>${facts.join('')}</dl>` });
}

function passwordCard(me: User, csrf: string, problems: readonly Problem[]): string {
  const inside = [
    csrf,
    usernameHint(me.email),
    field(
      { name: 'current', label: 'Current password', type: 'password', autocomplete: 'current-password' },
      problems,
    ),
    newPasswordFields({ first: 'new', label: 'New password', again: 'New password again' }, problems),
    actions([button('Change the password')]),
  ];
  return card({
    level: 2,
    title: 'Password',
    lead: 'A new password signs you out everywhere else, in all your accounts.',
    body: errorSummary(problems) + form('/account/password', inside.join('')),
  });
}

async function sessionsCard(
  { db }: PageInput,
  signedIn: SignedIn,
  { csrf, isInSeveral }: { csrf: string; isInSeveral: boolean },
): Promise<string> {
  const { person, session } = identityOf(signedIn);
  const sessions = await liveSessions(db.reader, person);
  const own = sessions.filter(({ id }) => id === session);
  const others = sessions.filter(({ id }) => id !== session);
  const rows = [...own, ...others].map((each) => {
    const isOwn = each.id === session;
    const name = browserName(each.user_agent);
    const seen = isOwn ? 'active now' : `last used ${clock(each.last_seen_at)}`;
    const account = isInSeveral ? `in ${each.account_name}` : '';
    const where = [account, each.address ?? '', `since ${clock(each.created_at)}`, seen]
      .filter((part) => part !== '')
      .map((part) => `<span class="part">${escapeHtml(part)}</span>`)
      .join(' ');
    const tag = isOwn ? '<span class="tag">this browser</span>' : '';
    const says = `End the session of ${name}, since ${clock(each.created_at)}`;
    const end = isOwn
      ? ''
      : form(
          '/account/sessions/end',
          csrf +
            hidden('session', idOf('ses', each.id)) +
            button('End', { kind: 'plain', small: true, says }),
        );
    return `<li><div><b>${escapeHtml(name)}</b>${tag}<p class="hint">${where}</p></div>${end}</li>`;
  });
  const all =
    others.length > 1
      ? form(
          '/account/sessions/end',
          csrf +
            hidden('session', 'others') +
            actions([button('Sign out everywhere else', { kind: 'danger' })]),
        )
      : '';
  return card({
    level: 2,
    title: 'Where you are signed in',
    lead: 'Sessions end 7 days after they were last used. Times are UTC.',
    body: `<ul class="rows">${rows.join('')}</ul>${all}`,
  });
}

/** `2026-09-15 08:30` */
function clock(instant: string): string {
  return instant.slice(0, 16).replace('T', ' ');
}
