import { type PageInput, type PageReply, redirect } from '../contract/pagination.ts';
import { nameProblem } from '../kernel/names.ts';
import { newEmail } from '../people/users/email.ts';
import { openLink, setUp } from '../people/users/links.ts';
import { HOME, isFromHere, refuseForeign, refuseForNow, sessionHeader, show, visitOf } from './guard.ts';
import {
  actions,
  button,
  card,
  errorPage,
  errorSummary,
  field,
  form,
  hidden,
  layout,
  type Problem,
} from './html/html.ts';
import { newPasswordFields, newPasswordProblems } from './passwords.ts';

const SIGN_IN = { href: '/sign-in', label: 'Go to sign-in' };

/** GET /set-up */
export async function showSetUp({ db, query }: PageInput): Promise<PageReply> {
  const token = query.get('token') ?? '';
  const link = await openLink(db.reader, token);
  return link?.purpose === 'setup' ? show(200, setUpDocument({ token })) : setUpEnded();
}

/** POST /set-up */
export async function submitSetUp(input: PageInput): Promise<PageReply> {
  if (!isFromHere(input)) return refuseForeign();
  const { db, form: sent } = input;
  const token = sent.get('token') ?? '';
  if ((await openLink(db.reader, token))?.purpose !== 'setup') return setUpEnded();
  const name = (sent.get('name') ?? '').trim();
  const typed = (sent.get('email') ?? '').trim();
  const email = newEmail(typed);
  const problems: Problem[] = [
    ...nameProblems(name),
    ...(email === null
      ? [{ field: 'email', message: 'enter your e-mail address, such as ada@example.com' }]
      : []),
    ...newPasswordProblems(sent, { first: 'password', email: email ?? '' }),
  ];
  const again = (found: readonly Problem[]) =>
    show(400, setUpDocument({ token, name, email: typed, problems: found }));
  if (email === null || problems.length > 0) return again(problems);
  const made = { name, email, password: sent.get('password') ?? '' };
  const result = await setUp(db, token, made, visitOf(input));
  if (result.kind === 'signedIn') return redirect(HOME, sessionHeader(result.secret, input));
  if (result.kind === 'limited') return refuseForNow(result.seconds);
  if (result.kind === 'ended') return setUpEnded();
  return again([
    { field: 'password', message: 'this e-mail address already has an account here: enter its password' },
  ]);
}

const LONGEST_NAME = 200;

function nameProblems(name: string): Problem[] {
  if (name === '') return [{ field: 'name', message: 'enter your name' }];
  const problem =
    name.length > LONGEST_NAME ? `may have at most ${LONGEST_NAME} characters` : nameProblem(name);
  return problem === null ? [] : [{ field: 'name', message: `the name ${problem}` }];
}

function setUpEnded(): PageReply {
  return errorPage(
    410,
    'This link was used, has expired or is incomplete. As long as there is no user, the command payhook users setup-link on the server makes a new one.',
    SIGN_IN,
  );
}

interface SetUpShown {
  readonly token: string;
  readonly name?: string;
  readonly email?: string;
  readonly problems?: readonly Problem[];
}

function setUpDocument({ token, name = '', email = '', problems = [] }: SetUpShown): string {
  const inside = [
    hidden('token', token),
    field(
      {
        name: 'name',
        label: 'Your name',
        type: 'text',
        value: name,
        autocomplete: 'name',
        maxLength: LONGEST_NAME,
        autofocus: name === '',
      },
      problems,
    ),
    field(
      {
        name: 'email',
        label: 'E-mail address',
        type: 'email',
        value: email,
        autocomplete: 'username',
        maxLength: 320,
      },
      problems,
    ),
    newPasswordFields({ first: 'password', label: 'Password', again: 'Password again' }, problems),
    actions([button('Create the owner')]),
  ];
  const body = card({
    title: 'Set up Payhook',
    lead: 'You are the first user, so you become the owner of the account.',
    body: errorSummary(problems) + form('/set-up', inside.join('')),
  });
  return layout({ title: 'Set up', body });
}
