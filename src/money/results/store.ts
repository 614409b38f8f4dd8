import sql, { raw } from 'sql-template-tag';
import { type ListDefinition, type ListQuery, listPage, oneOf, type Page } from '../../contract/lists.ts';
import { oneRecord } from '../../contract/records.ts';
import type { Principal } from '../../contract/route.ts';
import { maybeRow, oneRow, type Reader, type Tx } from '../../db/database.ts';
import type { AccountId, PayoutId, ResultId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { Timestamp } from '../../kernel/time.ts';
import { destinationOfLine } from '../ledger/destinations.ts';
import { frozen } from '../ledger/payout-record.ts';
import { cameBack, duePaid } from '../ledger/tax-on-top.ts';
import { isOfPayout, MISMATCHES, VERIFICATION_RESULTS } from '../ledger/verifications.ts';
import { RESULT_KINDS, type ResultKind } from './answers.ts';
import type { KnownLine } from './match.ts';
import {
  type Counts,
  type LineVerification,
  lineVerificationColumns,
  type ResultRecord,
  resultColumns,
} from './record.ts';

/** The payout that a file is compared with. */
export interface AskedPayout {
  readonly number: bigint;
  readonly status: 'unpaid' | 'paid';
  readonly revision: number;
  readonly line_count: number;
  /** The IBAN the account pays from; null = none. */
  readonly paid_from: string | null;
  /** Today in New York, `YYYY-MM-DD`. */
  readonly today: string;
}

/** The payout, protected from deletion until the transaction ends, or null. */
export function holdPayout(tx: Tx, account: AccountId, id: PayoutId): Promise<AskedPayout | null> {
  return maybeRow(
    tx,
    sql`select p.number, p.status, p.revision, to_char(now_ms() at time zone 'America/New_York', 'YYYY-MM-DD') as today,
               (select a.debtor ->> 'iban' from accounts a where a.id = p.account_id) as paid_from,
               (select count(*)::int from payout_line_totals t
                where t.account_id = p.account_id and t.payout_id = p.id) as line_count
        from payouts p where p.account_id = ${account} and p.id = ${id} for key share of p`,
  );
}

/** The lines of these affiliates (a JSON list of ids), with the amounts in payment files and the returns. */
export async function knownLines(
  db: Reader,
  account: AccountId,
  payout: PayoutId,
  affiliates: string,
): Promise<Json<KnownLine[]>> {
  const { json } = await oneRow<{ json: Json<KnownLine[]> }>(
    db,
    sql`with sent as materialized (
          select w.currency, f.affiliate_id, json_agg(distinct f.amount) as amounts,
                 json_agg(distinct jsonb_build_object('amount', f.amount, 'trace',
                   coalesce(n.originating_dfi, o.originator ->> 'originating_dfi') ||
                     lpad((n.first_trace + f.place - 1)::text, 7, '0'))) filter (where n.first_trace is not null) as entries
          from payment_file_downloads w
          join accounts o on o.id = w.account_id
          cross join lateral unnest(w.affiliate_ids, w.amounts) with ordinality as f (affiliate_id, amount, place)
          left join payment_files n on w.format = 'nacha' and n.account_id = w.account_id and n.payout_id = w.payout_id
            and n.set_id = w.set_id and n.part = coalesce(w.part, 1)
          where w.account_id = ${account} and w.payout_id = ${payout} and w.amounts is not null
          group by 1, 2)
        select coalesce(json_agg(row_to_json(k)), '[]')::text as json from (
          select t.affiliate_id, t.currency, ${raw(duePaid('t'))} as due, t.is_paid, ${raw(cameBack('t'))} as returned,
                 nullif(trim(concat_ws(' ', ${raw(frozen('name_first'))}, ${raw(frozen('name_last'))})), '') as name,
                 (select coalesce(json_agg(r.reference), '[]') from payout_returns r
                  where r.account_id = t.account_id and r.payout_id = t.payout_id and r.affiliate_id = t.affiliate_id
                    and r.currency = t.currency and r.undone_at is null and r.reference is not null) as return_references,
                 coalesce(s.amounts, '[]') as sent, coalesce(s.entries, '[]') as entries,
                 (select coalesce(json_agg(json_build_object('id', h.id, 'routing_number', h.routing_number, 'last_four', h.last_four)
                    order by h.replaced_at desc nulls first), '[]')
                  from affiliate_destinations h
                  where h.account_id = t.account_id and h.affiliate_id = t.affiliate_id and h.type = 'ach') as accounts,
                 (select json_build_object('id', x.id, 'type', x.type, 'holder_in_files', x.holder_in_files,
                           'last_four', x.last_four, 'changed_at', 1000 * extract(epoch from greatest(x.created_at, x.restored_at, (
                             select max(g.replaced_at) from affiliate_destinations g
                             where g.account_id = t.account_id and g.affiliate_id = t.affiliate_id
                               and (g.currency = t.currency or g.currency is null)))))
                  from ${raw(destinationOfLine)} x) as destination
          from payout_line_totals t
          join payouts p on p.account_id = t.account_id and p.id = t.payout_id
          join payout_lines l on l.account_id = t.account_id and l.payout_id = t.payout_id
            and l.affiliate_id = t.affiliate_id
          join affiliates a on a.account_id = t.account_id and a.id = t.affiliate_id
          left join sent s on s.affiliate_id = t.affiliate_id and s.currency = t.currency
          where t.account_id = ${account} and t.payout_id = ${payout}
            and t.affiliate_id in (select e::int8 from json_array_elements_text(${affiliates}::json) as e)) k`,
  );
  return json;
}

/** When the same bytes were uploaded for this payout before; null = never. */
export async function lastUpload(
  db: Reader,
  account: AccountId,
  payout: PayoutId,
  digest: Buffer,
): Promise<Timestamp | null> {
  const found = await maybeRow<{ at: Timestamp }>(
    db,
    sql`select iso(id_time(id)) as at from payout_results
        where account_id = ${account} and payout_id = ${payout} and file_digest = ${digest} order by id desc limit 1`,
  );
  return found?.at ?? null;
}

/** The data recorded about a file. */
export interface NewResult {
  readonly kind: ResultKind;
  /** Keyed. */
  readonly digest: Buffer;
  readonly bytes: number;
  readonly revision: number;
  readonly counts: Counts;
}

/** Records a file and returns its record. */
export async function insertResult(
  tx: Tx,
  { account, kind, id: actor }: Principal,
  payout: PayoutId,
  result: NewResult,
): Promise<Json<ResultRecord>> {
  const { id } = await oneRow<{ id: ResultId }>(
    tx,
    sql`insert into payout_results (account_id, payout_id, kind, file_digest, file_bytes, revision, counts, actor_kind, actor_id)
        values (${account}, ${payout}, ${result.kind}, ${result.digest}, ${result.bytes}, ${result.revision},
          ${JSON.stringify(result.counts)}, ${kind}, ${actor})
        returning id`,
  );
  return oneRecord(
    tx,
    resultColumns,
    sql`payout_results w where w.account_id = ${account} and w.payout_id = ${payout} and w.id = ${id}`,
  );
}

export const resultList: ListDefinition = {
  id: 'w.id',
  defaultSort: '-id',
  sort: { id: 'w.id' },
  filters: { kind: oneOf(RESULT_KINDS, (kind) => sql`w.kind = ${kind}`) },
};

/** A page of the result files uploaded for a payout. */
export function listOfPayout(
  db: Reader,
  account: AccountId,
  payout: PayoutId,
  list: ListQuery,
): Promise<Page<ResultRecord>> {
  return listPage(db, {
    list,
    name: 'payout_results',
    table: 'payout_results',
    alias: 'w',
    where: sql`w.account_id = ${account} and w.payout_id = ${payout}`,
    record: resultColumns,
  });
}

export const verificationList: ListDefinition = {
  id: ['v.affiliate_id', 'v.destination_id'],
  defaultSort: 'affiliate_id',
  sort: { affiliate_id: 'v.affiliate_id', verified_at: 'v.verified_at' },
  filters: {
    result: oneOf(VERIFICATION_RESULTS, (result) => sql`v.result = ${result}`),
    is_mismatch: oneOf(['true', 'false'], (is) => sql`(v.result = any(${[...MISMATCHES]})) = ${is}::boolean`),
  },
};

/** A page of what banks answered about the payees of a payout. */
export function verificationsOfPayout(
  db: Reader,
  account: AccountId,
  payout: PayoutId,
  list: ListQuery,
): Promise<Page<LineVerification>> {
  return listPage(db, {
    list,
    name: 'payee_verifications',
    table: 'payee_verifications',
    alias: 'v',
    where: sql`v.account_id = ${account} and ${isOfPayout(payout)}`,
    record: lineVerificationColumns,
    join: sql`join affiliates a on a.account_id = v.account_id and a.id = v.affiliate_id
      join affiliate_destinations x on x.account_id = v.account_id and x.id = v.destination_id`,
  });
}
