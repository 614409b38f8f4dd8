import { Readable } from 'node:stream';
import type { ListQuery, Page } from '../../contract/lists.ts';
import { readNow } from '../../db/clock.ts';
import type { Reader, Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { fromJson, type Json, toJson } from '../../kernel/json.ts';
import type { Vault } from '../../kernel/vault.ts';
import { dayOf } from '../../kernel/zones.ts';
import { getAccount, zoneOf } from '../../people/accounts/service.ts';
import { FIRST_YEAR, federalThreshold, LAST_KNOWN, stateThresholds } from '../../terms/us-thresholds.ts';
import type { CsvFile } from '../files/csv-export.ts';
import { refuseInexact } from '../ledger/totals.ts';
import { openTaxId } from '../tax-profiles/sealed.ts';
import { readPeriod } from './period.ts';
import { US_TAX_FILES, type UsTaxFormat } from './us-tax-files.ts';
import type { UsTaxReport, UsTaxRow } from './us-tax-record.ts';
import { listUsTax, readExported, readUsTaxSums, type UsTaxYear } from './us-tax-store.ts';

const REMARK =
  'A list, not advice: your tax adviser decides who must be reported, on which form, and what is withheld. Corporations are ' +
  'mostly exempt.';

interface WantedYear extends UsTaxYear {
  readonly zone: string;
}

/** A year in the account's time zone; defaults to the current year. Throws `invalid_query`. */
async function readYear(db: Reader, account: AccountId, text: string | undefined): Promise<WantedYear> {
  const zone = await zoneOf(db, account);
  const year = text ?? dayOf(await readNow(db), zone).slice(0, 4);
  const { span } = readPeriod({ year }, zone);
  const number = Number(year);
  const threshold = federalThreshold(number);
  if (threshold === undefined)
    throw fail('invalid_query', `year must be ${FIRST_YEAR}, the first of Form 1099-NEC, or later`);
  const own = fromJson(await getAccount(db, account)).state_thresholds;
  const states = { ...stateThresholds(number), ...own };
  return { account, span, threshold, states, number, zone };
}

/** The sums of a year. Throws `invalid_query`, `amount_too_large`. */
export async function getUsTaxReport(
  db: Reader,
  account: AccountId,
  { year }: { year?: string },
): Promise<Json<UsTaxReport>> {
  const wanted = await readYear(db, account, year);
  const sums = await readUsTaxSums(db, wanted);
  refuseInexact(sums.amount);
  refuseInexact(sums.processor_amount);
  return toJson<UsTaxReport>({
    object: 'us_tax_report',
    year: wanted.number,
    time_zone: wanted.zone,
    threshold_amount: wanted.threshold,
    is_threshold_known: wanted.number <= LAST_KNOWN,
    reportable: { affiliate_count: Number(sums.affiliate_count), amount: Number(sums.amount) },
    processor_amount: Number(sums.processor_amount),
    withheld_amount: Number(sums.withheld_amount),
    missing_w9_count: Number(sums.missing_w9_count),
    missing_w8_count: Number(sums.missing_w8_count),
    missing_tax_id_count: Number(sums.missing_tax_id_count),
    other_currency_count: Number(sums.other_currency_count),
    states: fromJson(sums.states),
    remark: REMARK,
  });
}

/** A page of the affiliates of a year. Throws `invalid_query`, `amount_too_large`. */
export async function listUsTaxReport(
  db: Reader,
  account: AccountId,
  list: ListQuery,
): Promise<Page<UsTaxRow>> {
  const page = await listUsTax(db, await readYear(db, account, list.given.get('year')), list);
  for (const { payments } of fromJson(page.json).data) {
    for (const { paid_amount, returned_amount } of payments)
      refuseInexact(BigInt(Math.max(paid_amount, returned_amount)));
  }
  return page;
}

/**
 * The affiliates of a year with whole tax ids, as a file for a filing service or for the IRS. Throws `invalid_query`.
 */
export async function exportUsTaxReport(
  tx: Tx,
  { account, vault }: { account: AccountId; vault: Vault },
  { year, format = 'filing_service' }: { year?: string; format?: UsTaxFormat },
): Promise<CsvFile> {
  const wanted = await readYear(tx, account, year);
  const { name, select, lines, contentType } = US_TAX_FILES[format];
  const payer = fromJson(await getAccount(tx, account)).tax_profile;
  const found = (await readExported(tx, wanted, select)).map((each) => {
    const type = each.tax_id_type?.startsWith('us') ? each.tax_id_type : null;
    return { ...each, tin: type && openTaxId({ account, vault }, each), tinType: type };
  });
  const made = lines(found, { year: wanted.number, payer });
  return {
    stream: Readable.from(made),
    name: `${name}-${wanted.number}.${contentType ? 'txt' : 'csv'}`,
    ...(contentType ? { contentType } : {}),
    headers: {},
  };
}
