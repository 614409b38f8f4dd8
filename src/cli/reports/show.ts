import { type Command, Option } from 'commander';
import type { GetReportSummaryQuery, ReportSummary } from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { checkOutput, type OutputOptions, saveReceived, withOutput } from '../command/csv-files.ts';
import { withClient } from '../command/session.ts';
import { count, decimal } from '../terminal/money.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

interface ShowOptions extends OutputOptions {
  readonly period?: string;
  readonly from?: string;
  readonly to?: string;
  readonly by?: string;
  readonly country?: string;
  readonly currency?: string;
  readonly page?: string;
  readonly perPage?: string;
  readonly csv?: boolean;
  readonly pdf?: boolean;
}

const HELP = `
The period is a month (2026-07), a quarter (2026-Q3), a year (2026), this_month, last_month, this_quarter, last_quarter, this_year,
last_year, or the days from --from to --to (inclusive), in the account's time zone. Without one it is the current month. In each row,
OPENING + EARNED + ADJUSTED - REFUNDED - VOIDED - PAID + RETURNED = CLOSING. --csv and --pdf write a file with all rows; a PDF has at
most 1,000.

Examples:
  $ payhook reports show --period 2026-Q3 --by currency
  $ payhook reports show --period last_month --by affiliate --csv
  $ payhook reports show --period 2026-Q3 --by affiliate --country none --currency usd
  $ payhook reports show --from 2026-07-10 --to 2026-07-20 --by method --pdf
`;

/** `payhook reports show`. */
export function addShow(reports: Command, cli: Cli): void {
  withOutput(
    reports
      .command('show')
      .description('show what was earned, refunded, paid, returned and owed in a period')
      .option('--period <period>', 'such as 2026-Q3, 2026-07, 2026 or last_month; default this_month')
      .option('--from <day>', 'the first day, such as 2026-07-01')
      .option('--to <day>', 'the last day')
      .option('--by <group>', 'currency (default), method, program, country or affiliate')
      .option(
        '--country <code>',
        'by affiliate, only those of a country such as DE; none: whose country is not known',
      )
      .option('--currency <currency>', 'by affiliate, only rows in this currency')
      .option('--page <number>', 'the page')
      .option('--per-page <number>', 'rows per page, at most 1000')
      .addOption(new Option('--csv', 'write all rows to a CSV file').conflicts('pdf'))
      .option('--pdf', 'write a PDF document'),
    'report-….csv or .pdf',
  )
    .option('--json', 'print the record (ReportSummary), with a file {file, bytes}')
    .addHelpText('after', HELP)
    .action((options: ShowOptions) => cli.run(() => show(cli, options)));
}

async function show({ terminal, account }: Cli, options: ShowOptions): Promise<undefined> {
  const { period, from, to, country, currency, page, perPage: per_page } = options;
  const query = { period, from, to, country, currency, by: options.by as GetReportSummaryQuery['by'] };
  const isFile = options.csv === true || options.pdf === true || options.output !== undefined;
  if (isFile) checkOutput(options, terminal);
  await withClient({ terminal, account }, async (client) => {
    if (!isFile) {
      const found = await client.reports.summary({ ...query, page, per_page } as GetReportSummaryQuery);
      terminal.result(found, () => describe(found, terminal));
      return;
    }
    const format = options.pdf ? 'pdf' : 'csv';
    const written = await saveReceived(terminal, options, () =>
      client.reports.summaryFile({ ...query, format }),
    );
    if (written !== null) terminal.result(written, () => `${written.file}\n`);
  });
}

const FIGURES = [
  ['OPENING', 'opening_amount'],
  ['EARNED', 'earned_amount'],
  ['ADJUSTED', 'adjusted_amount'],
  ['REFUNDED', 'refunded_amount'],
  ['VOIDED', 'voided_amount'],
  ['PAID', 'paid_amount'],
  ['RETURNED', 'returned_amount'],
  ['CLOSING', 'closing_amount'],
] as const;

type Row = ReportSummary['rows'][number];

function describe(report: ReportSummary, { paint }: Terminal): string {
  const { by, from, to, time_zone: zone, rows, totals, row_count: all, page, per_page: size } = report;
  const head = `From ${from ?? 'the beginning'} to ${to ?? 'now'}, time zone ${zone}\n`;
  if (all === 0) return `${head}Nothing was earned, paid or owed.\n`;
  const pages = Math.ceil(all / size);
  if (rows.length === 0)
    return `${head}Page ${page} is empty: ${count(all, 'row')}, ${count(pages, 'page')}\n`;
  const figures = FIGURES.filter(([, name]) => rows.some((row) => row[name] !== null));
  const cells = (row: Omit<Row, 'key' | 'name'>) =>
    figures.map(([, name]) => {
      const amount = row[name];
      return amount === null ? '' : decimal({ amount, currency: row.currency });
    });
  const isByCurrency = by === 'currency';
  const lines = rows.map((row) => [
    ...(isByCurrency ? [] : [labelOf(row)]),
    ...cells(row),
    row.currency.toUpperCase(),
  ]);
  // the totals of all pages, in the currencies of this one
  const sums = totals
    .filter((total) => !isByCurrency && rows.some(({ currency }) => currency === total.currency))
    .map((total) => ['total', ...cells(total), total.currency.toUpperCase()]);
  const columns = [
    ...(isByCurrency ? [] : [{ heading: by.toUpperCase() }]),
    ...figures.map(([heading]) => ({ heading, right: true })),
    { heading: 'CURRENCY' },
  ];
  const place = pages > 1 ? paint.faint(`${count(all, 'row')}, page ${page} of ${pages}\n`) : '';
  return `${head}\n${table(columns, [...lines, ...sums], paint.faint)}${place}`;
}

const labelOf = ({ key, name }: Row) => printable(name === null ? (key ?? 'none') : `${name} (${key})`);
