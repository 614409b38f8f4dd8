import { isSeen } from './names.ts';

const LONGEST = 320;

// Atoms of RFC 5322 section 3.2.3 with dots between them, and labels of RFC 1123 section 2.1. Beyond ASCII a mailbox
// may hold whatever is seen (RFC 6531), a domain letters, marks and digits. No quoted mailboxes, no addresses in brackets.
const ADDRESS =
  /^[^\s@.()<>,;:\\"[\]]+(\.[^\s@.()<>,;:\\"[\]]+)*@(?!-)[\p{L}\p{M}\p{N}-]+(?<!-)(\.(?!-)[\p{L}\p{M}\p{N}-]+(?<!-))*$/u;

/** What `isEmail` takes, for messages: to be read after the name of a field and "must be". */
export const EMAIL_RULE = 'an e-mail address such as ada@example.com';

/** Whether a text is an e-mail address that somebody could be written to: of at most 320 characters, all of them seen. */
export function isEmail(text: string): boolean {
  return text.length <= LONGEST && isSeen(text) && ADDRESS.test(text);
}
