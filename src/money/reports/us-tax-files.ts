import { Type } from 'typebox';
import type { Address } from '../../contract/addresses.ts';
import type { AccountTaxProfile } from '../../people/accounts/record.ts';
import { irsName } from '../../terms/us-names.ts';
import { csvLine } from '../files/csv-line.ts';
import type { Exported, ExportedAffiliate } from './us-tax-store.ts';

/** What the list for US tax forms can be exported as. */
export const US_TAX_FORMATS = ['filing_service', 'iris', 'tin_matching'] as const;
export type UsTaxFormat = (typeof US_TAX_FORMATS)[number];
export const usTaxFormat = Type.Enum([...US_TAX_FORMATS], {
  title: 'UsTaxFormat',
  description:
    'filing_service: CSV with the fields of Form 1099-NEC as Avalara names them; iris: CSV in the columns of the IRS’s template; ' +
    'tin_matching: text for the bulk TIN matching of the IRS, with everybody in the United States who has a tax id there',
});

/** An affiliate with the whole tax id; null = none of the United States, or it was lost. */
interface Row extends ExportedAffiliate {
  readonly tin: string | null;
  readonly tinType: string | null;
}
interface Context {
  readonly year: number;
  readonly payer: AccountTaxProfile | null;
}
interface UsTaxFile {
  /** The file name without the year. */
  readonly name: string;
  readonly select: Exported;
  /** Of a file that is not CSV. */
  readonly contentType?: string;
  lines(rows: readonly Row[], context: Context): string[];
}

const TIN_TYPES: Readonly<Record<string, string>> = { us_ssn: 'SSN', us_itin: 'ITIN', us_ein: 'EIN' };
const addressOf = ({ address }: Row): Partial<Address> => (address === null ? {} : JSON.parse(address));
const nameOf = ({ legal_name, name }: Row): string => legal_name ?? name ?? '';

