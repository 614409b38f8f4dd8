import { Readable } from 'node:stream';
import { readNow } from '../../db/clock.ts';
import type { Reader } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { type Json, toJson } from '../../kernel/json.ts';
import { formatDecimal, normalizeCurrency } from '../../kernel/money.ts';
import { dayOf } from '../../kernel/zones.ts';
import { zoneOf } from '../../people/accounts/service.ts';
import type { CsvFile } from '../files/csv-export.ts';
import { csvLine } from '../files/csv-line.ts';
import { refuseInexact } from '../ledger/totals.ts';
import { monthsIn, type NamedPeriodInput, type Period, readNamedPeriod } from './period.ts';
import { FIGURE_NAMES, type Figure, type Grouping, type ReportSummary } from './summary-record.ts';
import {
  type Cut,
  type Figures,
  type Group,
  type Groups,
  type Only,
  readAffiliates,
  readCountries,
  readCurrencies,
  readMethods,
  readPrograms,
} from './summary-store.ts';

export interface SummaryInput extends NamedPeriodInput {
  readonly by?: Grouping;
  /** Only affiliates of a country, or `none`: without one. */
  readonly country?: string;
  /** Only rows in a currency. */
  readonly currency?: string;
}

/** A page of a summary. */
export interface SummaryPage extends SummaryInput {
  readonly page?: string;
  readonly per_page?: string;
}

const DEFAULT_PER_PAGE = 100;
const MOST_PER_PAGE = 1000;
const MOST_PAGES = 1_000_000;

/** The content of a summary. */
export interface Summary extends Groups {
  readonly by: Grouping;
  readonly zone: string;
  readonly period: Period;
  readonly totals: readonly Group[];
}

/** Reads a summary. `db` is a snapshot. Throws `invalid_query`, `amount_too_large`. */
export async function readSummary(
  db: Reader,
  account: AccountId,
  { by = 'currency', ...input }: SummaryInput,
  cut: Cut,
): Promise<Summary> {
  const only = readOnly(input, by);
  const zone = await zoneOf(db, account);
  const period = readNamedPeriod(input, { zone, today: dayOf(await readNow(db), zone) });
  const totals = await readCurrencies(db, account, period.span);
  const found = await groupsOf(db, account, {
    by,
    period,
    totals,
    cut,
    only,
  });
  for (const group of [...totals, ...found.groups])
    for (const name of FIGURE_NAMES) refuseInexact(sizeOf(group[name]));
  return { by, zone, period, totals, ...found };
}

/** Reads the filters of affiliates. Throws `invalid_query`. */
function readOnly({ country, currency }: SummaryInput, by: Grouping): Only {
  for (const [name, value] of Object.entries({ country, currency }))
    if (value !== undefined && by !== 'affiliate')
      throw fail('invalid_query', `${name} is a filter of affiliates: give by=affiliate with it`);
  if (country !== undefined && country !== 'none' && !/^[a-z]{2}$/i.test(country))
    throw fail(
      'invalid_query',
      'country must be a code of two letters such as DE (ISO 3166-1 alpha-2), or none',
    );
  const code = currency === undefined ? null : normalizeCurrency(currency);
  if (currency !== undefined && code === null)
    throw fail('invalid_query', 'currency must be an ISO 4217 currency code');
  return { country: country === 'none' ? country : (country?.toUpperCase() ?? null), currency: code };
}

const sizeOf = (amount: bigint | null): bigint => (amount === null ? 0n : amount < 0n ? -amount : amount);

async function groupsOf(
  db: Reader,
  account: AccountId,
  {
    by,
    period,
    totals,
    cut,
    only,
  }: { by: Grouping; period: Period; totals: readonly Group[]; cut: Cut; only: Only },
): Promise<Groups> {
  const months = { span: period.span, months: monthsIn(period) };
  if (by === 'affiliate') return readAffiliates(db, account, { ...months, ...only }, cut);
  const all = [...(await few())].sort(compare);
  const { offset, limit } = cut;
  return { groups: all.slice(offset, limit === null ? undefined : offset + limit), count: all.length };

  function few(): Promise<readonly Group[]> | readonly Group[] {
    if (by === 'country') return readCountries(db, account, months);
    if (by === 'program') return readPrograms(db, account, period.span);
    return by === 'method' ? readMethods(db, account, period.span) : totals;
  }
}

