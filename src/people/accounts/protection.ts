/*
 * What a key cannot do in an account that protects its payouts, as data: the checks, their messages and a table of
 * docs/payouts.md are made from it (docs/decisions/0069).
 */

/** Who may do what is protected. */
export const TRUSTED = 'an owner who is signed in, or the operator with the command line';

interface Protected {
  /** What it is, for the guide. */
  readonly what: string;
  /** When it is protected, for the guide. */
  readonly when: string;
  /** The message of its refusal, around who may. */
  refusal(onlyTrustedMay: string): string;
}

const whileProtected = 'payouts need a second person, or a changed destination waits';
const lettingIn = (what: string, verb: string): Protected => ({
  what,
  when: `while ${whileProtected}`,
  refusal: (may) => `while ${whileProtected}, ${may} ${verb}`,
});

/** The protected actions. */
export const PROTECTED = {
  end_approval: {
    what: 'set `approval` to `none`',
    when: 'always',
    refusal: (may) => `approval: ${may} change it to none`,
  },
  shorten_wait: {
    what: 'lower `destination_wait_hours`',
    when: 'always',
    refusal: (may) => `destination_wait_hours: ${may} lower it`,
  },
  change_blocks: {
    what: 'change `payout_signals`',
    when: 'while a signal blocks',
    refusal: (may) => `payout_signals: while a signal blocks, ${may} change them`,
  },
  invite: lettingIn('invite a user', 'invite users'),
  raise_role: lettingIn('raise the role of a user', 'raise the role of a user'),
  make_link: lettingIn(
    'make a link to set the password of a user, or a new invitation',
    'make links to set a password or accept an invitation',
  ),
} satisfies Readonly<Record<string, Protected>>;
export type ProtectedAction = keyof typeof PROTECTED;

/** The actions as a table in Markdown, for the guide. */
export function protectedTable(): string {
  const rows = Object.values(PROTECTED).map(({ what, when }) => `| ${what} | ${when} | yes | no | yes |`);
  return [
    '| What | When this holds | An owner who is signed in | An API key | The command line of the server |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}
