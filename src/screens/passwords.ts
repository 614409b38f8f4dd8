import type { PageReply } from '../contract/web-pages.ts';
import { escapeValue } from '../kernel/html.ts';
import { PASSWORD_LENGTH, passwordProblem } from '../people/users/passwords.ts';
import { errorPage, field, type Problem } from './html/html.ts';

interface Names {
  readonly first: string;
  readonly label: string;
  readonly again: string;
}

const COMMON = {
  type: 'password',
  autocomplete: 'new-password',
  minLength: PASSWORD_LENGTH.min,
  maxLength: PASSWORD_LENGTH.max,
} as const;

/** A field for a new password. */
export function newPasswordField(name: string, label: string, problems: readonly Problem[]): string {
  const hint = `At least ${PASSWORD_LENGTH.min} characters. A few unusual words are easy to remember and hard to guess.`;
  return field({ ...COMMON, name, label, hint }, problems);
}

/** Two fields for a new password, typed twice because it is not shown. */
export function newPasswordFields({ first, label, again }: Names, problems: readonly Problem[]): string {
  return (
    newPasswordField(first, label, problems) + field({ ...COMMON, name: 'again', label: again }, problems)
  );
}

/** The problems of a new password. */
export function newPasswordProblems(form: URLSearchParams, first: string, email: string): Problem[] {
  const weakness = passwordProblem(form.get(first) ?? '', email);
  return weakness === null ? [] : [{ field: first, message: weakness }];
}

/** The problems of a new password that was typed twice. */
export function twicePasswordProblems(
  form: URLSearchParams,
  { first, email }: { first: string; email: string },
): Problem[] {
  const weak = newPasswordProblems(form, first, email);
  if (weak.length > 0 || form.get(first) === form.get('again')) return weak;
  return [{ field: 'again', message: 'the two passwords differ' }];
}

/** A hidden field for password managers, which store a password with its user name. */
export function usernameHint(email: string): string {
  return `<input type="text" name="username" autocomplete="username" value="${escapeValue(email)}" hidden>`;
}

/** The response for a link that can no longer be used. */
export function passwordEnded(): PageReply {
  return errorPage(
    410,
    'This link was used, has expired or is incomplete. An owner of your account can send you a new one.',
    { href: '/sign-in', label: 'Go to sign-in' },
  );
}
