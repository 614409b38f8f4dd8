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
