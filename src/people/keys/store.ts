import sql, { raw } from 'sql-template-tag';
import {
  idInstants,
  type ListDefinition,
  type ListQuery,
  listPage,
  oneOf,
  type Page,
} from '../../contract/lists.ts';
import { oneRecord } from '../../contract/records.ts';
import { finderByHash } from '../../db/by-hash.ts';
import { type Reader, rows, type Tx } from '../../db/database.ts';
import { EVENT_CHECKS } from '../../db/event-checks.ts';
import type { AccountId, KeyId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { type ApiKey, record } from './record.ts';

export const keyList: ListDefinition = {
  id: 'k.id',
  sort: { id: 'k.id', created_at: 'k.id', name: 'k.name', last_used_at: 'k.last_used_at' },
  nullable: ['last_used_at'],
  filters: {
    status: oneOf(['active', 'revoked'], (status) =>
      status === 'active' ? sql`k.revoked_at is null` : sql`k.revoked_at is not null`,
    ),
    ...idInstants('created_at', 'k.id'),
  },
};

export function listKeys(db: Reader, account: AccountId, list: ListQuery): Promise<Page<ApiKey>> {
  return listPage(db, {
    list,
    name: 'api_keys',
    table: 'api_keys',
    alias: 'k',
    where: sql`k.account_id = ${account}`,
    record,
  });
}

export function insertKey(
  tx: Tx,
  key: { account: AccountId; name: string; hash: Buffer; hint: string; createdBy: string },
): Promise<Json<ApiKey>> {
  const made = sql`insert into api_keys (account_id, name, hash, hint, created_by)
                   values (${key.account}, ${key.name}, ${key.hash}, ${key.hint}, ${key.createdBy}) returning *`;
  return oneRecord(tx, record, sql`k`, { ctes: sql`k as (${made})` });
}

/** Marks the key revoked; false when there is no such key, or it was revoked before. */
export async function revokeKey(tx: Tx, account: AccountId, id: KeyId): Promise<boolean> {
  const done = await rows(
    tx,
    sql`update api_keys set revoked_at = now()
        where account_id = ${account} and id = ${id} and revoked_at is null returning 1`,
  );
  return done.length === 1;
}

/** A live key, as a request is made with it. */
export interface LiveKey {
  readonly id: KeyId;
  readonly account: AccountId;
  /** How many searches the filters of the account make in each event (outbox/searches); null = it has no filters. */
  readonly searches: number | null;
  /** How the events of the account are checked; null = they are not. */
  readonly eventChecks: string | null;
}

/** The live key with this hash, or null. */
export const keyByHash = finderByHash<LiveKey & { readonly hash: Buffer }>((db, hashes) =>
  rows(
    db,
    sql`select hash, id, account_id as account,
               (select sum(e.filter_searches)::int from webhook_endpoints e
                where e.account_id = k.account_id and e.filter_path is not null and e.deleted_at is null) as searches,
               (select ${raw(EVENT_CHECKS)} from accounts a where a.id = k.account_id) as "eventChecks"
        from api_keys k where hash = any(${hashes}::bytea[]) and revoked_at is null`,
    'keys_by_hash',
  ),
);

export async function touch(tx: Tx, id: KeyId): Promise<void> {
  await rows(
    tx,
    sql`update api_keys set last_used_at = now()
        where id = ${id} and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
  );
}
