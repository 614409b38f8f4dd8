import sql, { raw } from 'sql-template-tag';
import {
  type ListDefinition,
  type ListQuery,
  listPage,
  numberId,
  oneOf,
  type Page,
} from '../../contract/lists.ts';
import { oneRow, type Reader } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { AFFILIATE_NOTICE_KINDS, type AffiliateNotices } from '../../notices/affiliate-kinds.ts';
import { type AffiliateNotice, NOTICE_STATUSES, noticeStatus, record } from './record.ts';

export const noticeList: ListDefinition = {
  id: 'n.id',
  sort: { created_at: 'n.id' },
  filters: {
    kind: oneOf(AFFILIATE_NOTICE_KINDS, (kind) => sql`n.kind = ${kind}`),
    status: oneOf(NOTICE_STATUSES, (status) => sql`${raw(noticeStatus)} = ${status}`),
    affiliate_id: numberId((id) => sql`n.affiliate_id = ${id}`),
  },
};

/** A page of the notices to affiliates. */
export function listNotices(db: Reader, account: AccountId, list: ListQuery): Promise<Page<AffiliateNotice>> {
  return listPage(db, {
    list,
    name: 'affiliate_notices',
    table: 'notices',
    alias: 'n',
    where: sql`n.account_id = ${account} and n.affiliate_id is not null`,
    record,
  });
}

/** What the preview of an account shows. */
export interface NoticeAccount {
  readonly name: string;
  readonly zone: string;
  readonly settings: AffiliateNotices | null;
}

export async function readNoticeAccount(db: Reader, account: AccountId): Promise<NoticeAccount> {
  const { json } = await oneRow<{ json: string }>(
    db,
    sql`select json_build_object('name', name, 'zone', time_zone, 'settings', affiliate_notices)::text as json
        from accounts where id = ${account}`,
  );
  return JSON.parse(json) as NoticeAccount;
}
