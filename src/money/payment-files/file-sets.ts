import sql, { type Sql } from 'sql-template-tag';
import { SLICE_ROWS } from '../../db/chores.ts';
import { maybeRow, oneRow, rows, type Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, type FileSetId, idOf, type PayoutId } from '../../kernel/ids.ts';
import { toJson } from '../../kernel/json.ts';
import type { MadeFile, Originating, SetChoices } from './format.ts';
import { codeOf, type Identity } from './identity.ts';

/** A payout (UUID) and its account. */
export interface Of {
  readonly account: AccountId;
  readonly payout: PayoutId;
}

/** The requested file. */
export interface WantedFile {
  readonly format: string;
  readonly currency: string;
  /** From 1. */
  readonly part: number;
  /** The revision of the payout as read. */
  readonly revision: number;
  readonly isPaid: boolean;
  readonly identity: Identity;
  readonly choices: SetChoices;
  /** When the bank should pay, `YYYY-MM-DD`; null = the format has no such day. */
  readonly day: { readonly chosen: string | null; readonly first: string } | null;
  /** The originator by whom NACHA files are counted; null = the format counts none. */
  readonly originating: Originating | null;
  readonly affiliates: readonly bigint[];
}

/** A file, with what its download adds to the response. */
export interface TakenFile extends MadeFile {
  readonly setId: FileSetId;
  /** The set that was downloaded before this one was created. */
  readonly replaces: FileSetId | null;
  /** Affiliates whom a file of another set also pays in this currency. */
  readonly inOtherFiles: number;
}

interface FileSet {
  readonly id: FileSetId;
  readonly revision: number;
  readonly code: string;
  readonly replaces: FileSetId | null;
  readonly execution_date: string | null;
  readonly is_current: boolean;
}

const SET = sql`s.id, s.revision, s.code, s.replaces, s.execution_date::text as execution_date, s.is_current`;
const ofPayout = ({ account, payout }: Of): Sql => sql`s.account_id = ${account} and s.payout_id = ${payout}`;

/** Locks the payout, so that its downloads are recorded one at a time. Throws `resource_missing`. */
export async function lockForDownload(tx: Tx, { account, payout }: Of): Promise<void> {
  const found = await maybeRow(
    tx,
    sql`select from payouts where account_id = ${account} and id = ${payout} for no key update`,
  );
  if (found === null)
    throw fail('resource_missing', `no such payout: ${idOf('po', payout)} was deleted meanwhile`);
}

/**
 * The file with this content: as made at its first download, or made now. Its set becomes the current one. The caller has
 * locked the payout. Throws `too_many_files_today`.
 */
export async function takeFile(tx: Tx, of: Of, wanted: WantedFile): Promise<TakenFile> {
  const set = (await findSet(tx, of, wanted)) ?? (await makeSet(tx, of, wanted));
  if (!set.is_current) await makeCurrent(tx, of, wanted, set);
  const file = (await findFile(tx, of, set, wanted)) ?? (await makeFile(tx, of, set, wanted));
  return {
    ...file,
    setId: set.id,
    replaces: set.replaces,
    revision: set.revision,
    code: set.code,
    part: wanted.part,
    executionDate: set.execution_date,
    inOtherFiles: await notePayees(tx, of, set, wanted),
  };
}

/** A set with the same content whose day is the chosen one, or is not over (for a paid payout, even if it is over). */
function findSet(tx: Tx, of: Of, { identity, day, isPaid }: WantedFile): Promise<FileSet | null> {
  const chosen = day?.chosen ?? null;
  const first = isPaid ? null : (day?.first ?? null);
  return maybeRow(
    tx,
    sql`select ${SET} from payment_file_sets s
        where ${ofPayout(of)} and s.content = ${identity.content}
          and case when ${chosen}::date is not null then s.execution_date = ${chosen}::date
                else ${first}::date is null or s.execution_date = ${first}::date
                  or s.execution_date > ${first}::date and s.choices ->> 'execution_date' is null end
        order by s.is_current desc, s.id desc limit 1`,
  );
}

async function makeSet(tx: Tx, of: Of, wanted: WantedFile): Promise<FileSet> {
  const { format, currency, revision, identity, choices, day } = wanted;
  const date = day === null ? null : (day.chosen ?? day.first);
  const current = await maybeRow<{ id: string }>(
    tx,
    sql`select s.id from payment_file_sets s
        where ${ofPayout(of)} and s.format = ${format} and s.currency = ${currency} and s.is_current`,
  );
  return oneRow(
    tx,
    sql`with made as (
          insert into payment_file_sets
            (account_id, payout_id, format, currency, revision, choices, content, execution_date, code, replaces, is_current)
          values (${of.account}, ${of.payout}, ${format}, ${currency}, ${revision}, ${toJson(choices)}, ${identity.content},
            ${date}::date, ${codeOf(identity.content, date)}, ${current?.id ?? null}, false)
          returning *)
        select ${SET} from made s`,
  );
}

