import { isSeen } from './names.ts';

const LONGEST = 320;

// Atoms of RFC 5322 section 3.2.3 with dots between them, and labels of RFC 1123 section 2.1. Beyond ASCII, a mailbox
// may contain any visible character (RFC 6531), a domain letters, marks and digits. No quoted mailboxes, no address
// literals.
const ADDRESS =
  /^[^\s@.()<>,;:\\"[\]]+(\.[^\s@.()<>,;:\\"[\]]+)*@(?!-)[\p{L}\p{M}\p{N}-]+(?<!-)(\.(?!-)[\p{L}\p{M}\p{N}-]+(?<!-))*$/u;

/** What `isEmail` accepts, for messages: follows the name of a field and "must be". */
export const EMAIL_RULE = 'an e-mail address such as ada@example.com';

/** Whether a text is a usable e-mail address: at most 320 characters, all of them visible. */
export function isEmail(text: string): boolean {
  return text.length <= LONGEST && isSeen(text) && ADDRESS.test(text);
}

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
