import { type Command, Option } from 'commander';
import type { AffiliateStatement } from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { checkOutput, type OutputOptions, saveReceived, withOutput } from '../command/csv-files.ts';
import { withClient } from '../command/session.ts';
import { AFFILIATE_HELP, findAffiliate } from '../finders/affiliate.ts';
import { decimal } from '../terminal/money.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

interface StatementOptions extends OutputOptions {
  readonly year?: string;
  readonly from?: string;
  readonly to?: string;
  readonly csv?: boolean;
  readonly pdf?: boolean;
  readonly html?: boolean;
}

const HELP = `
Shows the balance before the period, the amounts earned, adjusted, refunded, voided, paid and returned in it, and the balance after
it. The period is a year, or the days from --from to --to (inclusive), in the account's time zone. Without one of them, that end is open.
--csv, --pdf and --html write a file with every entry. Documents have at most 5,000 entries.

Examples:
  $ payhook affiliates statement 7 --year 2026
  $ payhook affiliates statement ada@example.com --from 2026-04-01 --to 2026-06-30 --csv
  $ payhook affiliates statement 7 --from 2026-01-01 --to 2026-12-31 --pdf
`;

/** `payhook affiliates statement`. */
export function addStatement(affiliates: Command, cli: Cli): void {
  withOutput(
    affiliates
      .command('statement')
      .description('show what an affiliate was owed, earned and paid in a period')
      .argument('<affiliate>', AFFILIATE_HELP)
      .option('--year <year>', 'such as 2026')
      .option('--from <day>', 'the first day, such as 2026-04-01')
      .option('--to <day>', 'the last day')
      .addOption(new Option('--csv', 'write every entry to a CSV file').conflicts(['pdf', 'html']))
      .addOption(new Option('--pdf', 'write a PDF document').conflicts('html'))
      .option('--html', 'write a page to view and print in a browser'),
    'statement-….csv, .pdf or .html',
  )
    .option('--json', 'print the record (AffiliateStatement), with a file {file, bytes}')
    .addHelpText('after', HELP)
    .action((reference: string, options: StatementOptions) => cli.run(() => show(cli, reference, options)));
}

async function show(
  { terminal, account }: Cli,
  reference: string,
  options: StatementOptions,
): Promise<undefined> {
  const { year, from, to } = options;
  const format = options.pdf ? 'pdf' : options.html ? 'html' : 'csv';
  const isFile = format !== 'csv' || options.csv === true || options.output !== undefined;
  if (isFile) checkOutput(options, terminal);
  await withClient({ terminal, account }, async (client) => {
    const id = await findAffiliate(client, reference);
    const query = { year, from, to };
    if (!isFile) {
      const found = await client.reports.statement(id, query);
      terminal.result(found, () => describe(found, terminal));
      return;
    }
    const written = await saveReceived(terminal, options, () =>
      client.reports.statementFile(id, { ...query, format }),
    );
    if (written !== null) terminal.result(written, () => `${written.file}\n`);
  });
}

function describe(statement: AffiliateStatement, { paint }: Terminal): string {
  const { affiliate_id: id, email, from, to, time_zone: zone } = statement;
  const name = printable(statement.name ?? email);
  const head = `${paint.strong(`Statement of ${name}`)}  affiliate ${id}\n`;
  const period = `From ${from ?? 'the beginning'} to ${to ?? 'now'}, time zone ${zone}\n`;
  if (statement.currencies.length === 0) return `${head}${period}Nothing was earned or paid.\n`;
  const rows = statement.currencies.map((each) => {
    const { currency } = each;
    const amounts = [
      ...[each.opening_amount, each.earned_amount, each.adjusted_amount, each.refunded_amount],
      ...[each.voided_amount, each.paid_amount, each.returned_amount, each.closing_amount],
    ];
    return [currency.toUpperCase(), ...amounts.map((amount) => decimal({ amount, currency }))];
  });
  const figures = ['OPENING', 'EARNED', 'ADJUSTED', 'REFUNDED', 'VOIDED', 'PAID', 'RETURNED', 'CLOSING'];
  const columns = [{ heading: 'CURRENCY' }, ...figures.map((heading) => ({ heading, right: true }))];
  return `${head}${period}\n${table(columns, rows, paint.faint)}`;
}
