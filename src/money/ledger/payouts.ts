import sql, { type Sql } from 'sql-template-tag';
import { oneRecord } from '../../contract/records.ts';
import { maybeRow, type Reader } from '../../db/database.ts';
import { type AccountId, type PayoutId, uuidOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { type Payout, type PayoutSummary, record, summary } from './payout-record.ts';

/** The payout addressed by a path. */
export interface WhichPayout {
  /** The condition over `p`. */
  readonly condition: Sql;
  /** Used in the names of statements with this condition. */
  readonly name: 'current' | 'by_id';
}

/** The payout addressed by an id in a path; `current` is the unpaid payout; null for a malformed id. */
export function whichPayout(id: string): WhichPayout | null {
  if (id === 'current') return { condition: sql`p.status = 'unpaid'`, name: 'current' };
  const uuid = uuidOf('po', id);
  return uuid === null ? null : { condition: sql`p.id = ${uuid}`, name: 'by_id' };
}

/** The record of a payout `p` as lists and events show it, as a column. */
export const summaryJson: Sql = sql`(select row_to_json(r)::text from (select ${summary}) r)`;

/** The record as lists and events show it. */
export function readSummary(db: Reader, account: AccountId, id: PayoutId): Promise<Json<PayoutSummary>> {
  return oneRecord(db, summary, sql`payouts p where p.account_id = ${account} and p.id = ${id}`);
}

/** The whole record of a payout, with its UUID and revision; null when there is none. */
export function readPayout(
  db: Reader,
  account: AccountId,
  which: WhichPayout,
): Promise<{ id: PayoutId; revision: number; json: Json<Payout> } | null> {
  return maybeRow(
    db,
    sql`select p.id, p.revision, (select row_to_json(r)::text from (select ${record}) r) as json
        from payouts p where p.account_id = ${account} and ${which.condition}`,
    `payout_${which.name}`,
  );
}
