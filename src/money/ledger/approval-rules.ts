import type { ReasonName } from '../../kernel/errors.ts';

/*
 * Who may approve a payout that needs a second person, as data. The checks, what refusals and the dashboard explain, the
 * table of docs/payouts.md and the tests are made from it (docs/decisions/0069).
 */

/** What happens to an unpaid payout after its creation: each raises its revision. */
export type Change = 'redirected' | 'increased' | 'reduced';
/** What can let somebody approve who could not before. */
export type AccessChange = 'invited' | 'promoted' | 'linked';

/**
 * Who did it. Of a payout: `person`, also by a key or an application of theirs, or `program`, a key or a command that belongs
 * to nobody. Of access: `author`, who created or changed the payout, or was let in by one; a `key`; `anybody`, while two
 * people must approve, because each of them may be the author; or an `uninvolved` owner or the command line.
 */
export type Doer = 'person' | 'program' | 'author' | 'key' | 'anybody' | 'uninvolved';

/** What follows: the person it is about cannot approve; two people must approve; or nothing. */
export type Effect = 'bars' | 'two_people' | 'nothing';

export interface ApprovalRule {
  readonly event: 'created' | Change | AccessChange;
  readonly by: Doer;
  readonly effect: Effect;
  /** With `bars`: the reason of the refusal, and how it goes on after `you` and after `they`. */
  readonly reason?: ReasonName;
  readonly you?: string;
  readonly they?: string;
  /** With `two_people`: why. */
  readonly because?: string;
}

const CHANGED: Readonly<Record<Change, string>> = {
  redirected: 'changed the name, the readiness or the destination of an affiliate in it',
  increased: 'raised an amount in it',
  reduced: 'lowered an amount in it by a refund, a void or a hold',
};

const changedBy = (event: Change): readonly ApprovalRule[] => [
  {
    event,
    by: 'person',
    effect: 'bars',
    reason: 'approver_changed_payout',
    you: `${CHANGED[event]}, yourself or by a key or an application`,
    they: `${CHANGED[event]}, themselves or by a key or an application`,
  },
  // a smaller payment is no advantage to whoever holds the key, and shops book refunds with it
  event === 'reduced'
    ? { event, by: 'program', effect: 'nothing' }
    : {
        event,
        by: 'program',
        effect: 'two_people',
        because: `a key or a command that belongs to nobody ${CHANGED[event]}`,
      },
];

const LET_IN: Readonly<Record<AccessChange, { readonly you: string; readonly they: string }>> = {
  invited: { you: 'were invited', they: 'were invited' },
  promoted: { you: 'got a higher role', they: 'got a higher role' },
  linked: { you: 'got a link to set your password', they: 'got a link to set their password' },
};

const BY = {
  author: 'by somebody who created or changed the payout, or whom such a person or a key had let in',
  key: 'by an API key',
  anybody: 'while it needs two people because nobody is known who created or changed it',
} as const;

const letInBy = (event: AccessChange): readonly ApprovalRule[] => [
  ...(['author', 'key', 'anybody'] as const).map(
    (by): ApprovalRule => ({
      event,
      by,
      effect: 'bars',
      reason: 'approver_let_in',
      you: `${LET_IN[event].you} after it was created, ${BY[by]}`,
      they: `${LET_IN[event].they} after it was created, ${BY[by]}`,
    }),
  ),
  { event, by: 'uninvolved', effect: 'nothing' },
];

/** What follows of each event, by who caused it. The reason of a refusal is that of the first rule that applies. */
export const APPROVAL_RULES: readonly ApprovalRule[] = [
  {
    event: 'created',
    by: 'person',
    effect: 'bars',
    reason: 'approver_is_creator',
    you: 'created it, yourself or by a key, an application or a schedule',
    they: 'created it, themselves or by a key, an application or a schedule',
  },
  {
    event: 'created',
    by: 'program',
    effect: 'two_people',
    because: 'a key or a command that belongs to nobody created it',
  },
  ...changedBy('redirected'),
  ...changedBy('increased'),
  ...changedBy('reduced'),
  ...letInBy('invited'),
  ...letInBy('promoted'),
  ...letInBy('linked'),
];

/** The rule of an event. */
export function ruleOf(event: ApprovalRule['event'], by: Doer): ApprovalRule {
  const rule = APPROVAL_RULES.find((each) => each.event === event && each.by === by);
  if (rule === undefined) throw new Error(`no rule says what follows when a ${by} ${event} a payout`);
  return rule;
}

/** The changes of a payout that need two people when a program made them. */
export const NEEDING_TWO: readonly string[] = APPROVAL_RULES.filter(
  ({ by, effect, event }) => by === 'program' && effect === 'two_people' && event !== 'created',
).map(({ event }) => event);

/** How the audit log names what let somebody in. */
export const ACCESS_ACTIONS: Readonly<Record<string, AccessChange>> = {
  createUser: 'invited',
  raiseUserRole: 'promoted',
  resetUserPassword: 'linked',
};

const EVENT_WORDS: Readonly<Record<ApprovalRule['event'], string>> = {
  created: 'created it',
  redirected: 'changed the name, readiness or destination of an affiliate in it',
  increased: 'raised an amount in it (undid a refund, for example)',
  reduced: 'lowered an amount in it (refund, void, hold)',
  invited: 'invited a user since it was created',
  promoted: 'raised the role of a user since then',
  linked: 'made a link to set the password of a user since then',
};
const DOER_WORDS: Readonly<Record<Doer, string>> = {
  person: 'A person, also by a key they made or an application they let in',
  program: 'A key that belongs to nobody, or the command line of the server',
  author: 'Somebody who created or changed it, or whom such a person or a key had let in',
  key: 'An API key',
  anybody: 'Anybody, while two people must approve',
  uninvolved: 'Another owner, or the command line of the server',
};
const EFFECT_WORDS: Readonly<Record<Effect, (event: ApprovalRule['event']) => string>> = {
  bars: (event) => (event in LET_IN ? 'That user cannot approve.' : 'That person cannot approve.'),
  two_people: () => 'Two people must approve.',
  nothing: (event) => (event in LET_IN ? 'That user can approve.' : 'One person must approve, as otherwise.'),
};

/** The rules as a table in Markdown, for the guide: a row for each who and what follows. */
export function approvalTable(): string {
  const firsts = APPROVAL_RULES.filter(
    (rule, at) =>
      APPROVAL_RULES.findIndex(({ by, effect }) => by === rule.by && effect === rule.effect) === at,
  );
  const rows = firsts.map(({ by, effect, event }) => {
    const rules = APPROVAL_RULES.filter((rule) => rule.by === by && rule.effect === effect);
    return `| ${DOER_WORDS[by]} | ${rules.map((rule) => EVENT_WORDS[rule.event]).join('; ')} | ${EFFECT_WORDS[effect](event)} |`;
  });
  return ['| Who | did what | What follows |', '| --- | --- | --- |', ...rows].join('\n');
}
