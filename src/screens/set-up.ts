import type { PageInput, PageReply } from '../contract/web-pages.ts';
import { newEmail } from '../kernel/email.ts';
import { fromJson } from '../kernel/json.ts';
import { normalizeCurrency } from '../kernel/money.ts';
import { nameProblem } from '../kernel/names.ts';
import type { AccountChange } from '../people/accounts/record.ts';
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
import { newPasswordFields, newPasswordProblems } from './passwords.ts';

const SIGN_IN = { href: '/sign-in', label: 'Go to sign-in' };

/** GET /set-up */
export async function showSetUp({ db, query }: PageInput): Promise<PageReply> {
  const token = query.get('token') ?? '';
  const link = await openLink(db.reader, token);
  if (link?.purpose !== 'setup') return setUpEnded();
  const { default_currency, hold_days } = fromJson(await getAccount(db.reader, link.account));
  const settings = { account_name: '', default_currency, hold_days: String(hold_days) };
  return show(200, setUpDocument({ token, settings }));
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
  const { settings, change, problems: wrong } = readSettings(sent);
  const problems: Problem[] = [
    ...nameProblems('name', 'your name', name),
    ...(email === null
      ? [{ field: 'email', message: 'enter your e-mail address, such as ada@example.com' }]
      : []),
    ...newPasswordProblems(sent, { first: 'password', email: email ?? '' }),
    ...wrong,
  ];
  const again = (found: readonly Problem[]) =>
    show(400, setUpDocument({ token, name, email: typed, settings, problems: found }));
  if (email === null || problems.length > 0) return again(problems);
  const made = { name, email, password: sent.get('password') ?? '' };
  const result = await setUp(db, token, made, visitOf(input), (tx, account) =>
    changeAccount(tx, account, change),
  );
  if (result.kind === 'signedIn') return enter(input, result.secret, HOME);
  if (result.kind === 'limited') return refuseForNow(result.seconds);
  if (result.kind === 'ended') return setUpEnded();
  return again([
    { field: 'password', message: 'this e-mail address already has an account here: enter its password' },
  ]);
}

const LONGEST_NAME = 200;

function nameProblems(field: string, what: string, name: string): Problem[] {
  if (name === '') return [{ field, message: `enter ${what}` }];
  const problem =
    name.length > LONGEST_NAME ? `may have at most ${LONGEST_NAME} characters` : nameProblem(name);
  return problem === null ? [] : [{ field, message: `the name ${problem}` }];
}

/** The settings of the account, as typed. */
type Settings = Readonly<Record<'account_name' | 'default_currency' | 'hold_days', string>>;
const LONGEST_HOLD = 3650;

/** The changes of the account, and their problems. A missing field changes nothing. */
function readSettings(sent: URLSearchParams) {
  const typed = (name: keyof Settings) => sent.get(name)?.trim();
  const [name, code, hold] = [typed('account_name'), typed('default_currency'), typed('hold_days')];
  const currency = code === undefined ? undefined : normalizeCurrency(code);
  const days = hold === undefined ? undefined : /^\d{1,4}$/.test(hold) ? Number(hold) : Number.NaN;
  const change: AccountChange = {
    ...(name === undefined ? {} : { name }),
    ...(currency ? { default_currency: currency } : {}),
    ...(days === undefined ? {} : { hold_days: days }),
  };
  const problems: Problem[] = [
    ...(name === undefined ? [] : nameProblems('account_name', 'a name for the account', name)),
    ...(currency === null
      ? [{ field: 'default_currency', message: 'enter the code of a currency, such as USD or EUR' }]
      : []),
    ...(days === undefined || days <= LONGEST_HOLD
      ? []
      : [{ field: 'hold_days', message: `enter a whole number of days, from 0 to ${LONGEST_HOLD}` }]),
  ];
  const settings: Settings = {
    account_name: name ?? '',
    default_currency: code ?? '',
    hold_days: hold ?? '',
  };
  return { settings, change, problems };
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
  readonly name?: string;
  readonly email?: string;
  readonly settings: Settings;
  readonly problems?: readonly Problem[];
}

function setUpDocument({ token, name = '', email = '', settings, problems = [] }: SetUpShown): string {
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
    ...settingsFields(settings, problems),
    actions([button('Create the owner')]),
  ];
  const body = card({
    title: 'Set up Payhook',
    lead: 'You are the first user, so you become the owner of the account. Its settings can be changed later.',
    body: errorSummary(problems) + form('/set-up', inside.join('')),
  });
  return layout({ title: 'Set up', body });
}

/** The first settings of an account, which can be changed later. */
function settingsFields(settings: Settings, problems: readonly Problem[]): string[] {
  const text = (name: keyof Settings, label: string, maxLength: number, hint?: string) =>
    field(
      {
        name,
        label,
        type: 'text',
        value: settings[name],
        autocomplete: 'off',
        maxLength,
        ...(hint === undefined ? {} : { hint }),
      },
      problems,
    );
  return [
    text('account_name', 'Name of the account', LONGEST_NAME, 'For example, the name of your shop.'),
    text('default_currency', 'Currency', 3, 'The currency of most of your commissions. Others work too.'),
    text(
      'hold_days',
      'Hold, in days',
      4,
      'How long a new commission waits before it can be paid, in case the sale is refunded.',
    ),
  ];
}
