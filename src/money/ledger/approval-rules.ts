import type { ReasonName } from '../../kernel/errors.ts';

/*
 * Who may approve a payout that needs a second person, as data. The checks, the refusals, the dashboard, the table in
 * docs/payouts.md and the tests all read it (docs/decisions/0069).
 */

/** A change of an unpaid payout. Each raises its revision. */
export type Change = 'redirected' | 'increased' | 'reduced';
/** A change that may let a user approve who could not before. */
export type AccessChange = 'invited' | 'promoted' | 'linked';

/**
 * Who made the change. For payouts: `person`, also through their API key or application, or `program`, a key or command
 * that belongs to nobody. For access: `author`, who created or changed the payout or was let in by such a person; `key`;
 * `anybody`, while two people must approve, because any of them may be the author; or `uninvolved`, another owner or the
 * command line.
 */
export type Doer = 'person' | 'program' | 'author' | 'key' | 'anybody' | 'uninvolved';

/** The effect: the person concerned cannot approve, two people must approve, or nothing changes. */
export type Effect = 'bars' | 'two_people' | 'nothing';

export interface ApprovalRule {
  readonly event: 'created' | Change | AccessChange;
  readonly by: Doer;
  readonly effect: Effect;
  /** With `bars`: the reason of the refusal, and its wording after `you` and after `they`. */
  readonly reason?: ReasonName;
  readonly you?: string;
  readonly they?: string;
  /** With `two_people`: the explanation. */
  readonly because?: string;
}

const CHANGED: Readonly<Record<Change, string>> = {
  redirected: 'changed the name, readiness or destination of an affiliate in it',
  increased: 'raised an amount in it',
  reduced: 'lowered an amount in it by a refund, a void or a hold',
};

const changedBy = (event: Change): readonly ApprovalRule[] => [
  {
    event,
    by: 'person',
    effect: 'bars',
    reason: 'approver_changed_payout',
    you: `${CHANGED[event]}, directly or through an API key or an application`,
    they: `${CHANGED[event]}, directly or through an API key or an application`,
  },
  // a smaller payout does not benefit the owner of the key, and shops book refunds through it
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
  promoted: { you: 'were given a higher role', they: 'was given a higher role' },
  linked: { you: 'were given a link to set your password', they: 'was given a link to set their password' },
};

const BY = {
  author: 'by a user who created or changed the payout, or who was let in by such a user or by an API key',
  key: 'by an API key',
  anybody: 'while the payout needs two approvals because the author of a change is unknown',
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

/** The effect of each event by actor. A refusal gives the reason of the first rule that applies. */
export const APPROVAL_RULES: readonly ApprovalRule[] = [
  {
    event: 'created',
    by: 'person',
    effect: 'bars',
    reason: 'approver_is_creator',
    you: 'created it, directly or through an API key, an application or a schedule',
    they: 'created it, directly or through an API key, an application or a schedule',
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

/** The rule for an event. */
export function ruleOf(event: ApprovalRule['event'], by: Doer): ApprovalRule {
  const rule = APPROVAL_RULES.find((each) => each.event === event && each.by === by);
  if (rule === undefined) throw new Error(`no rule for a ${by} who ${event} a payout`);
  return rule;
}

/** The changes that require two approvals when made by a program. */
export const NEEDING_TWO: readonly string[] = APPROVAL_RULES.filter(
  ({ by, effect, event }) => by === 'program' && effect === 'two_people' && event !== 'created',
).map(({ event }) => event);

/** The audit log's actions that let a user in. */
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
  invited: 'invited a user after it was created',
  promoted: 'raised the role of a user after it was created',
  linked: 'made a link to set the password of a user after it was created',
};
const DOER_WORDS: Readonly<Record<Doer, string>> = {
  person: 'A person, also through an API key they made or an application they authorized',
  program: 'A key that belongs to nobody, or the command line of the server',
  author: 'A user who created or changed it, or who was let in by such a user or by a key',
  key: 'An API key',
  anybody: 'Anybody, while two people must approve',
  uninvolved: 'Another owner, or the command line of the server',
};
const EFFECT_WORDS: Readonly<Record<Effect, (event: ApprovalRule['event']) => string>> = {
  bars: (event) => (event in LET_IN ? 'That user cannot approve.' : 'That person cannot approve.'),
  two_people: () => 'Two people must approve.',
  nothing: (event) => (event in LET_IN ? 'That user can approve.' : 'One person must approve, as usual.'),
};

/** The rules as a Markdown table for the guide, one row for each actor and effect. */
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
