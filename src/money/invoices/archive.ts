import type { Recorder } from '../../contract/route.ts';
import { readNow } from '../../db/clock.ts';
import type { Reader, Tx } from '../../db/database.ts';
import { Failure, fail } from '../../kernel/errors.ts';
import { idOf, type PayoutId } from '../../kernel/ids.ts';
import type { AccountVault } from '../../kernel/vault.ts';
import type { Threads } from '../../threads/pool.ts';
import type { CsvFile } from '../files/csv-export.ts';
import { csvLine } from '../files/csv-line.ts';
import { type ZipEntry, zipOut } from '../files/zip-out.ts';
import { fileName } from '../payouts/csv.ts';
import { payoutHead } from '../payouts/service.ts';
import { type InvoiceFormat, invoiceFile } from './files.ts';
import { openDocument } from './service.ts';
import { type DocumentRow, readDocuments } from './store.ts';

/** Invoices read by a statement. */
const PAGE = 100;

/** What makes an archive, and how its download is recorded. */
export interface Archiving {
  readonly db: Reader;
  readonly threads: Threads;
  readonly holder: AccountVault;
  readonly record: Recorder;
  /** Notes the download of the payout with this id. */
  readonly note: (tx: Tx, payout: string) => Promise<void>;
}

/**
 * A zip archive of the invoices and credit notes of a payout, as they are downloaded one by one. `skipped.csv` in it names those that
 * cannot be written, if there are any. Throws `resource_missing`, `no_current_payout`, `no_invoices`, and if no invoice can be
 * written, the reason of the first.
 */
export async function archiveInvoices(
  making: Archiving,
  id: string,
  format: InvoiceFormat,
): Promise<CsvFile> {
  const { db, holder, record, note } = making;
  const head = await payoutHead(db, holder.account, id);
  const files = filesOf(making, head.id, format);
  // before there is one, the request can still be refused
  const first = await files.next();
  await record((tx) => note(tx, idOf('po', head.id)));
  return {
    stream: zipOut(first.done ? files : following(first.value, files)),
    name: fileName(head, ['invoices', format], 'zip'),
    contentType: 'application/zip',
    headers: {},
  };
}

async function* following(first: ZipEntry, files: AsyncGenerator<ZipEntry>): AsyncGenerator<ZipEntry> {
  yield first;
  yield* files;
}

/** The files of the archive. Throws if no invoice can be written. */
async function* filesOf(
  making: Archiving,
  payout: PayoutId,
  format: InvoiceFormat,
): AsyncGenerator<ZipEntry> {
  const skipped: string[] = [];
  let [total, first]: [number, Failure | null] = [0, null];
  for await (const row of rowsOf(making, payout)) {
    total++;
    const made = await entryOf(making, row, format);
    if (made instanceof Failure) {
      first ??= made;
      skipped.push(csvLine([row.invoice, String(row.affiliate_id), made.reason, made.message]));
    } else yield made;
  }
  if (total === 0) throw fail('no_invoices', 'the payout has no invoices: issue them first');
  if (first === null) return;
  if (skipped.length === total)
    throw fail(first.reason, `no invoice of the payout can be written: ${first.message}`);
  const header = csvLine(['invoice', 'affiliate_id', 'reason', 'message']);
  yield {
    name: 'skipped.csv',
    content: Buffer.from(header + skipped.join('')),
    at: await readNow(making.db),
  };
}

/** The documents of a payout, by affiliate and currency. */
async function* rowsOf({ db, holder }: Archiving, payout: PayoutId): AsyncGenerator<DocumentRow> {
  for (let after: DocumentRow | null = null; ; ) {
    const found: DocumentRow[] = await readDocuments(db, holder.account, payout, after, PAGE);
    yield* found;
    after = found.at(-1) ?? null;
    if (found.length < PAGE) return;
  }
}

/** An invoice as a file, or why there is none. */
async function entryOf(
  { threads, holder }: Archiving,
  row: DocumentRow,
  format: InvoiceFormat,
): Promise<ZipEntry | Failure> {
  try {
    const opened = openDocument(holder, row);
    const { account } = holder;
    return { ...(await invoiceFile({ threads, account }, format, opened)), at: opened.at };
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}
