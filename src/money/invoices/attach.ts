import sql from 'sql-template-tag';
import { type Database, rows } from '../../db/database.ts';
import { type AccountId, type InvoiceId, idOf, type PayoutId } from '../../kernel/ids.ts';
import type { Vault } from '../../kernel/vault.ts';
import type { Threads } from '../../threads/pool.ts';
import { invoiceFile } from './files.ts';
import { getDocument } from './service.ts';

/** The line of a payment, and what makes documents. */
interface Payment {
  readonly account: AccountId;
  readonly affiliate: number;
  readonly payout: PayoutId;
}

/**
 * The invoices of a payment to an affiliate as PDF, with their file names; empty if none were issued. Throws `tax_id_lost`,
 * `too_much_work`.
 */
export async function invoicesOf(
  { db, vault, threads }: { db: Database; vault: Vault; threads: Threads },
  { account, affiliate, payout }: Payment,
): Promise<{ name: string; content: Buffer }[]> {
  const found = await rows<{ id: InvoiceId }>(
    db.reader,
    sql`select id from invoices where account_id = ${account} and payout_id = ${payout} and affiliate_id = ${affiliate}
          and corrects_id is null order by id`,
  );
  const files: { name: string; content: Buffer }[] = [];
  for (const { id } of found) {
    const opened = await getDocument(db.reader, { account, vault }, idOf('inv', id));
    files.push(await invoiceFile({ threads, account }, 'pdf', opened));
  }
  return files;
}
