import type { ListQuery, Page } from '../../contract/lists.ts';
import type { Reader, Snapshot } from '../../db/connect.ts';
import { fail } from '../../kernel/errors.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { fromJson } from '../../kernel/json.ts';
import { parseDay, parseDayIn, type Span } from '../../kernel/time.ts';
import { zoneOf } from '../../people/accounts/service.ts';
import { type CsvFile, csvOut } from '../files/csv-export.ts';
import { refuseInexact } from '../ledger/totals.ts';
import type { PaidRow, PeriodInput } from './record.ts';
import { listPaid, paidCopy } from './store.ts';

/** A period as requested, and the instants it spans. */
interface Period {
  /** The year, if the period is a whole one; else null. */
  readonly year: number | null;
  /** The end of a file's name. */
  readonly name: string;
  readonly span: Span;
}

const [FIRST_DAY, LAST_DAY] = ['1970-01-01', '2999-12-31'];

const refuse = (message: string) => fail('invalid_query', message);

/** Reads a period in days of the zone. Throws `invalid_query`. */
function readPeriod({ year, from, to }: PeriodInput, zone: string): Period {
  if (year !== undefined) {
    if (from !== undefined || to !== undefined) throw refuse('give a year, or from and to, not both');
    if (parseDay(`${year}-01-01`) === null) {
      throw refuse('year must be four digits such as 2026, from 1970 to 2999');
    }
    return { year: Number(year), name: `-${year}`, span: spanOf(`${year}-01-01`, `${year}-12-31`, zone) };
  }
  for (const [name, day] of Object.entries({ from, to })) {
    if (day !== undefined && parseDay(day) === null) {
      throw refuse(`${name} must be a day YYYY-MM-DD, from 1970 to 2999`);
    }
  }
  if (from !== undefined && to !== undefined && from > to) {
    throw refuse(`from must not be after to: ${from} is after ${to}`);
  }
  const name = `${from === undefined ? '' : `-from-${from}`}${to === undefined ? '' : `-to-${to}`}`;
  return { year: null, name, span: spanOf(from ?? FIRST_DAY, to ?? LAST_DAY, zone) };
}

function spanOf(first: string, last: string, zone: string): Span {
  return { from: parseDayIn(first, zone)?.from ?? 0, until: parseDayIn(last, zone)?.until ?? 0 };
}

/**
 * What an account paid its affiliates in a period of its time zone, net of what came back, for the tax adviser. Cash
 * basis: money counts when it moved, so the report of a past year does not change. Throws `invalid_query`.
 */
export async function downloadPaidReport(
  db: Snapshot,
  account: AccountId,
  input: PeriodInput,
): Promise<CsvFile> {
  const { year, name, span } = readPeriod(input, await zoneOf(db, account));
  return { stream: csvOut(db, paidCopy(account, span, year)), name: `paid${name}.csv`, headers: {} };
}

/** A page of the same rows, in minor units. Throws `invalid_query`, `amount_too_large`. */
export async function listPaidReport(
  db: Reader,
  account: AccountId,
  list: ListQuery,
): Promise<Page<PaidRow>> {
  const { span } = readPeriod(Object.fromEntries(list.given), await zoneOf(db, account));
  const page = await listPaid(db, account, span, list);
  const { data } = fromJson(page.json);
  for (const { paid_amount, returned_amount, net_amount } of data) {
    refuseInexact(BigInt(Math.max(...[paid_amount, returned_amount, net_amount].map(Math.abs))));
  }
  return page;
}
