import sql from 'sql-template-tag';
import { type Reader, rows } from '../../db/connect.ts';
import type { AccountId, PayoutId } from '../../kernel/ids.ts';

/** A SEPA file as the id in it (MsgId and PmtInfId) names it. */
export interface MessageId {
  /** The number of the payout. */
  readonly payout: number;
  readonly revision: number;
  readonly part: number;
}

/** The payments of a SEPA file as it was downloaded. */
export interface SentPayments {
  readonly affiliate_ids: readonly number[];
  /** Minor units, of the affiliate at the same place. */
  readonly amounts: readonly number[];
}

/** The payments of downloaded files by the id in them; an id without an entry is none of ours. */
export type SentFiles = ReadonlyMap<string, readonly SentPayments[]>;

/** Parses the id of a SEPA file, as `sepa-message` writes it; null for any other text. */
export function readMessageId(text: string): MessageId | null {
  const [, payout, revision, part] = /^P(\d{1,15})-R(\d{1,9})-F(\d{1,9})$/.exec(text) ?? [];
  return payout === undefined
    ? null
    : { payout: Number(payout), revision: Number(revision), part: Number(part) };
}

/**
 * Which of these message ids are of SEPA files that were downloaded for this payout, with the payments of each. It is the one
 * place that says whether a message of a bank is about a file of ours. A file of which no payments were recorded has none.
 */
export async function sentFiles(
  db: Reader,
  account: AccountId,
  { id, number }: { readonly id: PayoutId; readonly number: number },
  messageIds: Iterable<string>,
): Promise<SentFiles> {
  const named = [...messageIds].flatMap((text) => {
    const read = readMessageId(text);
    return read?.payout === number ? [{ text, ...read }] : [];
  });
  const found = await rows<{ text: string; affiliate_ids: string[] | null; amounts: string[] | null }>(
    db,
    sql`select distinct n.text, w.affiliate_ids::text[] as affiliate_ids, w.amounts::text[] as amounts
        from unnest(${named.map(({ text }) => text)}::text[], ${named.map(({ revision }) => revision)}::int[],
               ${named.map(({ part }) => part)}::int[]) as n (text, revision, part)
        join payment_file_downloads w on w.revision = n.revision and coalesce(w.part, 1) = n.part
        where w.account_id = ${account} and w.payout_id = ${id} and w.format = 'sepa'`,
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