/** The fields of a Form 1099-NEC as Avalara (formerly Track1099) names them. */
const SERVICE_COLUMNS = [
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

function serviceCells(row: Row, { year }: Context): string[] {
  const { line1 = '', line2, city = '', region, postal_code } = addressOf(row);
  return [
    ...['1099-NEC', String(year), String(row.affiliate_id), nameOf(row)],
    ...[row.tin === null ? '' : (TIN_TYPES[row.tinType ?? ''] ?? ''), row.tin ?? ''],
    ...[line1, line2 ?? '', city, region ?? '', postal_code ?? ''],
    ...[row.country ?? '', row.email, row.amount],
  ];
}

const PERSON_AND_ADDRESS = (who: 'Payer' | 'Recipient') =>
  [
    ...[
      'TIN Type',
      'Taxpayer ID Number',
      'Name Type',
      'Business or Entity Name Line 1',
      'Business or Entity Name Line 2',
    ],
    ...[
      'First Name',
      'Middle Name',
      'Last Name (Surname)',
      'Suffix',
      'Country',
      'Address Line 1',
      'Address Line 2',
    ],
    ...['City/Town', 'State/Province/Territory', 'ZIP/Postal Code'],
  ].map((column) => `${who} ${column}`);
const STATE = (number: 1 | 2) => [
  `State ${number}`,
  ...[
    'State Tax Withheld',
    'State/Payer state number',
    'State income',
    'Local income tax withheld',
    'Special Data Entries',
  ].map((column) => `State ${number} - ${column}`),
];

/**
 * The columns of the IRS's template for Form 1099-NEC in its portal (IRIS), as three public programs that write it have them for tax
 * year 2024, and box 3, which is new in the one for 2025. The template for 2026 is published in January 2027. Checked on 2026-11-27.
 */
const IRIS_COLUMNS = [
  ...[
    'Form Type',
    'Tax Year',
    ...PERSON_AND_ADDRESS('Payer'),
    'Payer Phone Type',
    'Payer Phone',
    'Payer Email Address',
  ],
  ...[...PERSON_AND_ADDRESS('Recipient'), 'Office Code', 'Form Account Number', '2nd TIN Notice'],
  'Box 1 - Nonemployee Compensation',
  'Box 2 - Payer made direct sales totaling $5,000 or more of consumer products to a recipient for resale',
  ...[
    'Box 3 - Excess golden parachute payments',
    'Box 4 - Federal income tax withheld',
    'Combined Federal/State Filing',
  ],
  ...[...STATE(1), ...STATE(2)],
];

/** Name type, names and their blanks: a business (B) has a line, an individual (I) a first and a last name. */
function irisNames(name: string, isBusiness: boolean): Record<string, string> {
  if (isBusiness) return { 'Name Type': 'B', 'Business or Entity Name Line 1': name };
  const words = name.split(/\s+/);
  const last = words.pop() ?? '';
  return { 'Name Type': 'I', 'First Name': words.join(' '), 'Last Name (Surname)': last };
}

function irisAddress(
  { line1 = '', line2, city = '', region, postal_code }: Partial<Address>,
  country: string,
) {
  return {
    ...{ Country: country, 'Address Line 1': line1, 'Address Line 2': line2 ?? '', 'City/Town': city },
    ...{
      'State/Province/Territory': region ?? '',
      'ZIP/Postal Code': (postal_code ?? '').replaceAll('-', ''),
    },
  };
}

const called = (who: string, cells: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(cells).map(([column, cell]) => [`${who} ${column}`, cell]));

function irisCells(row: Row, { year, payer }: Context): string[] {
  const ein = (payer?.tax_number ?? '').replace(/\D/g, '');
  const cells: Readonly<Record<string, string>> = {
    ...{ 'Form Type': '1099-NEC', 'Tax Year': String(year) },
    ...(payer &&
      called('Payer', {
        ...(ein.length === 9 ? { 'TIN Type': 'EIN', 'Taxpayer ID Number': ein } : {}),
        ...irisNames(payer.legal_name, true),
        ...irisAddress(payer.address, payer.country),
      })),
    ...called('Recipient', {
      ...(row.tin === null
        ? {}
        : { 'TIN Type': row.tinType === 'us_ein' ? 'EIN' : 'SSN', 'Taxpayer ID Number': row.tin }),
      ...irisNames(nameOf(row), row.legal_type === 'business'),
      ...irisAddress(addressOf(row), row.country ?? ''),
    }),
    ...{ 'Form Account Number': String(row.affiliate_id), 'Box 1 - Nonemployee Compensation': row.amount },
    'Box 4 - Federal income tax withheld': row.withheld,
  };
  return IRIS_COLUMNS.map((column) => cells[column] ?? '');
}

/**
 * A line of the bulk TIN matching of the IRS: type (1 EIN, 2 SSN or ITIN), number, name, and the affiliate as the account number
 * (IRS Publication 2108-A, as w9manager.com and tincomply.com describe it; 1099fire.com swaps 1 and 2). Checked on 2026-11-27.
 */
const tinLine = (row: Row): string =>
  `${[row.tinType === 'us_ein' ? '1' : '2', row.tin, irsName(nameOf(row)), row.affiliate_id].join(';')}\r\n`;

const csv =
  (columns: readonly string[], cellsOf: (row: Row, context: Context) => string[]): UsTaxFile['lines'] =>
  (rows, context) =>
    [columns, ...rows.map((row) => cellsOf(row, context))].map(csvLine);

/** The fields, with the one of box 4 only if something was withheld: a file of a payer who withholds nothing is as it always was. */
const serviceLines: UsTaxFile['lines'] = (rows, context) => {
  const withholds = rows.some(({ withheld }) => withheld !== '');
  const columns = withholds ? [...SERVICE_COLUMNS, 'federal_income_tax_withheld'] : SERVICE_COLUMNS;
  const cellsOf = (row: Row) => [...serviceCells(row, context), ...(withholds ? [row.withheld] : [])];
  return csv(columns, cellsOf)(rows, context);
};

/** The files, by format. */
export const US_TAX_FILES: Readonly<Record<UsTaxFormat, UsTaxFile>> = {
  filing_service: { name: '1099-nec', select: 'reportable', lines: serviceLines },
  iris: { name: '1099-nec-iris', select: 'reportable', lines: csv(IRIS_COLUMNS, irisCells) },
  tin_matching: {
    ...{ name: 'tin-matching', select: 'with_us_tax_id', contentType: 'text/plain; charset=utf-8' },
    lines: (rows) => rows.filter(({ tin }) => tin !== null).map(tinLine),
  },
};
