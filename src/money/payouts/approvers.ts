import sql, { raw } from 'sql-template-tag';
import { type Reader, rows } from '../../db/database.ts';
import type { AccountId, PayoutId, UserId } from '../../kernel/ids.ts';
import type { Timestamp } from '../../kernel/time.ts';
import { requiredApprovals } from '../ledger/approval.ts';
import {
  ACCESS_ACTIONS,
  type AccessChange,
  APPROVAL_RULES,
  type ApprovalRule,
  type Change,
  type Doer,
  ruleOf,
} from '../ledger/approval-rules.ts';

/** An event that may bar a user (UUID) from approving a payout. */
interface Fact {
  readonly user: UserId;
  readonly event: 'created' | Change | AccessChange;
  readonly by: Doer;
  /** The public id of the actor. */
  readonly actor: string;
  readonly at: Timestamp;
}

/** Why a user cannot approve a payout: the rule that bars them, and who caused it and when. */
export interface Bar extends Omit<Fact, 'event'> {
  readonly rule: ApprovalRule & Required<Pick<ApprovalRule, 'reason' | 'you' | 'they'>>;
}

// compared as text, which the index of these actions requires
const actions = raw(
  Object.keys(ACCESS_ACTIONS)
    .map((action) => `'${action}'`)
    .join(', '),
);

const isBar = (rule: ApprovalRule): rule is Bar['rule'] => rule.effect === 'bars';

/**
 * Why users cannot approve the unpaid payout: one user, or all with null. Each rule appears once per user, in rule order.
 * In a transaction the caller has locked the books, which every change of the payout also locks.
 */
export async function barsOf(
  db: Reader,
  account: AccountId,
  payout: PayoutId,
  user: UserId | null,
): Promise<Bar[]> {
  const facts = await readFacts(db, account, payout, user);
  const bars = facts.map(({ event, ...fact }) => ({ ...fact, rule: ruleOf(event, fact.by) }));
  const kept = new Map<string, Bar>();
  for (const { rule, ...fact } of bars) {
    const key = `${fact.user} ${rule.event} ${rule.by}`;
    if (isBar(rule) && !kept.has(key)) kept.set(key, { ...fact, rule });
  }
  return [...kept.values()].sort((a, b) => APPROVAL_RULES.indexOf(a.rule) - APPROVAL_RULES.indexOf(b.rule));
}

/**
 * The facts, oldest first. A person is the same across all users they had. A user let in by an author or by a key may be
 * that author, so anyone they let in counts as let in by an author.
 */
function readFacts(db: Reader, account: AccountId, payout: PayoutId, user: UserId | null): Promise<Fact[]> {
  return rows(
    db,
    sql`with recursive the as (
          select p.account_id, p.id, id_time(p.id) as made_at, p.created_by, p.created_by_user,
                 ${raw(requiredApprovals)} as required
          from payouts p where p.account_id = ${account} and p.id = ${payout}),
        acts as (
          select 'created' as event, created_by as actor, created_by_user as user_id, made_at as at from the
          union all
          select c.change, c.actor_id, c.user_id, c.changed_at from payout_changes c
          where c.account_id = ${account} and c.payout_id = ${payout}),
        access as (
          select u.person_id, l.action, l.actor_kind, l.actor_id as actor, a.person_id as by_person, id_time(l.id) as at,
                 l.actor_kind = 'operator' and exists (select from acts where acts.actor = l.actor_id) as by_author
          from the
          join audit_log l on l.account_id = the.account_id and l.action in (${actions})
            and id_time(l.id) >= the.made_at
          join users u on u.account_id = the.account_id and public_id('usr', u.id) = l.target
          left join users a on a.account_id = the.account_id and a.id = l.user_id),
        authors as (
          select u.person_id from acts join users u on u.account_id = ${account} and u.id = acts.user_id
          union
          select person_id from access where actor_kind = 'key' or by_author
          union
          select access.person_id from access join authors on authors.person_id = access.by_person),
        facts as (
          select u.person_id, acts.event, 'person' as by, acts.actor, acts.at
          from acts join users u on u.account_id = ${account} and u.id = acts.user_id
          union all
          select x.person_id, (${JSON.stringify(ACCESS_ACTIONS)}::json ->> x.action),
                 case when x.actor_kind = 'key' then 'key'
                      when x.by_author or x.by_person in (select person_id from authors) then 'author'
                      when the.required > 1 then 'anybody' else 'uninvolved' end,
                 x.actor, x.at
          from access x cross join the)
        select m.id as user, f.event, f.by, f.actor, iso(f.at) as at
        from facts f join users m on m.account_id = ${account} and m.person_id = f.person_id and m.removed_at is null
        where ${user}::uuid is null or m.id = ${user}
        order by f.at, m.id`,
  );
}
