import sql, { raw, type Sql } from 'sql-template-tag';
import { maybeRow, oneRow, type Reader } from '../../db/connect.ts';
import { type AccountId, type PayoutId, uuidOf } from '../../kernel/ids.ts';

/** The columns of a payout in lists and events, over `payouts p`: without its long lists. */
export const summary = sql`public_id('po', p.id) as id, 'affiliate_payout' as object, p.number, p.status, p.filters,
  p.search, iso(p.as_of) as as_of,
  case when json_array_length(p.totals) = 1 then p.totals #> '{0,currency}' end as currency,
  case when json_array_length(p.totals) = 1 then p.totals #> '{0,amount}' end as amount,
  p.totals, p.affiliate_count, p.commission_count, p.metadata, p.revision, p.created_by, iso(id_time(p.id)) as created_at,
  iso(greatest(p.updated_at, id_time(p.id))) as updated_at, iso(p.paid_at) as paid_at, p.paid_by`;

/** Lines longer than this are not part of the payout's record, never a part of them. */
const MAX_LINES = 1000;

/** A field of the affiliate `a` until the payout `p` is paid, then what was copied to the line `l`, for ever. */
export const frozen = (name: string): string =>
  `case when p.status = 'paid' then l.${name} else a.${name} end`;
/** The name of an affiliate or line, null when there is none. */
export const fullName = (alias: string): Sql =>
  raw(`nullif(trim(concat_ws(' ', ${alias}.name_first, ${alias}.name_last)), '')`);

/** What was paid of a line in one currency, a row of `payout_line_totals`. */
export const paidAmount = (alias: string): string =>
  `case when ${alias}.is_paid then ${alias}.amount - ${alias}.carried_amount else 0 end`;

/** The columns of a line that a payout would have, over a row of `amount`, `currency` and `commission_count`. */
export const undecidedTotal = (
  alias: string,
): Sql => sql`${raw(`${alias}.currency, ${alias}.amount, ${alias}.commission_count`)},
  null::boolean as is_paid, 0 as paid_amount, 0 as carried_amount, 0 as returned_amount, null as payment_reference`;

/** The columns of an affiliate's lines, over `payouts p`, `payout_lines l` and `lineJoins`. */
export const lineRecord = sql`l.affiliate_id,
  case when p.status = 'paid' then ${fullName('l')} else ${fullName('a')} end as name, ${raw(frozen('email'))} as email,
  ${raw(frozen('paypal_email'))} as paypal_email, ${raw(frozen('payout_method'))} as payout_method,
  ${raw(frozen('is_ready_for_payout'))} as is_ready_for_payout, t.is_paid, t.commission_count, t.totals,
  t.payment_reference, t.returned_amount`;

export const lineJoins = sql`join affiliates a on a.account_id = l.account_id and a.id = l.affiliate_id
  cross join lateral (
    select sum(s.commission_count)::int8 as commission_count, bool_and(s.is_paid) as is_paid,
           case when count(*) = count(s.payment_reference) and min(s.payment_reference) = max(s.payment_reference)
             then min(s.payment_reference) end as payment_reference,
           case when count(*) = 1 or sum(s.returned_amount) = 0 then sum(s.returned_amount) end as returned_amount,
           json_agg(s order by s.currency) as totals
    from (select currency, amount, commission_count, is_paid, ${raw(paidAmount('s'))} as paid_amount, carried_amount,
                 returned_amount, payment_reference
          from payout_line_totals s
          where s.account_id = l.account_id and s.payout_id = l.payout_id and s.affiliate_id = l.affiliate_id) s) t`;

const lines = sql`case when p.affiliate_count <= ${MAX_LINES} then (
  select coalesce(json_agg(r), '[]') from (
    select ${lineRecord} from payout_lines l ${lineJoins}
    where l.account_id = p.account_id and l.payout_id = p.id order by l.affiliate_id) r) end`;

/** Which payout a path means. */
export interface WhichPayout {
  /** The condition over `p`. */
  readonly condition: Sql;
  /** Names the statements that hold it. */
  readonly name: 'current' | 'by_id';
}

/** What an id in a path means; `current` is the unpaid payout; null for an ill-formed id. */
export function whichPayout(id: string): WhichPayout | null {
  if (id === 'current') return { condition: sql`p.status = 'unpaid'`, name: 'current' };
  const uuid = uuidOf('po', id);
  return uuid === null ? null : { condition: sql`p.id = ${uuid}`, name: 'by_id' };
}

/** The record as lists and events show it. */
export async function payoutSummary(db: Reader, account: AccountId, id: PayoutId): Promise<string> {
  const { json } = await oneRow<{ json: string }>(
    db,
    sql`select row_to_json(r)::text as json from (
          select ${summary} from payouts p where p.account_id = ${account} and p.id = ${id}) r`,
  );
  return json;
}

/** The whole record of a payout, with its UUID and revision; null when there is none. */
export function payoutRecord(
  db: Reader,
  account: AccountId,
  which: WhichPayout,
): Promise<{ id: PayoutId; revision: number; json: string } | null> {
  return maybeRow(
    db,
    sql`select p.id, p.revision, (select row_to_json(r)::text from (
          select ${summary}, ${lines} as affiliates, p.excluded) r) as json
        from payouts p where p.account_id = ${account} and ${which.condition}`,
    `payout_${which.name}`,
  );
}
