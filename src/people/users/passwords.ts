import { randomBytes } from 'node:crypto';

/** The fewest and the most characters of a password. */
export const PASSWORD_LENGTH = { min: 10, max: 200 } as const;

// argon2id as OWASP recommends it: 19 MiB, two passes, one lane
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 } as const;
const AT_ONCE = 2;

// Common passwords that are long enough for the rule; attackers try them first.
const COMMON = new Set(
  `0123456789 0987654321 1234567890 12345678910 123456789a 1234567890a 1234567891 123123123123 1111111111 0000000000
  1q2w3e4r5t 1q2w3e4r5t6y 1qaz2wsx3edc q1w2e3r4t5 qazwsxedcrfv qwertyuiop qwertyuiop123 qwerty12345 qwerty123456
  asdfghjkl1 asdfghjkl123 zxcvbnm123 abcdefghij abcdefghijk abcd123456 abcd1234567 abc1234567 password12 password123
  password1234 password12345 password123456 password1! password123! password!! passwordpassword mypassword mypassword1
  passw0rd123 p@ssword123 p@ssw0rd123 p4ssw0rd123 iloveyou12 iloveyou123 iloveyou1234 welcome123 welcome1234 letmein123
  letmein1234 changeme12 changeme123 changeme1234 administrator adminadmin admin12345 admin123456 administrator1
  football12 football123 baseball123 basketball superman123 princess123 sunshine123 dragon12345 monkey12345 michael123
  trustno1trustno1 starwars123 testtest12 testtest123 test123456 secret12345 secretsecret correcthorsebatterystaple
  payhook123 payhook1234 payhookpayhook`.split(/\s+/),
);

/** The form in which passwords are compared: two ways to type the same characters are one (NFKC). */
const normal = (password: string) => password.normalize('NFKC');

/** Why a text is no good password for the user of an e-mail address, for people; null when it is acceptable. */
export function passwordProblem(password: string, email: string): string | null {
  const text = normal(password);
  const length = [...text].length;
  if (length < PASSWORD_LENGTH.min) return `the password needs at least ${PASSWORD_LENGTH.min} characters`;
  if (length > PASSWORD_LENGTH.max) return `the password may have at most ${PASSWORD_LENGTH.max} characters`;
  const lower = text.toLowerCase();
  const [mailbox = ''] = email.split('@');
  if (lower === email || lower === mailbox) return 'the password must not be your e-mail address';
  if (COMMON.has(lower) || new Set(lower).size < 4)
    return 'this password is too easy to guess: choose another one';
  return null;
}

interface Argon {
  readonly hash: typeof import('@node-rs/argon2').hash;
  readonly verify: typeof import('@node-rs/argon2').verify;
  /** The hash of a password nobody has: comparing with it takes as long as with any other. */
  readonly nobodys: string;
}

let loading: Promise<Argon> | undefined;

// Computed at the first use, because most processes never see a password.
function argon(): Promise<Argon> {
  loading ??= import('@node-rs/argon2').then(async ({ hash, verify }) => ({
    hash,
    verify,
    nobodys: await hash(randomBytes(32), COST),
  }));
  return loading;
}

let running = 0;
const waiting: (() => void)[] = [];

/** Each takes 19 MiB and a whole core, so only a few run at once. */
async function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

/** argon2id of a password. */
export function hashPassword(password: string): Promise<string> {
  return inTurn(async () => (await argon()).hash(normal(password), COST));
}

/** Whether it is the password of the hash. Without a hash it is not, after the same time. */
export function verifyPassword(hash: string | null, password: string): Promise<boolean> {
  return inTurn(async () => {
    const { verify, nobodys } = await argon();
    return (await verify(hash ?? nobodys, normal(password))) && hash !== null;
  });
}
