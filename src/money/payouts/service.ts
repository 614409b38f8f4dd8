import type { Page } from '../../contract/lists.ts';
import type { Principal } from '../../contract/route.ts';
import { NeedsLocksFirst } from '../../db/again.ts';
import type { Reader, Snapshot, Tx } from '../../db/database.ts';
import { uniqueViolation } from '../../db/faults.ts';
import { fail, nameSome } from '../../kernel/errors.ts';
import {
  type AccountId,
  idOf,
  type PayoutId,
  type ScheduleId,
  type UserId,
  uuidOf,
} from '../../kernel/ids.ts';
import { fromJson, type Json } from '../../kernel/json.ts';
import { formatDecimal } from '../../kernel/money.ts';
import { publish } from '../../outbox/queue.ts';
import { zoneOf } from '../../people/accounts/service.ts';
import { type CsvFile, csvOut } from '../files/csv-export.ts';
import { lockBooks, stopCommissions } from '../ledger/books.ts';
import type { Payout } from '../ledger/payout-record.ts';
import { deletePayout, refreshTotals } from '../ledger/payout-totals.ts';
import { readPayout, readSummary, type WhichPayout, whichPayout } from '../ledger/payouts.ts';
import { missingAffiliates, missingPrograms } from '../ledger/references.ts';
import { noteSignals } from '../ledger/signals.ts';
import { refuseInexact } from '../ledger/totals.ts';
import { commissionsCopy, type FileHead, fileHead, fileName } from './csv.ts';
import { type PayoutFilters, readFilters } from './filters.ts';
import { readFormRules } from './forms.ts';
import type { Selection } from './plan.ts';
import type { PayoutPreview, SelectionInput } from './record.ts';
import {
  claim,
  currentPayout,
  exclusionCounts,
  insertPayout,
  type LockedPayout,
  lockPayout,
  previewRecord,
} from './store.ts';

/** A payout's record with its UUID and revision, which is its ETag. */
export interface PayoutRecord<T> {
  readonly id: PayoutId;
  readonly revision: number;
  readonly json: Json<T>;
}

/** Checks the shape of a selection before anything is locked. */
async function readSelection(db: Reader, account: AccountId, input: SelectionInput): Promise<Selection> {
  const zone = await zoneOf(db, account);
  return {
    account,
    filters: readFilters(input.filters, zone),
    forms: await readFormRules(db, account, zone),
    search: (input.search ?? '').trim(),
    ignoreMinimum: input.ignore_minimum ?? false,
    metadata: input.metadata ?? {},
  };
}

/** Throws the errors that creating a payout of this selection would throw, whatever is owed. */
export async function checkSelection(db: Reader, account: AccountId, input: SelectionInput): Promise<void> {
  const { filters } = await readSelection(db, account, input);
  await checkReferences(db, account, filters);
}

/** Without this check, a typo in an id would select nobody. Throws `unknown_affiliate`, `unknown_program`. */
async function checkReferences(db: Reader, account: AccountId, filters: PayoutFilters): Promise<void> {
  const affiliates = await missingAffiliates(db, account, filters.affiliateIds);
  if (affiliates.length > 0) {
    throw fail('unknown_affiliate', `filters.affiliate_id: no such affiliate: ${nameSome(affiliates)}`);
  }
  const programs = await missingPrograms(db, account, filters.programIds);
  if (programs.length > 0) {
    throw fail('unknown_program', `filters.program_id: no such program: ${nameSome(programs)}`);
  }
}

/**
 * Creates the account's unpaid payout from everything that is owed and matches. `by.user` is the person behind the
 * request, who cannot approve it. `by.schedule` is the schedule that prepares it. Throws `current_payout_exists` (with
 * its Location), `nothing_to_pay`, the reasons of filters, `unknown_affiliate`, `unknown_program`, `amount_too_large`.
 */
export async function createPayout(
  tx: Tx,
  { account, id }: Pick<Principal, 'account' | 'id'>,
  by: { readonly user: UserId | null; readonly schedule: ScheduleId | null },
  input: SelectionInput,
): Promise<PayoutRecord<Payout>> {
  const selection = await readSelection(tx, account, input);
  await lockBooks(tx, account);
  await refuseSecond(tx, account);
  await checkReferences(tx, account, selection.filters);
  const payout = await insertOnly(insertPayout(tx, selection, { id, ...by }));
  if (!(await claim(tx, selection, payout.id)))
    throw new NeedsLocksFirst((again) => stopCommissions(again, account));
  const { largest, lines } = await refreshTotals(tx, account, payout.id);
  if (lines === 0n) throw await nothingToPay(tx, account, payout.id);
  refuseInexact(largest);
  await noteSignals(tx, account, payout.id, { lines: null, regroups: true });
  await publish(tx, { account, type: 'payout.created', data: await readSummary(tx, account, payout.id) });
  return found(await readPayout(tx, account, which(idOf('po', payout.id))));
}

async function refuseSecond(tx: Tx, account: AccountId): Promise<void> {
  const current = await currentPayout(tx, account);
  if (current === null) return;
  const id = idOf('po', current);
  throw fail(
    'current_payout_exists',
    `payout ${id} is unpaid: complete or delete it before creating another`,
    {
      location: `/v2/affiliates/payouts/${id}`,
    },
  );
}

// The lock on the books prevents this; the unique index guarantees it.
async function insertOnly<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (uniqueViolation(error) !== 'payouts_one_unpaid') throw error;
    throw fail(
      'current_payout_exists',
      'another payout is unpaid: complete or delete it before creating another',
    );
  }
}

