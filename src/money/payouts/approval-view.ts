import sql, { raw } from 'sql-template-tag';
import { rolesWith } from '../../contract/roles.ts';
import type { Principal } from '../../contract/route.ts';
import { oneRow, type Reader, rows } from '../../db/database.ts';
import { type AccountId, idOf, type PayoutId, type UserId } from '../../kernel/ids.ts';
import { fromJson, type Json, toJson } from '../../kernel/json.ts';
import { approvalStatus, approvalsGiven, requiredApprovals } from '../ledger/approval.ts';
import { ruleOf } from '../ledger/approval-rules.ts';
import { mismatchCount } from '../ledger/verifications.ts';
import type { PayoutApproval } from './approval-record.ts';
import { barsOf } from './approvers.ts';
import { payoutHead } from './service.ts';

interface Standing {
  readonly revision: number;
  readonly status: PayoutApproval['status'];
  readonly is_paid: boolean;
  readonly required: number;
  readonly mismatches: number;
  readonly approvals: Json<PayoutApproval['approvals']>;
  readonly changes: Json<PayoutApproval['changes']>;
}

/** The approval state of a payout, and who may approve it. Throws `resource_missing`, `no_current_payout`. */
export async function getApproval(
  db: Reader,
  { account, id: caller }: Pick<Principal, 'account' | 'id'>,
  id: string,
): Promise<Json<PayoutApproval>> {
  const { id: payout } = await payoutHead(db, account, id);
  const standing = await readStanding(db, account, payout);
  const { revision, status } = standing;
  const isOpen = !standing.is_paid && status !== 'not_needed';
  const changes = fromJson(standing.changes);
  return toJson({
    object: 'payout_approval',
    payout_id: idOf('po', payout),
    revision,
    status,
    required_count: isOpen ? standing.required : 0,
    required_because: isOpen && standing.required > 1 ? whyTwo(revision, changes) : null,
    mismatch_count: standing.mismatches,
    approvals: fromJson(standing.approvals),
    changes,
    approvers: isOpen ? await readApprovers(db, account, payout, caller) : [],
  });
}

/** Explains why two people must approve. */
function whyTwo(revision: number, changes: PayoutApproval['changes']): string {
  const known = changes
    .filter(({ user_id }) => user_id === null)
    .flatMap(({ change }) => ruleOf(change, 'program').because ?? []);
  const unknown =
    changes.length < revision ? ['a version of Payhook that did not record who changed it'] : [];
  return [...new Set([...known, ...unknown])].join(', and ');
}

async function readApprovers(
  db: Reader,
  account: AccountId,
  payout: PayoutId,
  caller: string,
): Promise<PayoutApproval['approvers']> {
  const users = await rows<{ id: UserId }>(
    db,
    sql`select id from users where account_id = ${account} and removed_at is null and joined_at is not null
          and role = any(${rolesWith('approve')}) order by id`,
  );
  const bars = await barsOf(db, account, payout, null);
  return users.map((user) => {
    const own = bars.filter((bar) => bar.user === user.id);
    const user_id = idOf('usr', user.id);
    return {
      user_id,
      can_approve: own.length === 0,
      barred_because: own.map(({ rule, actor, at }) => ({
        reason: rule.reason as PayoutApproval['approvers'][number]['barred_because'][number]['reason'],
        message: user_id === caller ? `you ${rule.you}` : `they ${rule.they}`,
        actor_id: actor,
        at,
      })),
    };
  });
}

function readStanding(db: Reader, account: AccountId, payout: PayoutId): Promise<Standing> {
  return oneRow(
    db,
    sql`select p.revision, p.status = 'paid' as is_paid, ${raw(approvalStatus)} as status,
          ${raw(requiredApprovals)} as required, ${mismatchCount} as mismatches,
          ${raw(approvalsGiven)}::text as approvals, (
            select json_agg(json_build_object('revision', c.revision, 'change', c.change, 'actor_id', c.actor_id,
                     'user_id', public_id('usr', c.user_id), 'changed_at', iso(c.changed_at)) order by c.revision)
            from (select 1 as revision, 'created' as change, p.created_by as actor_id, p.created_by_user as user_id,
                         id_time(p.id) as changed_at
                  union all
                  select revision, change, actor_id, user_id, changed_at from payout_changes
                  where account_id = p.account_id and payout_id = p.id) c)::text as changes
        from payouts p where p.account_id = ${account} and p.id = ${payout}`,
  );
}
