import type { Reader, Snapshot } from '../../db/database.ts';
import { type AccountId, numberIdOf } from '../../kernel/ids.ts';
import { type Json, toJson } from '../../kernel/json.ts';
import { zoneOf } from '../../people/accounts/service.ts';
import { missingAffiliate } from '../affiliates/service.ts';
import { type CsvFile, csvOut } from '../files/csv-export.ts';
import { refuseInexact } from '../ledger/totals.ts';
import { type PeriodInput, readPeriod } from './period.ts';
import type { Statement } from './statement-record.ts';
import { linesCopy, readSums } from './statement-store.ts';

/**
 * What an affiliate was owed at the beginning of a period of the account's time zone, what changed it, and what was owed
 * at its end, by currency in minor units. Throws `invalid_query`, `resource_missing`, `amount_too_large`.
 */
export async function getStatement(
  db: Reader,
  account: AccountId,
  affiliateId: string,
  input: PeriodInput,
): Promise<Json<Statement>> {
  const zone = await zoneOf(db, account);
  const { from, to, span } = readPeriod(input, zone);
  const id = numberIdOf(affiliateId);
  const found = id === null ? null : await readSums(db, account, id, span);
  if (id === null || found === null) throw missingAffiliate();
  refuseInexact(found.largest);
  return toJson<Statement>({
    object: 'affiliate_statement',
    affiliate_id: id,
    name: found.name,
    email: found.email,
    from,
    to,
    time_zone: zone,
    currencies: JSON.parse(found.currencies),
  });
}

/** The same as CSV, with every entry between the balances. Throws `invalid_query`, `resource_missing`. */
export async function downloadStatement(
  db: Snapshot,
  account: AccountId,
  affiliateId: string,
  input: PeriodInput,
): Promise<CsvFile> {
  const zone = await zoneOf(db, account);
  const { name, span } = readPeriod(input, zone);
  const id = numberIdOf(affiliateId);
  if (id === null || (await readSums(db, account, id, { from: 0, until: 0 })) === null)
    throw missingAffiliate();
  return {
    stream: csvOut(db, linesCopy({ account, affiliate: id, zone }, span)),
    name: `statement-${id}${name}.csv`,
    headers: {},
  };
}
