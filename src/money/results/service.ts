import { buffer } from 'node:stream/consumers';
import type { ListQuery, Page } from '../../contract/lists.ts';
import type { Principal } from '../../contract/route.ts';
import type { Upload } from '../../contract/uploads.ts';
import type { Reader, Tx } from '../../db/connect.ts';
import { fail, nameSome } from '../../kernel/errors.ts';
import { type AccountId, uuidOf } from '../../kernel/ids.ts';
import { extended, type Json, toJson } from '../../kernel/json.ts';
import { readPaymentFileId } from '../../kernel/payment-file-id.ts';
import type { Vault } from '../../kernel/vault.ts';
import { fileDigest } from '../ledger/file-digests.ts';
import { type SentFiles, sentFiles } from '../payment-files/sent.ts';
import { payoutHead } from '../payouts/service.ts';
import { OUTCOMES, type Outcome, type ReadResult, ResultFileError } from './answers.ts';
import { type Proposed, propose } from './propose.ts';
import { readResultFile } from './read.ts';
import { type Counts, MOST_PROBLEMS, type Problem, type Proposal, type ResultRecord } from './record.ts';
import { type AskedPayout, holdPayout, insertResult, knownLines, lastUpload, listOfPayout } from './store.ts';

/** Larger files are refused: one is in memory while it is read. */
const MOST_BYTES = 64 << 20;

/**
 * Reads a file of a bank or provider, compares it with a payout and records that it came. The answer proposes what to do about
 * each line; nothing is done. `ignored` names columns of your own list that say nothing about payments. Throws
 * `resource_missing`, `current_is_read_only`, `invalid_file`, `result_of_another_payout`.
 */
export async function takeResult(
  tx: Tx,
  principal: Principal,
  payoutId: string,
  {
    upload,
    vault,
    ignored,
  }: { readonly upload: Upload; readonly vault: Vault; readonly ignored: readonly string[] },
): Promise<Json<Proposal>> {
  const { account } = principal;
  if (payoutId === 'current')
    throw fail('current_is_read_only', '`current` is for reading only: use the id of the payout');
  const id = uuidOf('po', payoutId);
  const payout = id === null ? null : await holdPayout(tx, account, id);
  if (id === null || payout === null) throw fail('resource_missing', 'no such payout');
  const read = await readFile(upload, ignored);
  const number = Number(payout.number);
  refuseOthers(read, number);
  const sent = await sentFiles(tx, { account, payout: id }, read.files);
  const lines = await knownLines(tx, account, id, affiliatesIn(read, number, sent));
  const found = propose(read, { number, status: payout.status, paidFrom: payout.paid_from }, lines, sent);
  const counts = countsOf(found.lines, found.problems.length, { payout, read });
  const digest = await fileDigest(tx, vault, account, upload.digest);
  const before = await lastUpload(tx, account, id, digest);
  const { kind } = read;
  const { revision } = payout;
  const record = await insertResult(tx, principal, id, {
    kind,
    digest,
    bytes: upload.bytes,
    revision,
    counts,
  });
  const revisions = [...read.files].flatMap((file) => {
    const named = readPaymentFileId(file);
    return named?.payout === number && named.revision !== revision ? [named.revision] : [];
  });
  const outdated = payout.status === 'unpaid' ? [...new Set(revisions)].sort((a, b) => a - b) : [];
  return extended(record, {
    lines: toJson([...found.lines]),
    problems: toJson(listed(found.problems)),
    outdated_revisions: toJson(outdated),
    uploaded_before: toJson(before),
  });
}

/** The first problem of each kind about each affiliate, so that none in doubt is missing, and the first that name nobody. */
function listed(problems: readonly Problem[]): Problem[] {
  const seen = new Set<string>();
  let others = 0;
  return problems.filter(({ kind, affiliate_id }) => {
    if (affiliate_id === null) {
      others += 1;
      return others <= MOST_PROBLEMS;
    }
    const key = `${affiliate_id} ${kind}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

async function readFile(upload: Upload, ignored: readonly string[]): Promise<ReadResult> {
  if (upload.bytes > MOST_BYTES)
    throw fail('invalid_file', `the file has more than ${MOST_BYTES >> 20} MiB: split it`);
  try {
    return await readResultFile(await buffer(upload.open()), ignored);
  } catch (error) {
    throw error instanceof ResultFileError ? fail('invalid_file', error.message) : error;
  }
}

/** Throws `result_of_another_payout` for a file without a word about this one. */
function refuseOthers({ answers, doubts, files }: ReadResult, number: number): void {
  const all = new Set<number>();
  for (const { of } of answers) all.add(of.payout ?? number);
  for (const { of } of doubts) if (of !== null) all.add(of.payout);
  for (const file of files) {
    const named = readPaymentFileId(file);
    if (named !== null) all.add(named.payout);
  }
  if (all.has(number)) return;
  const numbers = [...all].sort((a, b) => a - b).map(String);
  const what =
    numbers.length === 0
      ? 'it names no payment of ours'
      : `it is about ${numbers.length === 1 ? 'payout' : 'the payouts'} ${nameSome(numbers)}`;
  throw fail('result_of_another_payout', `the file says nothing about payout ${number}: ${what}`);
}

/** The affiliates of this payout that a file names, or that a file it answers pays. */
function affiliatesIn(
  { answers, doubts, fileAnswers }: ReadResult,
  number: number,
  sent: SentFiles,
): number[] {
  const all = new Set<number>();
  const add = (of: { readonly payout: number | null; readonly affiliate: number }) => {
    if (of.payout === null || of.payout === number) all.add(of.affiliate);
  };
  for (const { of } of answers) add(of);
  for (const { of } of doubts) if (of !== null) add(of);
  for (const file of new Set(fileAnswers.map((answer) => answer.file)))
    for (const { affiliate_ids } of sent.get(file) ?? []) for (const id of affiliate_ids) all.add(id);
  return [...all];
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
