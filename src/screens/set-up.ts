import type { PageInput, PageReply } from '../contract/web-pages.ts';
import { newEmail } from '../kernel/email.ts';
import { nameProblem } from '../kernel/names.ts';
import { changeAccount } from '../people/accounts/service.ts';
import { openLink, setUp } from '../people/users/links.ts';
import { enter, HOME, isFromHere, refuseForeign, refuseForNow, show, visitOf } from './guard.ts';
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
import { newPasswordField, newPasswordProblems } from './passwords.ts';

const SIGN_IN = { href: '/sign-in', label: 'Go to sign-in' };

/** GET /set-up */
export async function showSetUp({ db, query }: PageInput): Promise<PageReply> {
  const token = query.get('token') ?? '';
  if ((await openLink(db.reader, token))?.purpose !== 'setup') return setUpEnded();
  return show(200, setUpDocument({ token }));
}

/** POST /set-up */
export async function submitSetUp(input: PageInput): Promise<PageReply> {
  if (!isFromHere(input)) return refuseForeign();
  const { db, form: sent } = input;
  const token = sent.get('token') ?? '';
  if ((await openLink(db.reader, token))?.purpose !== 'setup') return setUpEnded();
  const typed = (sent.get('email') ?? '').trim();
  const email = newEmail(typed);
  const business = (sent.get('account_name') ?? '').trim();
  const problems: Problem[] = [
    ...(email === null
      ? [{ field: 'email', message: 'enter your e-mail address, such as ada@example.com' }]
      : []),
    ...newPasswordProblems(sent, 'password', email ?? ''),
    ...nameProblems(business),
  ];
  const again = (found: readonly Problem[]) =>
    show(400, setUpDocument({ token, email: typed, business, problems: found }));
  if (email === null || problems.length > 0) return again(problems);
  // the name of the person can be changed later, like everything else
  const [name = email] = email.split('@');
  const made = { name, email, password: sent.get('password') ?? '' };
  const result = await setUp(db, token, made, visitOf(input), (tx, account) =>
    changeAccount(tx, account, { name: business }),
  );
  if (result.kind === 'signedIn') return enter(input, result.secret, HOME);
  if (result.kind === 'limited') return refuseForNow(result.seconds);
  if (result.kind === 'ended') return setUpEnded();
  return again([
    { field: 'password', message: 'this e-mail address already has an account here: enter its password' },
  ]);
}

const LONGEST_NAME = 200;

function nameProblems(name: string): Problem[] {
  if (name === '') return [{ field: 'account_name', message: 'enter the name of your business' }];
  const problem =
    name.length > LONGEST_NAME ? `may have at most ${LONGEST_NAME} characters` : nameProblem(name);
  return problem === null ? [] : [{ field: 'account_name', message: `the name ${problem}` }];
}

function setUpEnded(): PageReply {
  return errorPage(
    410,
    'This link was used, has expired or is incomplete. Until the first user exists, payhook users setup-link on the server prints a new one.',
    SIGN_IN,
  );
}

interface SetUpShown {
  readonly token: string;
  readonly email?: string;
  readonly business?: string;
  readonly problems?: readonly Problem[];
}

function setUpDocument({ token, email = '', business = '', problems = [] }: SetUpShown): string {
  const inside = [
    hidden('token', token),
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
    newPasswordField('password', 'Password', problems),
    field(
      {
        name: 'account_name',
        label: 'Name of your business',
        type: 'text',
        value: business,
        autocomplete: 'organization',
        maxLength: LONGEST_NAME,
      },
      problems,
    ),
    actions([button('Create the owner')]),
  ];
  const body = card({
    title: 'Set up Payhook',
    lead: 'You are the first user, so you become the owner of the account. Currency, hold and everything else are in Settings.',
    body: errorSummary(problems) + form('/set-up', inside.join('')),
  });
  return layout({ title: 'Set up', body });
}
