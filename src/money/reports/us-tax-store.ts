import sql, { raw, type Sql } from 'sql-template-tag';
import {
  type Filter,
  type ListDefinition,
  type ListQuery,
  listPage,
  oneOf,
  type Page,
} from '../../contract/lists.ts';
import { oneRow, type Reader, rows } from '../../db/database.ts';
import type { AccountId, TaxProfileId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { Span } from '../../kernel/time.ts';
import { US_STATES } from '../../terms/us-thresholds.ts';
import { movedBy } from '../ledger/paid-by-method.ts';
import { isLapsedIn, residenceIn, VALID_UNTIL } from '../ledger/tax-forms.ts';
import { MISSING_FORMS, RESIDENCES, rowRecord, type UsTaxReport, type UsTaxRow } from './us-tax-record.ts';

/** A year of an account, and the threshold for a form, in cents. */
export interface UsTaxYear {
  readonly account: AccountId;
  readonly number: number;
  readonly span: Span;
  readonly threshold: number;
  /** The thresholds of states in cents, where they differ; null = nothing is reported there. */
  readonly states: Readonly<Record<string, number | null>>;
}

/** The CTEs up to `us_tax`: a row for each affiliate with payments or returns in the year. */
function usTaxRows(year: UsTaxYear): Sql {
  const usdBy = (condition: string, sum = 'paid - returned') =>
    raw(`coalesce(sum(${sum}) filter (where currency = 'usd' and method ${condition} 'paypal'), 0)::int8`);
  const states = JSON.stringify(year.states);
  return sql`moved as materialized (${movedBy(year.account, year.span)}),
    summed as (
      select affiliate_id, ${usdBy('<>')} as reportable_amount, ${usdBy('=')} as processor_amount,
             ${usdBy('<>', 'withheld')} as withheld_amount,
             bool_or(currency <> 'usd') as has_others,
             json_agg(json_build_object('method', method, 'currency', currency, 'paid_amount', paid,
               'returned_amount', returned, 'net_amount', paid - returned) order by currency, method) as payments
      from moved group by affiliate_id),
    known as (
      select s.*, nullif(trim(concat_ws(' ', a.name_first, a.name_last)), '') as name, a.email, x.id as profile_id,
             x.legal_name, x.legal_type, x.address, x.form, ${raw(VALID_UNTIL)} as form_valid_until, is_lapsed,
             x.tax_id_type, x.number, x.ending, coalesce(x.country, a.country) as country,
             ${residenceIn(year.number)} as residence,
             s.reportable_amount >= ${year.threshold}::int8 as is_above_threshold
      from summed s
      join affiliates a on a.account_id = ${year.account} and a.id = s.affiliate_id
      left join affiliate_tax_profiles x on x.account_id = a.account_id and x.affiliate_id = a.id
      cross join lateral (select ${isLapsedIn(year.number)} as is_lapsed) l),
    us_tax as materialized (
      select *, case when residence = 'us' and form is distinct from 'w9' then 'w9'
                     when residence = 'unknown' and is_above_threshold then 'w9'
                     when residence = 'foreign' and (form like 'w8%' and not is_lapsed) is not true then 'w8' end as missing_form,
             residence = 'us' and is_above_threshold or withheld_amount > 0 as is_reportable,
             coalesce(reportable_amount > 0 and reportable_amount >= state_threshold_amount, false) as is_above_state_threshold
      from known
      cross join lateral (
        select nullif(upper(trim(address ->> 'region')), '') as region) r
      cross join lateral (
        select case when residence = 'us' and country = 'US' and region = any (${US_STATES}::text[]) then region end as state) p
      cross join lateral (
        select case when ${states}::jsonb ? state then (${states}::jsonb ->> state)::int8
                    when state is not null then ${year.threshold}::int8 end as state_threshold_amount) h)`;
}

/** The year does not filter rows: a row sums what moved in it. */
const year: Filter = {
  rule: 'four digits such as 2026',
  schema: { type: 'string', pattern: '^[0-9]{4}$' },
  condition: (value) => (/^\d{4}$/.test(value) ? sql`true` : null),
};

export const usTaxList: ListDefinition = {
  id: 's.affiliate_id',
  defaultSort: 'affiliate_id',
  sort: { affiliate_id: 's.affiliate_id', reportable_amount: 's.reportable_amount' },
  filters: {
    year,
    residence: oneOf(RESIDENCES, (residence) => sql`s.residence = ${residence}`),
    missing_form: oneOf(MISSING_FORMS, (form) => sql`s.missing_form = ${form}`),
    is_above_state_threshold: oneOf(
      ['true', 'false'],
      (is) => sql`s.is_above_state_threshold = ${is}::boolean`,
    ),
    is_reportable: oneOf(['true', 'false'], (is) => sql`s.is_reportable = ${is}::boolean`),
  },
};

/** A page of the rows of a year. */
export function listUsTax(db: Reader, wanted: UsTaxYear, list: ListQuery): Promise<Page<UsTaxRow>> {
  return listPage(db, {
    list,
    name: 'us_tax',
    isPrepared: false,
    ctes: usTaxRows(wanted),
    table: 'us_tax',
    alias: 's',
    where: sql`true`,
    record: rowRecord,
  });
}

/** The sums of a year. */
export interface UsTaxSums {
  readonly affiliate_count: bigint;
  readonly amount: bigint;
  readonly processor_amount: bigint;
  readonly withheld_amount: bigint;
  readonly missing_w9_count: bigint;
  readonly missing_w8_count: bigint;
  readonly missing_tax_id_count: bigint;
  readonly other_currency_count: bigint;
  readonly states: Json<UsTaxReport['states']>;
}

export function readUsTaxSums(db: Reader, wanted: UsTaxYear): Promise<UsTaxSums> {
  return oneRow(
    db,
    sql`with ${usTaxRows(wanted)}
        select count(*) filter (where is_reportable) as affiliate_count,
               coalesce(sum(reportable_amount) filter (where is_reportable), 0)::int8 as amount,
               coalesce(sum(processor_amount), 0)::int8 as processor_amount,
               coalesce(sum(withheld_amount), 0)::int8 as withheld_amount,
               count(*) filter (where missing_form = 'w9') as missing_w9_count,
               count(*) filter (where missing_form = 'w8') as missing_w8_count,
               count(*) filter (where is_reportable and (number is not null and tax_id_type like 'us%') is not true)
                 as missing_tax_id_count,
               count(*) filter (where has_others) as other_currency_count,
               (select coalesce(json_agg(b order by b.state), '[]') from (
                  select state, state_threshold_amount as threshold_amount, count(*) as affiliate_count,
                         sum(reportable_amount)::int8 as amount
                  from us_tax where is_above_state_threshold group by 1, 2) b)::text as states
        from us_tax`,
  );
}

/** An affiliate in an export. */
export interface ExportedAffiliate {
  readonly affiliate_id: bigint;
  readonly name: string | null;
  readonly email: string;
  readonly legal_name: string | null;
  readonly legal_type: string | null;
  readonly country: string | null;
  /** JSON of a PostalAddress. */
  readonly address: string | null;
  readonly tax_id_type: string | null;
  readonly profile_id: TaxProfileId | null;
  readonly number: Buffer | null;
  /** In dollars. */
  readonly amount: string;
  /** In dollars; empty if nothing was withheld. */
  readonly withheld: string;
}

/** Who is in an export: those to report, or everybody in the United States with a tax id of that country. */
export type Exported = 'reportable' | 'with_us_tax_id';

/** The affiliates in an export of a year. */
export function readExported(db: Reader, wanted: UsTaxYear, who: Exported): Promise<ExportedAffiliate[]> {
  const condition =
    who === 'reportable'
      ? sql`is_reportable`
      : sql`residence = 'us' and tax_id_type like 'us%' and number is not null`;
  return rows(
    db,
    sql`with ${usTaxRows(wanted)}
        select affiliate_id, name, email, legal_name, legal_type, country, address::text as address, tax_id_type, profile_id,
               number, decimal_text(reportable_amount, 'usd') as amount,
               case when withheld_amount <> 0 then decimal_text(withheld_amount, 'usd') else '' end as withheld
        from us_tax where ${condition} order by affiliate_id`,
  );
}
