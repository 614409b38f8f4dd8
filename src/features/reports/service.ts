import type { Snapshot } from '../../db/connect.ts';
import { fail } from '../../kernel/errors.ts';
import { parseDay } from '../../kernel/time.ts';
import { type CsvFile, csvOut } from '../csv-export.ts';
import { paidCopy } from './store.ts';

/**
 * What an account paid its affiliates in a year (`YYYY`, UTC), net of what came back, for the tax adviser. Cash basis:
 * money counts in the year in which it moved, so that what was reported of a year stays right. Throws `invalid_query`.
 */
export async function downloadPaidReport(db: Snapshot, account: string, year: string): Promise<CsvFile> {
  if (parseDay(`${year}-01-01`) === null) {
    throw fail('invalid_query', 'year must be four digits such as 2026, from 1970 to 2999');
  }
  return { stream: csvOut(db, paidCopy(account, Number(year))), name: `paid-${year}.csv`, headers: {} };
}
