import type { Command } from 'commander';
import type { Client, ListReportEntriesQuery, ReportEntry } from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { AFFILIATE_HELP, findAffiliate } from '../finders/affiliate.ts';
import { findProgram } from '../finders/program.ts';
import { decimal } from '../terminal/money.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shortTime } from '../terminal/time.ts';

interface EntryOptions extends ListOptions {
  readonly from?: string;
  readonly to?: string;
  readonly kind?: string;
  readonly currency?: string;
  readonly affiliate?: string;
  readonly country?: string;
  readonly program?: string;
  readonly method?: string;
}

const HELP = `
The amounts of payhook reports show are sums of these entries. AMOUNT is the change of what is owed: below zero for refunds, voids and
payments. Days are in the account's time zone, both included; a missing one is open.

Examples:
  $ payhook reports entries --from 2026-07-01 --to 2026-09-30 --kind paid --method wise --currency usd
  $ payhook reports entries --to 2026-09-30 --affiliate 17
`;

/** `payhook reports entries`. */
export function addEntries(reports: Command, cli: Cli): void {
  const entries = reports
    .command('entries')
    .description('list the entries that the amounts of a report are sums of')
    .option('--from <day>', 'the first day, such as 2026-07-01')
    .option('--to <day>', 'the last day')
    .option('--kind <kind>', 'earned, adjusted, refunded, voided, paid or returned')
    .option('--currency <currency>', 'only entries in this currency')
    .option('--affiliate <affiliate>', AFFILIATE_HELP)
    .option('--country <code>', 'only affiliates of a country such as DE; none: whose country is not known')
    .option('--program <program>', 'its id or its name; none for entries in no program')
    .option('--method <method>', 'only payments and returns by this method; none: entries without one');
  withPages(entries, { nouns: 'entries', sort: 'occurred_at' })
    .option('--json', 'print the page (a list of ReportEntry)')
    .addHelpText('after', HELP)
    .action((options: EntryOptions) => cli.run(() => list(cli, options)));
}

async function list({ terminal, account }: Cli, options: EntryOptions): Promise<undefined> {
  const page = await withClient({ terminal, account }, async (client) =>
    client.reports.entries(await read(client, options)),
  );
  terminal.result(page, () =>
    describePage(page, 'entry', (data) => rowTable(data, terminal), terminal, 'entries'),
  );
}

/** The options as a query. Throws CommandError if the affiliate or program does not exist. */
async function read(
  client: Client,
  { affiliate, program, method, ...rest }: EntryOptions,
): Promise<ListReportEntriesQuery> {
  return {
    ...queryOf<ListReportEntriesQuery>(rest),
    affiliate_id: affiliate === undefined ? undefined : await findAffiliate(client, affiliate),
    program_id: program === undefined || program === 'none' ? undefined : await findProgram(client, program),
    has_program: program === 'none' ? false : undefined,
    payout_method: method as ListReportEntriesQuery['payout_method'],
  };
}

function rowTable(rows: readonly ReportEntry[], { paint }: Terminal): string {
  return table(
    [
      { heading: 'TIME' },
      { heading: 'KIND' },
      { heading: 'AFFILIATE', right: true },
      { heading: 'METHOD' },
      { heading: 'AMOUNT', right: true },
      { heading: 'CURRENCY' },
      { heading: 'WHAT' },
      { heading: 'REFERENCE' },
    ],
    rows.map(({ occurred_at, kind, affiliate_id, paid_through, amount, currency, what, reference }) => [
      shortTime(occurred_at),
      kind,
      String(affiliate_id),
      paid_through ?? '',
      decimal({ amount, currency }),
      currency.toUpperCase(),
      printable(what),
      printable(reference ?? ''),
    ]),
    paint.faint,
  );
}
