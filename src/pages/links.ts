import { choosePassword, openLink, setUp } from '../features/users/credentials.ts';
import { normalEmail } from '../features/users/email.ts';
import { type PageInput, type PageReply, redirect } from '../http/page.ts';
import { Failure } from '../kernel/errors.ts';
import { HOME, isFromHere, refuseForeign, sessionHeader, show, visitOf } from './guard.ts';
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
} from './html.ts';
import { newPasswordFields, newPasswordProblems, usernameHint } from './passwords.ts';

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
  const email = normalEmail(typed);
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
  try {
    const made = { name, email, password: sent.get('password') ?? '' };
    const secret = await setUp(db, token, made, visitOf(input));
    return secret === null ? setUpEnded() : redirect(HOME, sessionHeader(secret, input));
  } catch (error) {
    if (!(error instanceof Failure) || error.reason !== 'duplicate_email') throw error;
    return again([{ field: 'email', message: 'another user has this e-mail address' }]);
  }
}

const LONGEST_NAME = 200;

function nameProblems(name: string): Problem[] {
  if (name === '') return [{ field: 'name', message: 'enter your name' }];
  const isFine = name.length <= LONGEST_NAME && !name.includes('\0');
  return isFine ? [] : [{ field: 'name', message: `the name may have at most ${LONGEST_NAME} characters` }];
}

function setUpEnded(): PageReply {
  return errorPage(
    410,
    'This link was used, has expired, or is not complete. While nobody has an account, the command payhook users setup-link on the server makes a new one.',
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
    lead: 'You are the first one here: this makes you the owner of the account.',
    body: errorSummary(problems) + form('/set-up', inside.join('')),
  });
  return layout({ title: 'Set up', body });
}

/** GET /password */
export async function showPassword({ db, query }: PageInput): Promise<PageReply> {
  const token = query.get('token') ?? '';
  const link = await openLink(db.reader, token);
  return link?.user
    ? show(200, passwordDocument({ token, purpose: link.purpose, ...link.user }))
    : passwordEnded();
}

/** POST /password */
export async function submitPassword(input: PageInput): Promise<PageReply> {
  if (!isFromHere(input)) return refuseForeign();
  const { db, form: sent } = input;
  const token = sent.get('token') ?? '';
  const link = await openLink(db.reader, token);
  if (!link?.user) return passwordEnded();
  const problems = newPasswordProblems(sent, { first: 'password', email: link.user.email });
  if (problems.length > 0) {
    return show(400, passwordDocument({ token, purpose: link.purpose, ...link.user, problems }));
  }
  const secret = await choosePassword(db, token, sent.get('password') ?? '', visitOf(input));
  return secret === null ? passwordEnded() : redirect(HOME, sessionHeader(secret, input));
}

function passwordEnded(): PageReply {
  return errorPage(
    410,
    'This link was used, has expired, or is not complete. An owner of your account can make a new one.',
    SIGN_IN,
  );
}

interface PasswordShown {
  readonly token: string;
  readonly purpose: string;
  readonly name: string;
  readonly email: string;
  readonly problems?: readonly Problem[];
}

function passwordDocument({ token, purpose, name, email, problems = [] }: PasswordShown): string {
  const isNew = purpose === 'invitation';
  const inside = [
    hidden('token', token),
    usernameHint(email),
    newPasswordFields(
      { first: 'password', label: isNew ? 'Password' : 'New password', again: 'The same again' },
      problems,
    ),
    actions([button(isNew ? 'Join' : 'Set the password')]),
  ];
  const body = card({
    title: isNew ? `Welcome, ${name}` : 'Choose a new password',
    lead: isNew
      ? `You sign in as ${email}. Choose a password to join.`
      : `For ${email}. You will be signed out everywhere else.`,
    body: errorSummary(problems) + form('/password', inside.join('')),
  });
  return layout({ title: isNew ? 'Welcome' : 'New password', body });
}
