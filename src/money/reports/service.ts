import type { ListQuery, Page } from '../../contract/lists.ts';
import type { Reader, Snapshot } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { fromJson } from '../../kernel/json.ts';
import { zoneOf } from '../../people/accounts/service.ts';
import { type CsvFile, csvOut } from '../files/csv-export.ts';
import { refuseInexact } from '../ledger/totals.ts';
import { type PeriodInput, readPeriod } from './period.ts';
import type { PaidRow } from './record.ts';
import { listPaid, paidCopy } from './store.ts';

/**
 * What an account paid its affiliates in a period of its time zone, net of returns, for a tax adviser. Cash basis: money
 * counts when it moved, so the report of a past year does not change. Throws `invalid_query`.
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
