import sql from 'sql-template-tag';
import type { Lines } from '../../db/json-lines.ts';
import { lineJoins, lineRecord } from '../ledger/payout-record.ts';

/** The affiliates of all payouts, each with its payout. */
export const payoutLines: Lines = {
  columns: sql`public_id('po', p.id) as payout_id, ${lineRecord}`,
  from: sql`payouts p join payout_lines l on l.account_id = p.account_id and l.payout_id = p.id ${lineJoins}`,
  account: 'p.account_id',
  order: 'p.id, l.affiliate_id',
};
