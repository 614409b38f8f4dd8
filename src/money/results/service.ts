import { buffer } from 'node:stream/consumers';
import type { ListQuery, Page } from '../../contract/lists.ts';
import type { Principal } from '../../contract/route.ts';
import type { Upload } from '../../contract/uploads.ts';
import type { Reader, Tx } from '../../db/connect.ts';
import { fail, nameSome } from '../../kernel/errors.ts';
import { type AccountId, type PayoutId, uuidOf } from '../../kernel/ids.ts';
import { extended, type Json, toJson } from '../../kernel/json.ts';
import { paymentFileId } from '../../kernel/payment-file-id.ts';
import { readPaymentReference } from '../../kernel/payment-reference.ts';
import { paymentsOfSentFile, type SentPayments } from '../payment-files/sent.ts';
import { payoutHead } from '../payouts/service.ts';
import { OUTCOMES, type Outcome, type ReadResult, ResultFileError, type SentFile } from './answers.ts';
import { type Proposed, propose } from './propose.ts';
import { readResultFile } from './read.ts';
import { type Counts, MOST_PROBLEMS, type Proposal, type ResultRecord } from './record.ts';
import { type AskedPayout, holdPayout, insertResult, knownLines, lastUpload, listOfPayout } from './store.ts';

/** Larger files are refused: one is in memory while it is read. */
const MOST_BYTES = 64 << 20;

/**
 * Reads a file of a bank or provider, compares it with a payout and records that it came. The answer proposes what to do about
 * each line; nothing is done. Throws `resource_missing`, `current_is_read_only`, `invalid_file`, `result_of_another_payout`.
 */
export async function takeResult(
  tx: Tx,
  principal: Principal,
  payoutId: string,
  upload: Upload,
): Promise<Json<Proposal>> {
  const { account } = principal;
  if (payoutId === 'current')
    throw fail('current_is_read_only', '`current` is for reading only: use the id of the payout');
  const id = uuidOf('po', payoutId);
  const payout = id === null ? null : await holdPayout(tx, account, id);
  if (id === null || payout === null) throw fail('resource_missing', 'no such payout');
  const read = await readFile(upload);
  const number = Number(payout.number);
  refuseOthers(read, number);
  const sent = await sentFiles(
    tx,
    account,
    id,
    read.files.filter((file) => file.payout === number),
  );
  const lines = await knownLines(tx, account, id, affiliatesIn(read, number, sent));
  const found = propose(
    read,
    { number, status: payout.status, paidFrom: payout.paid_from },
    lines,
    (file) => sent.get(paymentFileId(file)) ?? [],
  );
  const counts = countsOf(found.lines, found.problems.length, { payout, read });
  const sha256 = upload.digest.toString('hex');
  const before = await lastUpload(tx, account, id, sha256);
  const { kind } = read;
  const { revision } = payout;
  const record = await insertResult(tx, principal, id, {
    kind,
    sha256,
    bytes: upload.bytes,
    revision,
    counts,
  });
  const outdated = read.files
    .filter((file) => file.payout === number && payout.status === 'unpaid' && file.revision !== revision)
    .map((file) => file.revision);
  return extended(record, {
    lines: toJson([...found.lines]),
    problems: toJson(found.problems.slice(0, MOST_PROBLEMS)),
    outdated_revisions: toJson([...new Set(outdated)].sort((a, b) => a - b)),
    uploaded_before: toJson(before),
  });
}

async function readFile(upload: Upload): Promise<ReadResult> {
  if (upload.bytes > MOST_BYTES)
    throw fail('invalid_file', `the file has more than ${MOST_BYTES >> 20} MiB: split it`);
  try {
    return await readResultFile(await buffer(upload.open()));
  } catch (error) {
    throw error instanceof ResultFileError ? fail('invalid_file', error.message) : error;
  }
}

/** Throws `result_of_another_payout` for a file without a word about this one. */
function refuseOthers({ answers, files }: ReadResult, number: number): void {
  const named = answers.map(({ reference, affiliateId }) =>
    affiliateId === null ? (readPaymentReference(reference)?.payout ?? 0) : number,
  );
  const all = new Set([...named, ...files.map(({ payout }) => payout)]);
  if (all.has(number)) return;
  const numbers = [...all].sort((a, b) => a - b).map(String);
  const what =
    numbers.length === 0
      ? 'it names no payment of ours'
      : `it is about ${numbers.length === 1 ? 'payout' : 'the payouts'} ${nameSome(numbers)}`;
  throw fail('result_of_another_payout', `the file says nothing about payout ${number}: ${what}`);
}

async function sentFiles(db: Reader, account: AccountId, payout: PayoutId, files: readonly SentFile[]) {
  const sent = new Map<string, readonly SentPayments[]>();
  for (const file of files)
    sent.set(paymentFileId(file), await paymentsOfSentFile(db, { account, payout }, file));
  return sent;
}

/** The affiliates of this payout that a file names, or that a file it answers pays. */
function affiliatesIn(
  { answers, fileAnswers }: ReadResult,
  number: number,
  sent: ReadonlyMap<string, readonly SentPayments[]>,
): number[] {
  const named = answers.map(({ reference, affiliateId }) => {
    const read = readPaymentReference(reference);
    return affiliateId ?? (read?.payout === number ? read.affiliate : 0);
  });
  const filed = fileAnswers.flatMap(({ file }) =>
    (sent.get(paymentFileId(file)) ?? []).flatMap(({ affiliate_ids }) => affiliate_ids),
  );
  return [...new Set([...named, ...filed])];
}

function countsOf(
  lines: Proposed['lines'],
  problems: number,
  { payout, read }: { payout: AskedPayout; read: ReadResult },
): Counts {
  const of = (wanted: Outcome) => lines.filter(({ outcome }) => outcome === wanted).length;
  const [paid, rejected, returned, pending] = OUTCOMES.map(of) as [number, number, number, number];
  const unanswered = payout.line_count - lines.length;
  return { paid, rejected, returned, pending, unanswered, problems, others: read.others };
}

/** The files that were taken for a payout. Throws as `getPayout`. */
export async function listResults(
  db: Reader,
  account: AccountId,
  payoutId: string,
  list: ListQuery,
): Promise<Page<ResultRecord>> {
  const { id } = await payoutHead(db, account, payoutId);
  return listOfPayout(db, account, id, list);
}