async function makeCurrent(tx: Tx, of: Of, { format, currency }: WantedFile, { id }: FileSet): Promise<void> {
  await rows(
    tx,
    sql`update payment_file_sets s set is_current = (s.id = ${id})
        where ${ofPayout(of)} and s.format = ${format} and s.currency = ${currency} and s.is_current <> (s.id = ${id})`,
  );
}

type OwnOfFile = Pick<MadeFile, 'madeAt' | 'localTime' | 'modifier' | 'firstTrace'>;
const FILE = sql`iso(id_time(f.id)) as "madeAt", f.local_time as "localTime", f.modifier, f.first_trace as "firstTrace"`;

function findFile(tx: Tx, { account, payout }: Of, { id }: FileSet, { part }: WantedFile) {
  return maybeRow<OwnOfFile>(
    tx,
    sql`select ${FILE} from payment_files f
        where f.account_id = ${account} and f.payout_id = ${payout} and f.set_id = ${id} and f.part = ${part}`,
  );
}

async function makeFile(tx: Tx, of: Of, { id }: FileSet, wanted: WantedFile): Promise<OwnOfFile> {
  const { part, originating, affiliates } = wanted;
  const { localTime } = await oneRow<{ localTime: string }>(
    tx,
    sql`select to_char(now() at time zone o.time_zone, 'YYMMDDHH24MI') as "localTime" from accounts o where o.id = ${of.account}`,
  );
  const counted =
    originating === null
      ? { modifier: null, first_trace: null }
      : await countNacha(tx, of.account, { ...originating, day: localTime.slice(0, 6) }, affiliates.length);
  return oneRow(
    tx,
    sql`with made as (
          insert into payment_files
            (account_id, payout_id, set_id, part, local_time, modifier, first_trace, originating_dfi)
          values (${of.account}, ${of.payout}, ${id}, ${part}, ${localTime}, ${counted.modifier}::int, ${counted.first_trace}::int,
            ${originating?.dfi ?? null})
          returning *)
        select ${FILE} from made f`,
  );
}

/** The characters that distinguish the files of a day (Nacha, file header, field 7). */
export const MODIFIERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
/** Seven digits of a trace number. */
const MOST_TRACES = 9_999_999;

/** Counts an originator's NACHA file on a day. The row stays locked until the transaction ends. */
async function countNacha(
  tx: Tx,
  account: AccountId,
  { destination, origin, day }: Originating & { readonly day: string },
  entries: number,
): Promise<{ modifier: number; first_trace: number }> {
  const counted = await oneRow<{ files: number; entries: number }>(
    tx,
    sql`insert into nacha_days (account_id, immediate_destination, immediate_origin, day, files, entries)
        values (${account}, ${destination}, ${origin}, ${day}, 1, ${entries}::int)
        on conflict (account_id, immediate_destination, immediate_origin, day)
          do update set files = nacha_days.files + 1, entries = nacha_days.entries + excluded.entries
        returning files, entries`,
  );
  const refuse = (what: string) =>
    fail(
      'too_many_files_today',
      `the originator ${origin} has made ${what} today: download this file tomorrow, or make larger files with rows_per_file`,
    );
  if (counted.files > MODIFIERS.length)
    throw refuse(`all ${MODIFIERS.length} NACHA files that the file id modifier distinguishes`);
  if (counted.entries > MOST_TRACES) throw refuse('as many payments as there are trace numbers');
  return { modifier: counted.files, first_trace: counted.entries - entries + 1 };
}

/** Deletes a slice of the counts older than a month before `at`. Returns the number deleted. */
export async function deleteOldNachaDays(tx: Tx, at: string): Promise<number> {
  const gone = await rows(
    tx,
    sql`delete from nacha_days where ctid = any(array(
          select ctid from nacha_days where day < to_char(${at}::timestamptz - interval '31 days', 'YYMMDD')
          limit ${SLICE_ROWS}::int))
        returning 1`,
  );
  return gone.length;
}

/** Records the payees of a file. Returns how many of them a file of another set also pays. */
async function notePayees(tx: Tx, of: Of, { id }: FileSet, wanted: WantedFile): Promise<number> {
  const { currency, part, affiliates } = wanted;
  await rows(
    tx,
    sql`insert into payment_file_payees (account_id, payout_id, affiliate_id, currency, set_id, part)
        select ${of.account}, ${of.payout}, f.id, ${currency}, ${id}, ${part}::int from unnest(${affiliates}::int8[]) as f (id)
        on conflict do nothing`,
  );
  const { count } = await oneRow<{ count: number }>(
    tx,
    sql`select count(distinct f.affiliate_id)::int as count from payment_file_payees f
        where f.account_id = ${of.account} and f.payout_id = ${of.payout} and f.currency = ${currency} and f.set_id <> ${id}
          and f.affiliate_id = any(${affiliates}::int8[])`,
  );
  return count;
}
