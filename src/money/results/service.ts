import type { ListQuery, Page } from '../../contract/lists.ts';
import type { Principal } from '../../contract/route.ts';
import type { Upload } from '../../contract/uploads.ts';
import type { Reader, Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, idOf, type PayoutId, uuidOf } from '../../kernel/ids.ts';
import { extended, type Json, toJson } from '../../kernel/json.ts';
import type { AccountVault, Vault } from '../../kernel/vault.ts';
import { notify } from '../../notices/notices.ts';
import { sharedFile } from '../../threads/file-pieces.ts';
import type { Threads } from '../../threads/pool.ts';
import { type DestinationCorrection, keepCorrections } from '../ledger/corrections.ts';
import { fileDigest } from '../ledger/file-digests.ts';
import { keepVerifications } from '../ledger/verifications.ts';
import { sentFiles } from '../payment-files/sent.ts';
import { payoutHead } from '../payouts/service.ts';
import type { LineVerification, Proposal, ResultRecord } from './record.ts';
import {
  holdPayout,
  insertResult,
  knownLines,
  lastUpload,
  listOfPayout,
  verificationsOfPayout,
} from './store.ts';
import { type Found, type Named, PROPOSE } from './tasks.ts';

/** Larger files are refused: the whole file is in memory while it is read. */
const MOST_BYTES = 64 << 20;

/**
 * Reads a file of a bank or provider, compares it with a payout and records the upload. The result proposes what to do
 * about each line; nothing is done, but verifications of payees and corrections of destinations are kept. `ignored` names columns of your own list that say nothing about payments. Throws
 * `resource_missing`, `current_is_read_only`, `invalid_file`, `result_of_another_payout`, `too_much_work`.
 */
export async function takeResult(
  tx: Tx,
  principal: Principal,
  payoutId: string,
  given: {
    readonly upload: Upload;
    readonly threads: Threads;
    readonly vault: Vault;
    readonly ignored: readonly string[];
  },
): Promise<Json<Proposal>> {
  const { account } = principal;
  const { upload, threads, vault, ignored } = given;
  if (payoutId === 'current')
    throw fail('current_is_read_only', '`current` is for reading only: use the id of the payout');
  const id = uuidOf('po', payoutId);
  const payout = id === null ? null : await holdPayout(tx, account, id);
  if (id === null || payout === null) throw fail('resource_missing', 'no such payout');
  if (upload.bytes > MOST_BYTES)
    throw fail('invalid_file', `the file has more than ${MOST_BYTES >> 20} MiB: split it`);
  const { number, status, revision, line_count, paid_from, today } = payout;
  const asked = {
    number: Number(number),
    status,
    paidFrom: paid_from,
    revision,
    lineCount: line_count,
  };
  // passes on the database's JSON unparsed: there may be a hundred thousand rows
  const answer = (named: Named): Promise<string> =>
    'files' in named
      ? sentFiles(tx, { account, payout: id }, named.files)
      : knownLines(tx, account, id, named.affiliates);
  const found = await threads.run(
    PROPOSE,
    { file: sharedFile(upload), ignored, payout: asked },
    { account, answer },
  );
  const digest = await fileDigest(tx, vault, account, upload.digest);
  const before = await lastUpload(tx, account, id, digest);
  if (found.verifications !== '[]') await keepVerifications(tx, account, found.kept);
  const corrections = await takeCorrections(tx, { account, vault, payout: id, today }, found);
  const { kind, counts } = found;
  const record = await insertResult(tx, principal, id, {
    kind,
    digest,
    bytes: upload.bytes,
    revision,
    counts,
  });
  return extended(record, {
    lines: found.lines,
    problems: found.problems,
    verifications: found.verifications,
    corrections,
    outdated_revisions: toJson([...found.outdated]),
    uploaded_before: toJson(before),
  });
}

/** Keeps the corrections in a file, and alerts those who decide about the new ones. Returns them as a JSON list. */
async function takeCorrections(
  tx: Tx,
  of: AccountVault & { readonly payout: PayoutId; readonly today: string },
  { corrections, madeOn }: Pick<Found, 'corrections' | 'madeOn'>,
): Promise<Json<DestinationCorrection[]>> {
  if (corrections.length === 0) return toJson([]);
  const { json, added, due } = await keepCorrections(tx, { ...of, madeOn }, corrections);
  if (added > 0)
    await notify(tx, [
      {
        account: of.account,
        kind: 'correction_received',
        subject: idOf('po', of.payout),
        count: added,
        data: { ends: due },
      },
    ]);
  return json;
}

/** The result files uploaded for a payout. Throws as `getPayout`. */
export async function listResults(
  db: Reader,
  account: AccountId,
  payoutId: string,
  list: ListQuery,
): Promise<Page<ResultRecord>> {
  const { id } = await payoutHead(db, account, payoutId);
  return listOfPayout(db, account, id, list);
}

/** What banks answered about the payees of a payout. Throws as `getPayout`. */
export async function listVerifications(
  db: Reader,
  account: AccountId,
  payoutId: string,
  list: ListQuery,
): Promise<Page<LineVerification>> {
  const { id } = await payoutHead(db, account, payoutId);
  return verificationsOfPayout(db, account, id, list);
}
