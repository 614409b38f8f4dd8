import sql from 'sql-template-tag';
import type { Principal, Recorder } from '../../contract/route.ts';
import { oneRow, rows, type Snapshot, type Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { formatDecimal } from '../../kernel/money.ts';
import type { Vault } from '../../kernel/vault.ts';
import type { Payer } from '../../people/accounts/record.ts';
import type { CsvFile } from '../files/csv-export.ts';
import { fileDigest } from '../ledger/file-digests.ts';
import type { FileHead } from '../payouts/csv.ts';
import type { Choices } from './choices.ts';
import { lockForDownload, type Of, type TakenFile, takeFile, type WantedFile } from './file-sets.ts';
import type { FilePart, Payments, SetChoices } from './format.ts';
import { identityOf } from './identity.ts';
import { type Payees, payeesInFile } from './rows.ts';

/** Who downloads, and how the download is recorded before the file is made. */
export interface Downloading {
  readonly principal: Principal;
  readonly record: Recorder;
  readonly vault: Vault;
}

/** A file about to be made from one snapshot. */
interface Wanted {
  readonly payments: Payments;
  readonly file: FilePart;
  readonly head: FileHead;
  readonly payer: Payer;
  readonly day: WantedFile['day'];
  readonly input: Choices;
}

interface Recorded {
  /** The file, or null if it moves no money. */
  readonly taken: TakenFile | null;
  readonly noteDigest: CsvFile['noteDigest'];
}

/**
 * Records a download before the file is made, with its payees if it moves money. For a HEAD, records nothing and returns
 * null. Throws `resource_missing` if the payout was deleted meanwhile, `amount_too_large`, `too_many_files_today`.
 */
export async function recordDownload(
  db: Snapshot,
  { principal, record, vault }: Downloading,
  { payments, file, head, payer, day, input }: Wanted,
): Promise<Recorded | null> {
  const { format, ...of } = payments;
  const { currency } = file;
  if (format.destination === null || currency === null) {
    return record(async (tx) => {
      await lockForDownload(tx, of);
      return { taken: null, noteDigest: await insert(tx, principal, of, { vault, head, payments, file }) };
    });
  }
  const identity = await identityOf(db, { payments, file, payer });
  const payees = await payeesInFile(db, payments, file);
  refuseSum(payments, payees);
  const wanted: WantedFile = {
    format: format.name,
    currency,
    part: file.part ?? 1,
    revision: head.revision,
    isPaid: head.status === 'paid',
    identity,
    choices: setChoices(input, file),
    day,
    originating: format.originating?.(payer) ?? null,
    affiliates: payees.affiliates,
  };
  return record(async (tx) => {
    await lockForDownload(tx, of);
    const taken = await takeFile(tx, of, wanted);
    return {
      taken,
      noteDigest: await insert(tx, principal, of, { vault, head, payments, file, payees, taken }),
    };
  });
}

/** The choices that apply to all parts. */
const setChoices = (input: Choices, { sourceCurrency }: FilePart): SetChoices => ({
  ...(input.rows_per_file === undefined ? {} : { rows_per_file: input.rows_per_file }),
  ...(sourceCurrency === null ? {} : { source_currency: sourceCurrency }),
  ...(input.whole_units === undefined ? {} : { whole_units: input.whole_units }),
  ...(input.instant === undefined ? {} : { instant: input.instant }),
  ...(input.execution_date === undefined ? {} : { execution_date: input.execution_date }),
});

function refuseSum({ format }: Payments, { amounts }: Payees): void {
  const { title, currency, mostInFile: most } = format;
  const total = amounts.reduce((sum, amount) => sum + amount, 0n);
  if (most === undefined || total <= most.amount) return;
  const decimal = (amount: bigint) => formatDecimal(amount, currency ?? '');
  throw fail(
    'amount_too_large',
    `the ${title} would pay ${decimal(total)} ${currency?.toUpperCase()}, and its totals have room for ${decimal(most.amount)}: ` +
      most.advice,
  );
}

interface Sent extends Pick<Wanted, 'head' | 'payments' | 'file'>, Pick<Downloading, 'vault'> {
  readonly payees?: Payees;
  readonly taken?: TakenFile;
}

/** Inserts the record of a download. Returns a function that adds the digest once all bytes were sent. */
async function insert(
  tx: Tx,
  { kind, id: actor }: Principal,
  { account, payout }: Of,
  { vault, head, payments: { format }, file, payees, taken }: Sent,
): Promise<CsvFile['noteDigest']> {
  const message = (taken && format.messageId?.(head, taken)) ?? null;
  const { id } = await oneRow<{ id: string }>(
    tx,
    sql`insert into payment_file_downloads
          (account_id, payout_id, revision, format, currency, part, actor_kind, actor_id, affiliate_ids, amounts, set_id, message_id)
        values (${account}, ${payout}, ${head.revision}, ${format.name}, ${file.currency}, ${file.part}, ${kind}, ${actor},
          ${payees?.affiliates ?? null}::int8[], ${payees?.amounts ?? null}::int8[], ${taken?.setId ?? null}, ${message})
        returning id`,
  );
  return async (later, sha256) => {
    const digest = await fileDigest(later, vault, account, sha256);
    await rows(
      later,
      sql`update payment_file_downloads set file_digest = ${digest}
          where account_id = ${account} and payout_id = ${payout} and id = ${id}`,
    );
  };
}
