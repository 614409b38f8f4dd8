const LONGEST = 320;

/**
 * The form of an e-mail address that is stored and compared: without spaces around it, composed, in lower case. null
 * when it is none.
 */
export function normalEmail(text: string): string | null {
  const email = text.trim().normalize('NFKC').toLowerCase();
  const isEmail =
    /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(email) && email.length <= LONGEST && email.isWellFormed();
  return isEmail ? email : null;
}
