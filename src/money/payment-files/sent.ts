import sql from 'sql-template-tag';
import { type Reader, rows } from '../../db/connect.ts';
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
 * Which of these message ids (MsgId and PmtInfId) are of SEPA files that were downloaded for this payout, with the payments of each
 * download. It is the one place that says whether a message of a bank is about a file of ours. Files of one id are equal, but for those of
 * earlier versions, whose ids have no code. A file of which no payments were recorded has none.
 */
export async function sentFiles(
  db: Reader,
  { account, payout }: Of,
  messageIds: Iterable<string>,
): Promise<SentFiles> {
  const named = [...messageIds].filter((text) => readPaymentFileId(text) !== null);
  const found = await rows<{ text: string; affiliate_ids: string[] | null; amounts: string[] | null }>(
    db,
    sql`select distinct n.text, w.affiliate_ids::text[] as affiliate_ids, w.amounts::text[] as amounts
        from payment_file_downloads w
        join payouts p on p.account_id = w.account_id and p.id = w.payout_id
        join unnest(${named}::text[]) as n (text)
          on n.text = coalesce(w.message_id, concat('P', p.number, '-R', w.revision, '-F', coalesce(w.part, 1)))
        where w.account_id = ${account} and w.payout_id = ${payout} and w.format = 'sepa'`,
  );
  const files = new Map<string, SentPayments[]>();
  for (const { text, affiliate_ids, amounts } of found) {
    const file = files.get(text) ?? [];
    files.set(text, file);
    if (affiliate_ids !== null && amounts !== null)
      file.push({ affiliate_ids: affiliate_ids.map(Number), amounts: amounts.map(Number) });
  }
  return files;
}
