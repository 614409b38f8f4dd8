import sql from 'sql-template-tag';
import { oneRow, type Reader } from '../../db/connect.ts';
import { fromJson, type Json } from '../../kernel/json.ts';
import { type PaymentFileId, paymentFileId } from '../../kernel/payment-file-id.ts';
import type { Of } from './file-sets.ts';

/** The payments of a file as it was downloaded. */
export interface SentPayments {
  readonly affiliate_ids: readonly number[];
  /** Minor units, of the affiliate at the same place. */
  readonly amounts: readonly number[];
}

/**
 * The payments of the SEPA file with this id, of each time that it was downloaded here; empty = no such file of this payout was
 * downloaded. Files of one id are equal, but for those of earlier versions, whose ids have no code.
 */
export async function paymentsOfSentFile(
  db: Reader,
  { account, payout }: Of,
  file: PaymentFileId,
): Promise<SentPayments[]> {
  const { json } = await oneRow<{ json: Json<SentPayments[]> }>(
    db,
    sql`select coalesce(json_agg(json_build_object('affiliate_ids', w.affiliate_ids, 'amounts', w.amounts)), '[]')::text as json
        from payment_file_downloads w
        join payouts p on p.account_id = w.account_id and p.id = w.payout_id
        where w.account_id = ${account} and w.payout_id = ${payout} and w.format = 'sepa' and w.amounts is not null
          and ${paymentFileId(file)} = coalesce(w.message_id,
            concat('P', p.number, '-R', w.revision, '-F', coalesce(w.part, 1)))`,
  );
  return fromJson(json);
}
