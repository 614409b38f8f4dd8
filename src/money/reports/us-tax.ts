import { Readable } from 'node:stream';
import type { Address } from '../../contract/addresses.ts';
import type { ListQuery, Page } from '../../contract/lists.ts';
import { readNow } from '../../db/clock.ts';
import type { Reader, Tx } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { fromJson, type Json, toJson } from '../../kernel/json.ts';
import type { AccountVault, Vault } from '../../kernel/vault.ts';
import { dayOf } from '../../kernel/zones.ts';
import { zoneOf } from '../../people/accounts/service.ts';
import { FIRST_YEAR, federalThreshold, LAST_KNOWN } from '../../terms/us-thresholds.ts';
import type { CsvFile } from '../files/csv-export.ts';
import { csvLine } from '../files/csv-line.ts';
import { refuseInexact } from '../ledger/totals.ts';
import { openTaxId } from '../tax-profiles/sealed.ts';
import { readPeriod } from './period.ts';
import type { UsTaxReport, UsTaxRow } from './us-tax-record.ts';
import {
  listUsTax,
  type ReportableAffiliate,
  readReportable,
  readUsTaxSums,
  type UsTaxYear,
} from './us-tax-store.ts';

const REMARK =
  'A list, not advice: your tax adviser decides who must be reported, on which form, and what is withheld. Corporations are ' +
  'mostly exempt. Backup withholding is not computed.';

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
  return { account, span, threshold, number, zone };
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
    missing_w9_count: Number(sums.missing_w9_count),
    missing_w8_count: Number(sums.missing_w8_count),
    missing_tax_id_count: Number(sums.missing_tax_id_count),
    other_currency_count: Number(sums.other_currency_count),
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

/** The columns of the export: the fields of a Form 1099-NEC as Avalara (formerly Track1099) names them. */
const COLUMNS = [
  ...[
    'type',
    'tax_year',
    'reference_id',
    'recipient_name',
    'tin_type',
    'recipient_tin',
    'address',
    'address2',
    'city',
  ],
  ...['state', 'zip', 'country_code', 'email', 'nonemployee_compensation'],
];
const TIN_TYPES: Readonly<Record<string, string>> = { us_ssn: 'SSN', us_itin: 'ITIN', us_ein: 'EIN' };

/**
 * The affiliates who were paid the threshold or more, with whole tax ids, for a filing service. Throws `invalid_query`.
 */
export async function exportUsTaxReport(
  tx: Tx,
  { account, vault }: { account: AccountId; vault: Vault },
  { year }: { year?: string },
): Promise<CsvFile> {
  const wanted = await readYear(tx, account, year);
  const found = await readReportable(tx, wanted);
  const lines = [COLUMNS, ...found.map((each) => cellsOf(each, wanted.number, { account, vault }))].map(
    csvLine,
  );
  return { stream: Readable.from(lines), name: `1099-nec-${wanted.number}.csv`, headers: {} };
}

function cellsOf(found: ReportableAffiliate, year: number, holder: AccountVault): string[] {
  const address: Partial<Address> = found.address === null ? {} : JSON.parse(found.address);
  const tinType = TIN_TYPES[found.tax_id_type ?? ''];
  const tin = tinType ? openTaxId(holder, found) : null;
  return [
    ...['1099-NEC', String(year), String(found.affiliate_id), found.legal_name ?? found.name ?? ''],
    ...[tin === null ? '' : (tinType ?? ''), tin ?? ''],
    ...[
      address.line1 ?? '',
      address.line2 ?? '',
      address.city ?? '',
      address.region ?? '',
      address.postal_code ?? '',
    ],
    ...[found.country ?? '', found.email, found.amount],
  ];
}
