import { type PageInput, type PageReply, redirect } from '../contract/web-pages.ts';
import { normalEmail } from '../kernel/email.ts';
import { idOf } from '../kernel/ids.ts';
import { note } from '../people/audit/service.ts';
import { endSession } from '../people/sessions/service.ts';
import { signIn } from '../people/users/credentials.ts';
import { isAnybodyThere } from '../people/users/service.ts';
import {
  hasToken,
  isFromHere,
  localPath,
  refuseForeign,
  refuseForNow,
  refuseUnsigned,
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
import { targetsAfter } from './targets.ts';

/** GET /sign-in */
export async function showSignIn(input: PageInput): Promise<PageReply> {
  const next = localPath(input.query.get('next'));
  if (input.signedIn) return redirect(next);
  if (!(await isAnybodyThere(input.db.reader))) return show(200, nobodyYet());
  return showForm(input, 200, { next, remark: remarkOn(input.query) });
}

/** POST /sign-in */
export async function submitSignIn(input: PageInput): Promise<PageReply> {
  if (!isFromHere(input)) return refuseForeign();
  const next = localPath(input.form.get('next'));
  const typed = (input.form.get('email') ?? '').trim();
  const password = input.form.get('password') ?? '';
  const email = normalEmail(typed);
  const problems: Problem[] = [
    ...(email === null ? [{ field: 'email', message: 'enter your e-mail address' }] : []),
    ...(password === '' ? [{ field: 'password', message: 'enter your password' }] : []),
  ];
  if (email === null || problems.length > 0) return showForm(input, 400, { next, email: typed, problems });
  const result = await signIn(input.db, { email, password }, visitOf(input));
  if (result.kind === 'signedIn') return redirect(next, sessionHeader(result.secret, input));
  input.log.warn({ address: input.address, outcome: result.kind }, 'an attempt to sign in failed');
  if (result.kind === 'limited') return refuseForNow(result.seconds);
  const wrong = [{ message: 'the e-mail address or the password is wrong' }];
  return showForm(input, 400, { next, email: typed, problems: wrong });
}

/** POST /sign-out */
export async function signOut(input: PageInput): Promise<PageReply> {
  const { db, signedIn, requestId } = input;
  // the cookie stays: a form from another site comes without it, but its removal would still take effect
  const { principal } = signedIn ?? {};
  if (principal?.session === undefined) return redirect('/sign-in');
  if (!hasToken(input)) return refuseUnsigned();
  const id = idOf('ses', principal.session);
  await db.transaction(async (tx) => {
    await endSession(tx, principal.account, id);
    await note(tx, principal, { action: 'signOut', target: id, requestId });
  });
  return redirect('/sign-in?done', sessionHeader(null, input));
}

/** The remark for the query of the address. */
function remarkOn(query: URLSearchParams): string | undefined {
  if (query.has('done')) return 'You are signed out.';
  return query.has('ended')
    ? 'Your session has ended and nothing was changed. Sign in to continue.'
    : undefined;
}

interface Shown {
  readonly next: string;
  readonly email?: string;
  readonly problems?: readonly Problem[];
  /** A remark about the previous action, in plain text. */
  readonly remark?: string | undefined;
}

async function showForm({ cells }: PageInput, status: number, shown: Shown): Promise<PageReply> {
  return { ...show(status, document(shown)), formTargets: await targetsAfter(cells, shown.next) };
}

function document({ next, email = '', problems = [], remark }: Shown): string {
  const inside = [
    hidden('next', next),
    field(
      {
        name: 'email',
        label: 'E-mail address',
        type: 'email',
        value: email,
        autocomplete: 'username',
        maxLength: 320,
        autofocus: email === '',
      },
      problems,
    ),
    field(
      {
        name: 'password',
        label: 'Password',
        type: 'password',
        autocomplete: 'current-password',
        autofocus: email !== '',
      },
      problems,
    ),
    actions([button('Sign in')]),
  ];
  const body = card({
    title: 'Sign in',
    body:
      (remark === undefined ? '' : goodNotice(remark)) +
      errorSummary(problems) +
      form('/sign-in', inside.join('')),
  });
  const help =
    '<p class="foot">No password, or forgot it? An owner of your account or the operator of this server can send you a link.</p>';
  return layout({ title: 'Sign in', body: body + help });
}

/** How the first owner is created. */
export const SET_UP_HINT =
  '<p>Run this on the server. It prints a link that makes you the owner:</p>' +
  '<p><code>payhook users setup-link</code></p>' +
  '<p>A server started on a terminal also prints such a link at its first start.</p>';

function nobodyYet(): string {
  const body = card({ title: 'Nobody can sign in yet', body: SET_UP_HINT });
  return layout({ title: 'Set up Payhook', body });
}