async function nothingToPay(tx: Tx, account: AccountId, payout: PayoutId) {
  const excluded = await exclusionCounts(tx, account, payout);
  const why = excluded.map(
    ({ reason, affiliates, commissions }) =>
      `${reason}: ${affiliates} affiliates with ${commissions} commissions`,
  );
  const left = why.length > 0 ? `left out: ${why.join(', ')}` : 'no unpaid commission matches';
  return fail('nothing_to_pay', `nothing to pay; ${left}`);
}

/** The payout that create would make now, with `id` null and `current_payout_id`. Writes nothing. */
export async function previewPayout(
  db: Reader,
  account: AccountId,
  input: SelectionInput,
): Promise<Json<PayoutPreview>> {
  const selection = await readSelection(db, account, input);
  await checkReferences(db, account, selection.filters);
  const { json, largest } = await previewRecord(db, selection);
  refuseInexact(largest);
  return json;
}

/**
 * A page of what create would do now. `read` selects the list. Each page is computed at its own time. Throws as
 * `previewPayout`.
 */
export async function previewPage<T>(
  db: Reader,
  account: AccountId,
  input: SelectionInput,
  read: (db: Reader, selection: Selection) => Promise<Page<T>>,
): Promise<Page<T>> {
  const selection = await readSelection(db, account, input);
  await checkReferences(db, account, selection.filters);
  return read(db, selection);
}

/** The payout that a path's id names. Throws `resource_missing` for a malformed id. */
function which(id: string): WhichPayout {
  const condition = whichPayout(id);
  if (condition === null) throw missing(id);
  return condition;
}

function missing(id: string) {
  return id === 'current'
    ? fail('no_current_payout', 'there is no unpaid payout at the moment')
    : fail('resource_missing', 'no such payout');
}

function found(record: PayoutRecord<Payout> | null, id = ''): PayoutRecord<Payout> {
  if (record === null) throw missing(id);
  return record;
}

/** A payout by id, or the unpaid one as `current`. Throws `resource_missing`, `no_current_payout`. */
export async function getPayout(db: Reader, account: AccountId, id: string): Promise<PayoutRecord<Payout>> {
  return found(await readPayout(db, account, which(id)), id);
}

/** The head of the payout that a path's id names, for its files and lists. Throws as `getPayout`. */
export async function payoutHead(db: Reader, account: AccountId, id: string): Promise<FileHead> {
  const head = await fileHead(db, account, which(id));
  if (head === null) throw missing(id);
  return head;
}

/** Locks the books and the payout, and returns the payout. Throws `current_is_read_only`, `resource_missing`. */
export async function lockPayoutToChange(
  tx: Tx,
  account: AccountId,
  id: string,
): Promise<LockedPayout & { id: PayoutId }> {
  if (id === 'current')
    throw fail('current_is_read_only', '`current` is for reading only: use the id of the payout');
  const uuid = uuidOf('po', id);
  if (uuid === null) throw missing(id);
  await lockBooks(tx, account);
  const payout = await lockPayout(tx, account, uuid);
  if (payout === null) throw missing(id);
  return { ...payout, id: uuid };
}

/**
 * The revisions that an If-Match header accepts, from the ETag of a payout or of its file; null = any. Throws
 * `invalid_if_match`.
 */
export function readIfMatch(header: string | undefined): readonly string[] | null {
  if (header === undefined || header.trim() === '*') return null;
  return header.split(',').map((part) => {
    const tag = /^(?:W\/)?"([^"]*)"$/.exec(part.trim())?.[1];
    if (tag === undefined) throw fail('invalid_if_match', 'If-Match must be an ETag such as "3"');
    // the revision alone, or followed by the digest of the ETag
    return tag.replace(/^(\d+)-.*$/, '$1');
  });
}

/** Throws `payout_changed` with the current revision and totals unless the revision is accepted. */
export function checkRevision(payout: LockedPayout, accepted: readonly string[] | null): void {
  if (accepted === null || accepted.includes(String(payout.revision))) return;
  throw fail(
    'payout_changed',
    `the payout is now at revision ${payout.revision} and pays ${sumsOf(payout)}: check it before you continue`,
    { etag: etagOf(payout.revision) },
  );
}

/** The sums of a payout as text: `75.00 EUR to 1 affiliate, 165.50 USD to 3 affiliates`. */
function sumsOf({ totals }: LockedPayout): string {
  return fromJson(totals)
    .map(({ currency, amount, with_tax, affiliate_count: count }) => {
      const decimal = formatDecimal(BigInt(with_tax?.amount ?? amount), currency);
      return `${decimal} ${currency.toUpperCase()} to ${count} ${count === 1 ? 'affiliate' : 'affiliates'}`;
    })
    .join(', ');
}

/** The ETag of a revision. */
export function etagOf(revision: number): string {
  return `"${revision}"`;
}

/** Removes an unpaid payout and releases its commissions. Throws `payout_is_paid`, `payout_changed`. */
export async function removePayout(
  tx: Tx,
  account: AccountId,
  id: string,
  ifMatch: string | undefined,
): Promise<void> {
  const accepted = readIfMatch(ifMatch);
  const payout = await lockPayoutToChange(tx, account, id);
  if (payout.status === 'paid')
    throw fail('payout_is_paid', 'the payout is paid, and a paid payout never changes');
  checkRevision(payout, accepted);
  await deletePayout(tx, account, payout.id);
  await publish(tx, { account, type: 'payout.deleted', data: payout.json });
}

/** The commissions of a payout as CSV, from the snapshot that `db` reads. Throws as `getPayout`. */
export async function downloadPayout(db: Snapshot, account: AccountId, id: string): Promise<CsvFile> {
  const head = await payoutHead(db, account, id);
  return {
    stream: csvOut(db, commissionsCopy(account, head.id)),
    name: fileName(head),
    headers: { etag: etagOf(head.revision) },
  };
}
