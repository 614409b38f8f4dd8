import type { PageInput, PageReply } from '../contract/web-pages.ts';
import { fromJson } from '../kernel/json.ts';
import { getAccount } from '../people/accounts/service.ts';
import {
  joinSignedIn,
  joinWithPassword,
  type LinkResult,
  type OpenLink,
  openLink,
} from '../people/users/links.ts';
import {
  enter,
  HOME,
  hasToken,
  isFromHere,
  refuseForeign,
  refuseForNow,
  refuseUnsigned,
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
  hidden,
  layout,
  type Problem,
} from './html/html.ts';
import { newPasswordFields, passwordEnded, usernameHint } from './passwords.ts';

/** An invitation that can be accepted. */
type Invitation = OpenLink & { readonly user: NonNullable<OpenLink['user']> };

interface Shown {
  readonly token: string;
  readonly problems: readonly Problem[];
}

/** The page of an invitation. It is the same whether or not the person has a password here. */
export async function showInvitation(
  input: PageInput,
  { account, user }: Invitation,
  { token, problems }: Shown,
): Promise<PageReply> {
  const { name } = fromJson(await getAccount(input.db.reader, account));
  const [ofKnown, ofNew] = [true, false].map((known) =>
    problems.filter((problem) => (problem.field === 'current') === known),
  ) as [Problem[], Problem[]];
  const isHere = input.signedIn?.person === user.person;
  const lead = `You are invited to ${name}, as ${user.email}.`;
  const cards = isHere
    ? [card({ title: `Welcome, ${user.name}`, lead, body: joinForm(token, input.signedIn?.csrfToken ?? '') })]
    : [
        card({
          title: `Welcome, ${user.name}`,
          lead: `${lead} Choose a password to join.`,
          body: errorSummary(ofNew) + newForm(user.email, { token, problems }),
        }),
        card({
          level: 2,
          title: 'Do you already have a password here?',
          lead: 'If you have a password from another account on this server, join with it.',
          body: errorSummary(ofKnown) + knownForm(user.email, { token, problems }),
        }),
      ];
  return show(problems.length > 0 ? 400 : 200, layout({ title: 'Welcome', body: cards.join('') }));
}

function joinForm(token: string, csrf: string): string {
  return form('/password/join', hidden('token', token) + hidden('csrf', csrf) + actions([button('Join')]));
}

function newForm(email: string, { token, problems }: Shown): string {
  const inside = [
    hidden('token', token),
    usernameHint(email),
    newPasswordFields({ first: 'password', label: 'Password', again: 'Password again' }, problems),
    actions([button('Join')]),
  ];
  return form('/password', inside.join(''));
}

function knownForm(email: string, { token, problems }: Shown): string {
  const spec = { name: 'current', label: 'Your password', type: 'password' } as const;
  const inside = [
    hidden('token', token),
    usernameHint(email),
    field({ ...spec, autocomplete: 'current-password' }, problems),
    actions([button('Sign in and join', { kind: 'plain' })]),
  ];
  return form('/password/join', inside.join(''));
}

/** POST /password/join: accepts an invitation with an existing password, or with the session of the invited person. */
export async function submitJoin(input: PageInput): Promise<PageReply> {
  if (!isFromHere(input)) return refuseForeign();
  const { db, form: sent, signedIn } = input;
  const token = sent.get('token') ?? '';
  const link = await openLink(db.reader, token);
  if (link?.purpose !== 'invitation' || !link.user) return passwordEnded();
  const again = (message: string) =>
    showInvitation(
      input,
      { ...link, user: link.user as Invitation['user'] },
      {
        token,
        problems: [{ field: 'current', message }],
      },
    );
  let result: LinkResult;
  if (signedIn?.person === link.user.person) {
    if (!hasToken(input)) return refuseUnsigned();
    result = await joinSignedIn(db, token, signedIn.person, visitOf(input));
  } else {
    const password = sent.get('current') ?? '';
    if (password === '') return again('enter your password');
    result = await joinWithPassword(db, token, password, visitOf(input));
  }
  if (result.kind === 'signedIn') return enter(input, result.secret, HOME);
  if (result.kind === 'limited') return refuseForNow(result.seconds);
  return result.kind === 'ended'
    ? passwordEnded()
    : again('the password is wrong, or this address has no password here yet');
}
