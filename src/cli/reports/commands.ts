import type { Command } from 'commander';
import type { Cli } from '../command/cli.ts';
import { checkOutput, type OutputOptions, saveReceived, withOutput } from '../command/csv-files.ts';
import { withClient } from '../command/session.ts';
import { addEntries } from './entries.ts';
import { addShow } from './show.ts';
import { addUsTax } from './us-tax.ts';

interface PaidOptions extends OutputOptions {
  readonly year?: string;
  readonly from?: string;
  readonly to?: string;
}

const HELP = `
One row per affiliate, currency and payment method: the amounts paid and returned in the period, and the difference. The period is a
year, or the days from --from to --to (inclusive), in the account's time zone. Without one of them, that end is open. Names, addresses
and countries are the current ones.

Examples:
  $ payhook reports paid --year 2026
  $ payhook reports paid --from 2026-04-01 --to 2026-06-30
  $ payhook reports paid --year 2026 -o - | head
`;

/** `payhook reports show|entries|paid|us-tax|us-tax-affiliates|us-tax-export`. */
export function addReports(reports: Command, cli: Cli): void {
  addShow(reports, cli);
  addEntries(reports, cli);
  withOutput(
    reports
      .command('paid')
      .description('write the payments of a period to a CSV file')
      .option('--year <year>', 'such as 2026')
      .option('--from <day>', 'the first day, such as 2026-04-01')
      .option('--to <day>', 'the last day'),
    'paid-….csv',
  )
    .option('--json', 'print {file, bytes, year, from, to}')
    .addHelpText('after', HELP)
    .action((options: PaidOptions) => cli.run(() => paid(cli, options)));
  addUsTax(reports, cli);
}

async function paid({ terminal, account }: Cli, options: PaidOptions): Promise<undefined> {
  checkOutput(options, terminal);
  const { year, from, to } = options;
  const query = { year, from, to };
  const written = await withClient({ terminal, account }, (client) =>
    saveReceived(terminal, options, () => client.reports.paid(query)),
  );
  if (written === null) return;
  const period = { year: year === undefined ? null : Number(year), from: from ?? null, to: to ?? null };
  terminal.result({ ...written, ...period }, () => `${written.file}\n`);
}
