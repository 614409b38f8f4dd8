import { cellsOfPerson } from '../cells/people.ts';
import { type PageInput, type PageReply, redirect } from '../contract/web-pages.ts';
import { normalEmail } from '../kernel/email.ts';
import { idOf } from '../kernel/ids.ts';
import { fromJson } from '../kernel/json.ts';
import { note } from '../people/audit/service.ts';
import { endSession } from '../people/sessions/service.ts';
import { type SignInPlace, signIn } from '../people/users/credentials.ts';
import { getUser, isAnybodyThere } from '../people/users/service.ts';
import { showChoice } from './choice.ts';
import {
  enter,
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
import { cellFor, targetsAfter } from './targets.ts';

/** GET /sign-in */
export async function showSignIn(input: PageInput): Promise<PageReply> {
  const next = localPath(input.query.get('next'));
  const another = input.query.has('another') ? input.signedIn : null;
  const isAllowed = [null, input.db.cell].includes(cellFor(input.cells, next));
  if (input.signedIn && isAllowed && !another) return redirect(next);
  const isAlone = input.cells.list().length === 1;
  if (isAlone && !(await isAnybodyThere(input.db.reader))) return show(200, nobodyYet());
  const remark = input.signedIn && !isAllowed ? WRONG_CELL : remarkOn(input.query);
  if (!another) return showForm(input, 200, { next, remark });
  const { account, id } = another.principal;
  const { email } = fromJson(await getUser(input.db.reader, account, id));
  return showForm(input, 200, { next, email, isAnother: true });
}

const WRONG_CELL =
  'The application cannot get access to the account that you are signed in to. Sign in to another one.';

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
  const isAnother = input.form.has('another');
  const again = (found: readonly Problem[]) =>
    showForm(input, 400, { next, email: typed, isAnother, problems: found });
  if (email === null || problems.length > 0) return again(problems);
  const result = await signIn(placeOf(input, next), { email, password }, visitOf(input));
  if (result.kind === 'signedIn') return enter(input, result.secret, next);
  if (result.kind === 'several') return showChoice(input, result, { email, next });
  input.log.warn({ address: input.address, outcome: result.kind }, 'an attempt to sign in failed');
  if (result.kind === 'limited') return refuseForNow(result.seconds);
  const why = result.kind === 'wrong' ? WRONG : isAnother ? SAME : NOT_FOR_APPLICATION;
  return again([{ message: why }, ...(result.isComplete ? [] : [{ message: UNREACHABLE }])]);
}

const WRONG = 'the e-mail address or the password is wrong';
const SAME =
  'this is the password of the account that you are signed in to: enter the password of the other account';
const NOT_FOR_APPLICATION = 'with this password you have no account that the application can get access to';
const UNREACHABLE =
  'some accounts cannot be reached at the moment: if yours is one of them, try again in a few minutes';

/** The cells to sign in to, and which of them the page is for. */
function placeOf({ cells, vault, form: sent, signedIn }: PageInput, next: string): SignInPlace {
  const only = cellFor(cells, next);
  const own = sent.has('another') ? signedIn?.person : undefined;
  return {
    first: cells.first.anonymous,
    leastChecks: cells.list().length === 1 ? 1 : 2,
    find: (email) => cellsOfPerson(cells, vault, email),
    isWanted: ({ db, person }) => [null, db.cell].includes(only) && person.id !== own,
  };
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
  /** For an account of another cell than the one that the user is signed in to. */
  readonly isAnother?: boolean;
  readonly problems?: readonly Problem[];
  /** A remark about the previous action, in plain text. */
  readonly remark?: string | undefined;
}

async function showForm({ cells }: PageInput, status: number, shown: Shown): Promise<PageReply> {
  return { ...show(status, document(shown)), formTargets: await targetsAfter(cells, shown.next) };
}

function document({ next, email = '', isAnother = false, problems = [], remark }: Shown): string {
  const inside = [
    hidden('next', next),
    isAnother ? hidden('another', '') : '',
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
  const title = isAnother ? 'Sign in to another account' : 'Sign in';
  const body = card({
    title,
    body:
      (remark === undefined ? '' : goodNotice(remark)) +
      errorSummary(problems) +
      form('/sign-in', inside.join('')),
  });
  const help =
    '<p class="foot">No password, or forgot it? An owner of your account or the operator of this server can send you a link.</p>';
  return layout({ title, body: body + help });
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
