import sql from 'sql-template-tag';
import { oneRow, type Reader } from '../../db/connect.ts';
import { readPaymentFileId } from '../../kernel/payment-file-id.ts';
import type { Of } from './file-sets.ts';

/** The payments of a file as it was downloaded. */
export interface SentPayments {
  readonly affiliate_ids: readonly number[];
  /** Minor units, of the affiliate at the same place. */
  readonly amounts: readonly number[];
}

/** The payments of downloaded files by the id in them; an id without an entry is none of ours. */
export type SentFiles = ReadonlyMap<string, readonly SentPayments[]>;

/**
 * Which of these message ids (MsgId and PmtInfId, a JSON list) are of SEPA files that were downloaded for this payout, with the payments of each
 * download, as JSON for `readSent`. It is the one place that says whether a message of a bank is about a file of ours. Files of one id are
 * equal, but for those of earlier versions, whose ids have no code. A file of which no payments were recorded has none.
 */
export async function sentFiles(db: Reader, { account, payout }: Of, messageIds: string): Promise<string> {
  const { json } = await oneRow<{ json: string }>(
    db,
    sql`select coalesce(json_agg(f), '[]')::text as json from (
          select distinct n.text, w.affiliate_ids, w.amounts
          from payment_file_downloads w
          join payouts p on p.account_id = w.account_id and p.id = w.payout_id
          join json_array_elements_text(${messageIds}::json) as n (text)
            on n.text = coalesce(w.message_id, concat('P', p.number, '-R', w.revision, '-F', coalesce(w.part, 1)))
          where w.account_id = ${account} and w.payout_id = ${payout} and w.format = 'sepa') f`,
  );
  return json;
}

/** The ids among these that can be of payment files. */
export const possibleIds = (texts: Iterable<string>): string[] =>
  [...texts].filter((text) => readPaymentFileId(text) !== null);

interface SentRow {
  readonly text: string;
  readonly affiliate_ids: readonly number[] | null;
  readonly amounts: readonly number[] | null;
}

/** Reads what `sentFiles` wrote. */
export function readSent(json: string): SentFiles {
  const files = new Map<string, SentPayments[]>();
  for (const { text, affiliate_ids, amounts } of JSON.parse(json) as SentRow[]) {
    const file = files.get(text) ?? [];
    files.set(text, file);
    if (affiliate_ids !== null && amounts !== null) file.push({ affiliate_ids, amounts });
  }
  return files;
}