/** By currency, then the most paid, earned and owed first. */
function compare(a: Group, b: Group): number {
  if (a.currency !== b.currency) return a.currency < b.currency ? -1 : 1;
  for (const name of ['paid', 'earned', 'closing'] as const) {
    const difference = (b[name] ?? 0n) - (a[name] ?? 0n);
    if (difference !== 0n) return difference < 0n ? -1 : 1;
  }
  return (a.key ?? '') < (b.key ?? '') ? -1 : 1;
}

type Amounts = { [Name in Figure as `${Name}_amount`]: number | null };

const amountsOf = (figures: Figures) =>
  Object.fromEntries(
    FIGURE_NAMES.map((name) => [`${name}_amount`, figures[name] === null ? null : Number(figures[name])]),
  ) as Amounts;

/**
 * What was earned, adjusted, refunded, voided, paid and returned in a period of the account's time zone, and what was owed at its
 * start and end. `db` is a snapshot. Throws `invalid_query`, `amount_too_large`.
 */
export async function getSummary(
  db: Reader,
  account: AccountId,
  { page: pageText, per_page: perPageText, ...input }: SummaryPage,
): Promise<Json<ReportSummary>> {
  const page = integerIn('page', pageText ?? '1', MOST_PAGES);
  const perPage = integerIn('per_page', perPageText ?? String(DEFAULT_PER_PAGE), MOST_PER_PAGE);
  const cut = { offset: (page - 1) * perPage, limit: perPage };
  const { by, period, zone, totals, groups, count } = await readSummary(db, account, input, cut);
  return toJson<ReportSummary>({
    object: 'report_summary',
    by,
    from: period.from,
    to: period.to,
    time_zone: zone,
    totals: totals.map((total) => ({ currency: total.currency, ...amountsOf(total) })),
    rows: groups.map((group) => ({
      key: group.key,
      name: group.name,
      currency: group.currency,
      ...amountsOf(group),
    })),
    row_count: count,
    page,
    per_page: perPage,
  });
}

function integerIn(name: string, text: string, most: number): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > most)
    throw fail('invalid_query', `${name} must be an integer from 1 to ${most}`);
  return number;
}

/** All rows of a summary as CSV, with decimal amounts. Throws `invalid_query`, `amount_too_large`. */
export async function downloadSummary(db: Reader, account: AccountId, input: SummaryInput): Promise<CsvFile> {
  const summary = await readSummary(db, account, input, { offset: 0, limit: null });
  const { by, groups } = summary;
  const own = by === 'currency' ? [] : by === 'program' || by === 'affiliate' ? [`${by}_id`, 'name'] : [by];
  const header = [...own, 'currency', ...FIGURE_NAMES.map((name) => `${name}_amount`)];
  return { stream: Readable.from(lines()), name: `${fileName(summary)}.csv`, headers: {} };

  function* lines() {
    yield csvLine(header);
    for (const group of groups) {
      const { key, name, currency } = group;
      const cells = [key ?? '', name ?? ''].slice(0, own.length);
      const amounts = FIGURE_NAMES.map((figure) => decimalOf(group[figure], currency));
      yield csvLine([...cells, currency.toUpperCase(), ...amounts]);
    }
  }
}

const decimalOf = (amount: bigint | null, currency: string) =>
  amount === null ? '' : formatDecimal(amount, currency);

/** The name of a file, without its extension: `report-by-currency-2026-Q3`. */
export const fileName = ({ by, period }: Summary) => `report-by-${by}${period.name}`;
