import type { PageInput, PageReply } from '../contract/web-pages.ts';
import type { Reader } from '../db/database.ts';
import { newEmail } from '../kernel/email.ts';
import { escapeHtml } from '../kernel/html.ts';
import type { AccountId } from '../kernel/ids.ts';
import { fromJson } from '../kernel/json.ts';
import { addressProblem, nameProblem } from '../kernel/names.ts';
import type { Account } from '../people/accounts/record.ts';
import { changeAccount, getAccount } from '../people/accounts/service.ts';
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
  const link = await openLink(db.reader, token);
  if (link?.purpose !== 'setup') return setUpEnded();
  return show(200, setUpDocument({ token, account: await settingsOf(db.reader, link.account) }));
}

/** POST /set-up */
export async function submitSetUp(input: PageInput): Promise<PageReply> {
  if (!isFromHere(input)) return refuseForeign();
  const { db, form: sent } = input;
  const token = sent.get('token') ?? '';
  const link = await openLink(db.reader, token);
  if (link?.purpose !== 'setup') return setUpEnded();
  const account = await settingsOf(db.reader, link.account);
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
    show(400, setUpDocument({ token, account, email: typed, business, problems: found }));
  if (email === null || problems.length > 0) return again(problems);
  const made = { name: nameFor(email), email, password: sent.get('password') ?? '' };
  const result = await setUp(db, token, made, visitOf(input), (tx, id) =>
    changeAccount(tx, id, { name: business }),
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
    name.length > LONGEST_NAME
      ? `may have at most ${LONGEST_NAME} characters`
      : (nameProblem(name) ?? addressProblem(name));
  return problem === null ? [] : [{ field: 'account_name', message: `the name ${problem}` }];
}

/** The first name of a person, who can change it later: the mailbox, unless it cannot be a name. */
function nameFor(email: string): string {
  const [mailbox = ''] = email.split('@');
  return mailbox.length > LONGEST_NAME || addressProblem(mailbox) !== null ? 'Owner' : mailbox;
}

type Settings = Pick<Account, 'default_currency' | 'hold_days'>;

const settingsOf = async (db: Reader, account: AccountId): Promise<Settings> =>
  fromJson(await getAccount(db, account));

function setUpEnded(): PageReply {
  return errorPage(
    410,
    'This link was used, has expired or is incomplete. Until the first user exists, payhook users setup-link on the server prints a new one.',
    SIGN_IN,
  );
}

interface SetUpShown {
  readonly token: string;
  readonly account: Settings;
  readonly email?: string;
  readonly business?: string;
  readonly problems?: readonly Problem[];
}

function setUpDocument({ token, account, email = '', business = '', problems = [] }: SetUpShown): string {
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
    `<p class="hint">${escapeHtml(settingsHint(account))}</p>`,
    actions([button('Create the owner')]),
  ];
  const body = card({
    title: 'Set up Payhook',
    lead: 'You are the first user, so you become the owner of the account.',
    body: errorSummary(problems) + form('/set-up', inside.join('')),
  });
  return layout({ title: 'Set up', body });
}

/** What applies to commissions until it is changed. */
function settingsHint({ default_currency, hold_days }: Settings): string {
  const days = hold_days === 1 ? '1 day' : `${hold_days} days`;
  return (
    `Amounts that name no currency are in ${default_currency.toUpperCase()}, and new commissions are on hold for ${days}. ` +
    'You can change both in Settings at any time. Commissions that exist by then keep theirs.'
  );
}
