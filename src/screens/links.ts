import type { PageInput, PageReply } from '../contract/web-pages.ts';
import { choosePassword, type OpenLink, openLink } from '../people/users/links.ts';
import { enter, HOME, isFromHere, refuseForeign, refuseForNow, show, visitOf } from './guard.ts';
import { actions, button, card, errorSummary, form, hidden, layout, type Problem } from './html/html.ts';
import { showInvitation } from './invitation.ts';
import { newPasswordFields, passwordEnded, twicePasswordProblems, usernameHint } from './passwords.ts';

/** GET /password */
export async function showPassword(input: PageInput): Promise<PageReply> {
  const token = input.query.get('token') ?? '';
  const link = await openLink(input.db.reader, token);
  return link?.user ? showLink(input, link, { token, problems: [] }) : passwordEnded();
}

/** POST /password */
export async function submitPassword(input: PageInput): Promise<PageReply> {
  if (!isFromHere(input)) return refuseForeign();
  const { db, form: sent } = input;
  const token = sent.get('token') ?? '';
  const link = await openLink(db.reader, token);
  if (!link?.user) return passwordEnded();
  const problems = twicePasswordProblems(sent, { first: 'password', email: link.user.email });
  if (problems.length > 0) return showLink(input, link, { token, problems });
  const result = await choosePassword(db, token, sent.get('password') ?? '', visitOf(input));
  if (result.kind === 'signedIn') return enter(input, result.secret, HOME);
  if (result.kind === 'limited') return refuseForNow(result.seconds);
  if (result.kind === 'ended') return passwordEnded();
  const known = 'this e-mail address already has a password on this server: join with that one';
  return showLink(input, link, { token, problems: [{ field: 'current', message: known }] });
}

interface Shown {
  readonly token: string;
  readonly problems: readonly Problem[];
}

function showLink(
  input: PageInput,
  link: OpenLink,
  { token, problems }: Shown,
): PageReply | Promise<PageReply> {
  const { user, purpose } = link;
  if (!user) return passwordEnded();
  if (purpose === 'invitation') return showInvitation(input, { ...link, user }, { token, problems });
  return show(problems.length > 0 ? 400 : 200, resetDocument(user.email, { token, problems }));
}

function resetDocument(email: string, { token, problems }: Shown): string {
  const inside = [
    hidden('token', token),
    usernameHint(email),
    newPasswordFields({ first: 'password', label: 'New password', again: 'New password again' }, problems),
    actions([button('Set the password')]),
  ];
  const body = card({
    title: 'Choose a new password',
    lead: `For ${email}. You will be signed out everywhere else.`,
    body: errorSummary(problems) + form('/password', inside.join('')),
  });
  return layout({ title: 'New password', body });
}
