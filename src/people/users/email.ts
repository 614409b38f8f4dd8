import { isEmail } from '../../kernel/email.ts';

const LONGEST = 320;

/**
 * The form of an e-mail address that is stored and compared: without spaces around it, composed, in lower case;
 * null when it is none. It accepts addresses that were stored before `newEmail` refused them.
 */
export function normalEmail(text: string): string | null {
  const email = text.trim().normalize('NFKC').toLowerCase();
  const isOne =
    /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email) && email.length <= LONGEST && email.isWellFormed();
  return isOne ? email : null;
}

/** The normal form of an e-mail address that is to be stored from now on; null when it is not acceptable. */
export function newEmail(text: string): string | null {
  const email = normalEmail(text);
  return email !== null && isEmail(email) ? email : null;
}
