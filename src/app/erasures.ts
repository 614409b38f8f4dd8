import { SLICE_ROWS } from '../db/chores.ts';
import type { Tx } from '../db/database.ts';
import { type Patterns, patternsOf } from '../erasure/person.ts';
import { nextErasure, noteErasureStep, type OpenErasure } from '../erasure/progress.ts';
import { eraseFromReplies } from '../http/idempotency.ts';
import { eraseFromBooks, eraseFromCommissions } from '../money/affiliates/erase-books.ts';
import { placeholderOf } from '../money/affiliates/fields.ts';
import { readAffiliateRow } from '../money/affiliates/store.ts';
import { eraseFromAudit } from '../people/audit/erase.ts';
import { eraseFromLog } from '../webhooks/log/erase.ts';

/*
 * The work that an erasure leaves after its request: commissions, the webhook log, and the rest. Each slice is a
 * transaction that records its progress, so after a crash the next process continues there. Repeating a slice changes
 * nothing.
 */

/** A chore: processes a slice of the oldest open erasure. */
export async function eraseSlice(tx: Tx): Promise<number> {
  const open = await nextErasure(tx);
  if (open === null) return 0;
  const { addresses, names, affiliate } = open;
  const cursor = await erase(
    tx,
    open,
    patternsOf({ addresses, names, placeholder: placeholderOf(affiliate) }),
  );
  await noteErasureStep(tx, open, cursor);
  return SLICE_ROWS; // there may be more
}

/** Processes a slice of the current step. Returns where the next one begins; null = the step is done. */
async function erase(tx: Tx, open: OpenErasure, patterns: Patterns): Promise<string | null> {
  const { account, affiliate, cursor } = open;
  const sought = { account, affiliate, patterns };
  if (open.step === 'commissions') return eraseFromCommissions(tx, sought, cursor);
  const record = (await readAffiliateRow(tx, account, Number(affiliate))) ?? '{}';
  if (open.step === 'log') return eraseFromLog(tx, { ...sought, record }, cursor);
  await eraseFromBooks(tx, sought);
  await eraseFromReplies(tx, account, { affiliate, record, patterns });
  await eraseFromAudit(tx, account, { externalIds: open.external_ids, patterns });
  return null;
}
