import { readNow } from '../../db/clock.ts';
import type { Reader } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, numberIdOf } from '../../kernel/ids.ts';
import { type Json, toJson } from '../../kernel/json.ts';
import { normalizeCurrency } from '../../kernel/money.ts';
import { formatInstant, parseDay } from '../../kernel/time.ts';
import { dayOf, dayStart } from '../../kernel/zones.ts';
import { zoneOf } from '../../people/accounts/service.ts';
import { ALL_PROGRAMS, KINDS, readSeries, type SeriesSum } from '../ledger/series.ts';
import { refuseInexact } from '../ledger/totals.ts';
import type { CommissionAnalytics, CommissionBucket, Interval } from './record.ts';

const DAY_MS = 86_400_000;
/** The maximum number of intervals. */
const MOST = 400;
/** The default number of intervals. */
const USUAL = { day: 30, week: 12, month: 12 } as const;
/** Payments belong to an affiliate and a currency, not to a program. */
const CASH = new Set(['paid', 'returned']);

const refuse = (message: string) => fail('invalid_query', message);

export interface SeriesQuery {
  readonly interval?: Interval;
  readonly from?: string;
  readonly to?: string;
  readonly currency?: string;
  readonly program_id?: string;
}

/**
 * What was earned, refunded, voided, adjusted, paid and returned, by day, week or month in the account's time zone.
 * Throws `invalid_query`, `amount_too_large`.
 */
export async function getCommissionAnalytics(
  db: Reader,
  account: AccountId,
  query: SeriesQuery,
): Promise<Json<CommissionAnalytics>> {
  const { interval = 'month' } = query;
  const currency = query.currency === undefined ? null : normalizeCurrency(query.currency);
  if (query.currency !== undefined && currency === null)
    throw refuse('currency must be an ISO 4217 currency code');
  const program = query.program_id === undefined ? null : numberIdOf(query.program_id);
  if (query.program_id !== undefined && program === null)
    throw refuse('program_id must be an id of a program');
  const zone = await zoneOf(db, account);
  const starts = startsOf(interval, query, dayOf(await readNow(db), zone));
  const instants = starts.map((day) => dayStart(day, zone));
  const buckets = instants.slice(0, -1).map((from, index) => ({ from, until: instants[index + 1] ?? from }));
  const sums = await readSeries(db, account, { buckets, currency, programs: [program ?? ALL_PROGRAMS] });
  for (const { amount } of sums) refuseInexact(amount < 0n ? -amount : amount);
  const sumOf = new Map<string, SeriesSum>(
    sums.map((sum) => [`${sum.currency} ${sum.bucket} ${sum.kind}`, sum]),
  );
  const currencies = currency === null ? [...new Set(sums.map((sum) => sum.currency))].sort() : [currency];
  const last = starts.at(-1) ?? 0;
  const analytics: CommissionAnalytics = {
    object: 'commission_analytics',
    interval,
    time_zone: zone,
    from: nameOf(starts[0] ?? 0),
    to: nameOf(last - DAY_MS),
    series: currencies.map((code) => ({
      currency: code,
      buckets: buckets.map(({ from }, index) => {
        const facts = KINDS.flatMap((kind) => {
          const sum = sumOf.get(`${code} ${index} ${kind}`);
          const isUnknown = program !== null && CASH.has(kind);
          return [
            [`${kind}_amount`, isUnknown ? null : Number(sum?.amount ?? 0)],
            [`${kind}_count`, isUnknown ? null : Number(sum?.count ?? 0)],
          ];
        });
        const bucket = {
          starts_at: formatInstant(from),
          day: nameOf(starts[index] ?? 0),
          ...Object.fromEntries(facts),
        };
        return bucket as CommissionBucket;
      }),
    })),
  };
  return toJson(analytics);
}

const nameOf = (day: number) => new Date(day).toISOString().slice(0, 10);

/** The first days of the requested intervals and of the one after them, as UTC midnights. Throws `invalid_query`. */
function startsOf(interval: Interval, { from, to }: SeriesQuery, today: string): number[] {
  const read = (name: string, text: string) => {
    const day = parseDay(text);
    if (day === null) throw refuse(`${name} must be a day YYYY-MM-DD, from 1970 to 2999`);
    return startOf(interval, day);
  };
  const last = read('to', to ?? today);
  const first = from === undefined ? step(interval, last, 1 - USUAL[interval]) : read('from', from);
  if (first > last) throw refuse(`from must not be after to: ${nameOf(first)} is after ${nameOf(last)}`);
  const starts = [first];
  for (let day = first; day <= last; starts.push(day)) {
    if (starts.length > MOST)
      throw refuse(`from and to must be at most ${MOST} intervals apart: use weeks or months`);
    day = step(interval, day, 1);
  }
  return starts;
}

/** The first day of the interval that contains a day. */
function startOf(interval: Interval, day: number): number {
  const date = new Date(day);
  if (interval === 'week') return day - ((date.getUTCDay() + 6) % 7) * DAY_MS;
  return interval === 'month' ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) : day;
}

function step(interval: Interval, day: number, by: number): number {
  const date = new Date(day);
  if (interval === 'month') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + by, 1);
  return day + by * (interval === 'week' ? 7 : 1) * DAY_MS;
}
