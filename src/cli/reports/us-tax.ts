import { type Command, Option } from 'commander';
import type {
  ExportUsTaxReportQuery,
  ListUsTaxReportQuery,
  UsTaxReport,
  UsTaxRow,
} from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { checkOutput, type OutputOptions, saveReceived, withOutput } from '../command/csv-files.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { factLines } from '../terminal/facts.ts';
import { count, decimal } from '../terminal/money.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

interface RowOptions extends ListOptions {
  readonly year?: string;
  readonly reportable?: boolean;
  readonly missing?: string;
  readonly residence?: string;
}

interface ExportOptions extends OutputOptions {
  readonly year?: string;
  readonly format?: ExportUsTaxReportQuery['format'];
}

const HELP = `
Covers a calendar year in the account's time zone: affiliates in the United States who were paid the threshold or more by methods that
you report, and affiliates without a signed form. PayPal reports its payments on Form 1099-K, so they are listed separately. Other
currencies than USD are not converted. This is not tax advice.

Examples:
  $ payhook reports us-tax --year 2026
  $ payhook reports us-tax --json
`;

/** `payhook reports us-tax|us-tax-affiliates|us-tax-export`. */
export function addUsTax(reports: Command, cli: Cli): void {
  reports
    .command('us-tax')
    .description('show the sums of a year for US tax forms')
    .option('--year <year>', 'such as 2026; default this year')
    .option('--json', 'print the record (UsTaxReport)')
    .addHelpText('after', HELP)
    .action(({ year }: { year?: string }) => cli.run(() => show(cli, year)));
  const affiliates = reports
    .command('us-tax-affiliates')
    .description('list the affiliates of a year for US tax forms')
    .option('--year <year>', 'such as 2026; default this year')
    .option('--reportable', 'only affiliates in the export')
    .option('--missing <form>', 'only affiliates without this form: w9 or w8')
    .option('--residence <residence>', 'us, foreign or unknown');
  withPages(affiliates, { nouns: 'affiliates', sort: 'affiliate_id, reportable_amount' })
    .option('--json', 'print the page (a list of UsTaxRow)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ payhook reports us-tax-affiliates --year 2026 --missing w9\n' +
        '  $ payhook reports us-tax-affiliates --year 2026 --reportable --sort=-reportable_amount\n',
    )
    .action((options: RowOptions) => cli.run(() => list(cli, options)));
  withOutput(
    reports
      .command('us-tax-export')
      .description('write a file for a filing service or the IRS for Form 1099-NEC, with full tax ids')
      .option('--year <year>', 'such as 2026; default this year')
      .addOption(
        new Option('--format <format>', 'the file').choices(['filing_service', 'iris', 'tin_matching']),
      ),
    '1099-nec-….csv',
  )
    .option('--json', 'print {file, bytes}')
    .addHelpText(
      'after',
      '\nThe download is recorded in the audit log. It needs an API key or an owner.\n\n' +
        'Examples:\n  $ payhook reports us-tax-export --year 2026\n  $ payhook reports us-tax-export --year 2026 --format iris\n  $ payhook reports us-tax-export --year 2026 --format tin_matching -o tins.txt\n',
    )
    .action((options: ExportOptions) => cli.run(() => save(cli, options)));
}

async function show({ terminal, account }: Cli, year: string | undefined): Promise<undefined> {
  const found = await withClient({ terminal, account }, (client) => client.reports.usTax({ year }));
  terminal.result(found, () => describe(found));
}

const usd = (amount: number) => `${decimal({ amount, currency: 'usd' })} USD`;

function describe(report: UsTaxReport): string {
  const { reportable, threshold_amount, is_threshold_known } = report;
  const remark = is_threshold_known ? '' : ', not yet published when this version was released';
  return factLines([
    ['Year', `${report.year} (${report.time_zone})`],
    ['Threshold', `${usd(threshold_amount)}${remark}`],
    ['To report', `${count(reportable.affiliate_count, 'affiliate')}, ${usd(reportable.amount)}`],
    ['Paid by PayPal', usd(report.processor_amount)],
    ['Withheld', usd(report.withheld_amount)],
    ['Without W-9', count(report.missing_w9_count, 'affiliate')],
    ['Without W-8', count(report.missing_w8_count, 'affiliate')],
    ['Without tax id', `${report.missing_tax_id_count} of those to report`],
    [
      'States',
      report.states
        .map(
          ({ state, affiliate_count, threshold_amount }) =>
            `${state} ${affiliate_count} (from ${usd(threshold_amount)})`,
        )
        .join(', ') || 'none',
    ],
    ['Other currencies', count(report.other_currency_count, 'affiliate')],
    ['Remark', report.remark],
  ]);
}

async function list({ terminal, account }: Cli, options: RowOptions): Promise<undefined> {
  const { year, reportable, missing, residence, ...rest } = options;
  const query = {
    ...queryOf<ListUsTaxReportQuery>(rest),
    year,
    is_reportable: reportable || undefined,
    missing_form: missing as ListUsTaxReportQuery['missing_form'],
    residence: residence as ListUsTaxReportQuery['residence'],
  };
  const page = await withClient({ terminal, account }, (client) => client.reports.usTaxRows(query));
  terminal.result(page, () => describePage(page, 'affiliate', (data) => rowTable(data, terminal), terminal));
}

function rowTable(rows: readonly UsTaxRow[], { paint }: Terminal): string {
  return table(
    [
      { heading: 'ID' },
      { heading: 'NAME' },
      { heading: 'RESIDENCE' },
      { heading: 'FORM' },
      { heading: 'MISSING' },
      { heading: 'TO REPORT', right: true },
      { heading: 'BY PAYPAL', right: true },
      { heading: 'WITHHELD', right: true },
    ],
    rows.map((row) => [
      String(row.affiliate_id),
      printable(row.legal_name ?? row.name ?? row.email),
      row.residence,
      row.form ?? '',
      row.missing_form ?? '',
      decimal({ amount: row.reportable_amount, currency: 'usd' }),
      decimal({ amount: row.processor_amount, currency: 'usd' }),
      decimal({ amount: row.withheld_amount, currency: 'usd' }),
    ]),
    paint.faint,
  );
}

async function save({ terminal, account }: Cli, options: ExportOptions): Promise<undefined> {
  checkOutput(options, terminal);
  const { year, format } = options;
  const written = await withClient({ terminal, account }, (client) =>
    saveReceived(terminal, options, () => client.reports.exportUsTax({ year, format })),
  );
  if (written === null) return;
  terminal.result(written, () => `${written.file}\n`);
}
