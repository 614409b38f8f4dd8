import sql from 'sql-template-tag';
import { maybeRow, rows, type Tx } from '../db/database.ts';
import type { AccountId } from '../kernel/ids.ts';

/** An erasure that is not completed: what the person was called, and how far it is. */
export interface OpenErasure {
  readonly account: AccountId;
  readonly affiliate: bigint;
  readonly addresses: readonly string[];
  readonly names: readonly string[];
  readonly external_ids: readonly string[];
  readonly step: 'commissions' | 'log' | 'rest';
  /** The UUID of the last row of the step that was looked at. */
  readonly cursor: string;
}

/** What comes after a step. */
const NEXT = { commissions: 'log', log: 'rest', rest: 'done' } as const;

/** The erasure that was requested first, locked; null = none is open. */
export function nextErasure(tx: Tx): Promise<OpenErasure | null> {
  return maybeRow(
    tx,
    sql`select account_id as account, affiliate_id as affiliate, addresses, names, external_ids, step, cursor
        from erasures where step <> 'done' order by requested_at limit 1 for update`,
  );
}

/** Notes where the next slice begins; null = the step is over. After the last one the person is forgotten here too. */
export async function noteErasureStep(
  tx: Tx,
  { account, affiliate, step }: OpenErasure,
  cursor: string | null,
): Promise<void> {
  const next = cursor === null ? NEXT[step] : step;
  const change =
    next === 'done'
      ? sql`completed_at = clock_time(), addresses = '{}', names = '{}', external_ids = '{}'`
      : sql`cursor = coalesce(${cursor}::uuid, '00000000-0000-0000-0000-000000000000')`;
  await rows(
    tx,
    sql`update erasures set step = ${next}, ${change} where account_id = ${account} and affiliate_id = ${affiliate}`,
  );
}
