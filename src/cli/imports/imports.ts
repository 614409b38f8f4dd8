import type { Command } from 'commander';
import { AFFILIATE_FIELDS, COMMISSION_FIELDS, DESTINATION_FIELDS } from '../../client/fields.ts';
import type { Cli } from '../command/cli.ts';
import { collect } from '../command/pairs.ts';
import { importedNames } from '../command/record-fields.ts';
import { type ImportKind, type ImportOptions, runImport } from './run.ts';

const RULES = `




Files exported from other products can be imported as they are: CSV, and workbooks of Excel (.xlsx) or OpenDocument (.ods). The encoding, separator, decimal sign, date order and columns are
guessed, unless --dialect and --map specify them. Guesses are shown first: on a terminal the command asks, --yes accepts them, and
otherwise the import is refused. Ambiguous values about money are never guessed.

--map COLUMN=FIELD maps a column, COLUMN=ignore leaves it out, FIELD:=TEXT sets the same value in every line, and a name alone uses
a mapping saved with --save. --value FIELD:WORD=MEANING defines a word of the file, such as status:gesperrt=inactive or
country:Hellas=GR; =refuse makes its lines bad. Common words in several languages are known. --dialect takes
encoding=windows-1252, separator=semicolon, decimal=comma, dates=dmy (or mdy).

The import is one transaction: if any line is bad, nothing is written, unless --partial is given. Importing the same file again
changes nothing. The exit code is 1 if a line was refused, also with --dry-run and --partial.
`;

const { email: _, ...OTHER_FIELDS } = AFFILIATE_FIELDS;
const {
  external_id: _id,
  affiliate_id: _affiliate,
  affiliate_email: _email,
  affiliate_external_id: _externalId,
  amount: _amount,
  sale_amount: _sale,
  rate_bps: _rate,
  ...OTHERS_OF_COMMISSION
} = COMMISSION_FIELDS;

/** Names with commas between them, in lines of at most 120 characters. */
const lines = (names: readonly string[]): string =>
  names.reduce((text, name) => {
    const length = text.length - text.lastIndexOf('\n');
    return `${text},${length + name.length > 117 ? '\n' : ' '}${name}`;
  });

const AFFILIATES_HELP = `
Creates affiliates, or updates those with the same external_id or, without one, the same e-mail address.
Fields: email, and any of name (instead of name_first and name_last),
${lines(importedNames(OTHER_FIELDS))}.
Destination: ${lines(importedNames(DESTINATION_FIELDS))}.
Tax profile: legal_name, tax_country, address_line1, address_line2, address_postal_code, address_city, address_region, tax_id,
tax_id_type, tax_form, tax_form_signed_on, tax_form_document, self_billing_agreed_on, self_billing_agreed_by,
self_billing_document. Account numbers and tax ids are encrypted before they are stored, and no message repeats them.
${RULES}
Examples:
  $ payhook affiliates import affiliates.csv --dry-run
  $ payhook affiliates import affiliates.csv
  $ payhook affiliates import partners.xlsx --sheet Partners --header-row 7
  $ payhook affiliates import export.csv --map 'Partner=email' --map 'Notes=ignore' --save crm
  $ payhook affiliates import bank-details.csv --dry-run --bad bad.csv
  $ zcat affiliates.csv.gz | payhook affiliates import -
`;

const COMMISSIONS_HELP = `
Fields: external_id (or order_id); one of affiliate_id, affiliate_email, affiliate_external_id; amount as a decimal (31.90), or
sale_amount with rate_bps; and any of ${lines(importedNames(OTHERS_OF_COMMISSION))}. From another product also status (unpaid, pending, paid, rejected), approval, paid_at and
payment_reference: commissions paid there are imported as paid, in past payouts; --paid skip leaves them out.
${RULES}
Examples:
  $ payhook commissions import commissions.csv --dry-run
  $ payhook commissions import referrals.csv --yes --paid skip
  $ payhook commissions import excel.csv --dialect dates=dmy --partial --bad bad.csv
  $ payhook commissions import commissions.csv --json
`;

/** `payhook affiliates import`. */
export function addAffiliateImport(affiliates: Command, cli: Cli): void {
  addImport(affiliates, cli, 'affiliates', AFFILIATES_HELP);
}

/** `payhook commissions import`. */
export function addCommissionImport(commissions: Command, cli: Cli): void {
  addImport(commissions, cli, 'commissions', COMMISSIONS_HELP).option(
    '--paid <what>',
    'lines that were already paid: import (default) or skip',
  );
}

function addImport(parent: Command, cli: Cli, kind: ImportKind, help: string): Command {
  return parent
    .command('import')
    .description(`import ${kind} from a CSV file or a workbook`)
    .argument('<file>', 'the file: CSV, .xlsx or .ods; - is standard input')
    .option('--sheet <name>', 'the sheet of a workbook; default the first visible one that is not empty')
    .option('--header-row <number>', 'the line that names the columns; default: found by its names')
    .option('--map <column=field>', 'the field of a column; may be repeated', collect)
    .option('--value <field:word=meaning>', 'the meaning of a word in a column; may be repeated', collect)
    .option('--ignore-status', 'leave out status and readiness columns without asking')
    .option('--totals <what>', 'lines that look like totals: skip, or import like other lines')
    .option('--dialect <name=value>', 'the format of the file; may be repeated', collect)
    .option('-y, --yes', 'accept guesses and do not ask; required without a terminal')
    .option('--save <name>', 'save the mapping for files with the same header')
    .option('--dry-run', 'check every line and write nothing')
    .option('--partial', 'write the good lines even if others are bad')
    .option('--bad <file>', 'write the bad lines to a file, each with its error')
    .option('--json', 'print the report (ImportReport)')
    .addHelpText('after', help)
    .action((path: string, options: ImportOptions) => cli.run(() => runImport(cli, kind, path, options)));
}
