import sql from 'sql-template-tag';
import { oneRow, type Reader } from '../../db/database.ts';
import { readPaymentFileId } from '../../terms/payment-file-id.ts';
import type { Of } from './file-sets.ts';

/** The payments of a file as downloaded. */
export interface SentPayments {
  readonly affiliate_ids: readonly number[];
  /** Minor units, at the same index as the affiliates. */
  readonly amounts: readonly number[];
  /** When it was last downloaded, in milliseconds since 1970. */
  readonly downloaded_at: number;
}

/** The payments of downloaded files by message id. An id without an entry is not ours. */
export type SentFiles = ReadonlyMap<string, readonly SentPayments[]>;

/**
 * Finds which of these message ids (MsgId and PmtInfId, a JSON list) belong to SEPA files downloaded for this payout,
 * with the payments of each download, as JSON for `readSent`. Nothing else decides whether a bank's message concerns one
 * of our files. Files with the same id are equal, except those of earlier versions, whose ids have no code. A file
 * without recorded payments has none.
 */
export async function sentFiles(db: Reader, { account, payout }: Of, messageIds: string): Promise<string> {
  const { json } = await oneRow<{ json: string }>(
    db,
    sql`select coalesce(json_agg(f), '[]')::text as json from (
          select n.text, w.affiliate_ids, w.amounts, 1000 * extract(epoch from max(id_time(w.id))) as downloaded_at
          from payment_file_downloads w
          join payouts p on p.account_id = w.account_id and p.id = w.payout_id
          join json_array_elements_text(${messageIds}::json) as n (text)
            on n.text = coalesce(w.message_id, concat('P', p.number, '-R', w.revision, '-F', coalesce(w.part, 1)))
          where w.account_id = ${account} and w.payout_id = ${payout} and w.format = 'sepa'
          group by n.text, w.affiliate_ids, w.amounts) f`,
  );
  return json;
}

/** The ids in these texts that may belong to payment files. */
export const possibleIds = (texts: Iterable<string>): string[] =>
  [...texts].filter((text) => readPaymentFileId(text) !== null);

interface SentRow {
  readonly text: string;
  readonly affiliate_ids: readonly number[] | null;
  readonly amounts: readonly number[] | null;
  readonly downloaded_at: number;
}

/** Parses the result of `sentFiles`. */
export function readSent(json: string): SentFiles {
  const files = new Map<string, SentPayments[]>();
  for (const { text, affiliate_ids, amounts, downloaded_at } of JSON.parse(json) as SentRow[]) {
    const file = files.get(text) ?? [];
    files.set(text, file);
    if (affiliate_ids !== null && amounts !== null) file.push({ affiliate_ids, amounts, downloaded_at });
  }
  return files;
}
