import sql, { raw } from 'sql-template-tag';
import { rows, type Tx } from '../../db/database.ts';
import { ERASED_NAME, type Patterns, withoutAddress } from '../../erasure/person.ts';
import type { AccountId } from '../../kernel/ids.ts';

/**
 * Takes a person out of the targets of the audit log: their ids of the merchant's, and their e-mail addresses. Nothing
 * else of an entry can be changed (migration 37).
 */
export async function eraseFromAudit(
  tx: Tx,
  account: AccountId,
  { externalIds, patterns }: { readonly externalIds: readonly string[]; readonly patterns: Patterns },
): Promise<void> {
  await rows(tx, raw(`set local payhook.erasing_account = '${account}'`));
  await rows(
    tx,
    sql`update audit_log
        set target = case when target = any(${externalIds}::text[]) then ${ERASED_NAME}
                          else ${withoutAddress(sql`target`, patterns)} end
        where account_id = ${account} and (target ~* ${patterns.addresses}
          or (target = any(${externalIds}::text[]) and action = 'putAffiliateByExternalId'))`,
  );
  await rows(tx, raw("set local payhook.erasing_account = ''"));
}
