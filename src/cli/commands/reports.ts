import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import {
  checkOutput,
  inExports,
  type OutputOptions,
  pipeOut,
  showReceived,
  withOutput,
  writeFiles,
} from '../csv-files.ts';
import { withClient } from '../session.ts';

interface PaidOptions extends OutputOptions {
  readonly year: string;
}

const HELP = `
One row per affiliate and currency: what was paid in payouts completed in that year (UTC), what came back in it, and the
difference. Names and addresses are those of today.

Examples:
  $ payhook reports paid --year 2026
  $ payhook reports paid --year 2026 -o - | head
`;

/** `payhook reports paid`. */
export function addReports(reports: Command, cli: Cli): void {
  withOutput(
    reports
      .command('paid')
      .description('write what was paid in a year to a CSV file')
      .requiredOption('--year <year>', 'such as 2026'),
    'paid-<year>.csv',
  )
    .option('--json', 'print {file, bytes, year}')
    .addHelpText('after', HELP)
    .action((options: PaidOptions) => cli.run(() => paid(cli, options)));
}

async function paid({ terminal, account }: Cli, options: PaidOptions): Promise<undefined> {
  checkOutput(options, terminal);
  const { year, output } = options;
  const written = await withClient({ terminal, account: account() }, async (client) => {
    if (output === '-') {
      await pipeOut((await client.reports.paid({ year })).stream);
      return null;
    }
    return showReceived(terminal, (receive) =>
      writeFiles(options, async (files) => {
        const { name, stream } = await client.reports.paid({ year });
        const file = output ?? inExports(name ?? `paid-${year}.csv`);
        return { file, bytes: await files.write(file, receive(file, stream)) };
      }),
    );
  });
  if (written !== null) terminal.result({ ...written, year: Number(year) }, () => `${written.file}\n`);
}
