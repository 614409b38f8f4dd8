import { buffer } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { ListPayoutResultsQuery, PayoutResult } from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { UsageError } from '../command/errors.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { openSource } from '../command/source-file.ts';
import { findPayout, REFERENCE_HELP } from '../finders/payout.ts';
import { table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shortTime } from '../terminal/time.ts';
import { describeProposal, IGNORE_COLUMN, takeResult } from './results.ts';

interface ResultsOptions extends ListOptions {
  readonly ignoreColumn?: readonly string[];
}

const HELP = `
The file is a camt.053, camt.054 or pain.002 of a bank, a NACHA file with returns and corrections, the Activity report or batch report
of PayPal, the transaction list or statement of Wise, verifications of payees as JSON, or your own list. The command prints its results
line by line and changes no payout; payouts complete --from takes the same file. An unclear entry has no outcome and is listed with its
position in the file and the reason. A verification (pain.002 or JSON) shows whose names do not match, and a correction which fields of a
destination change. Without a file, the command lists the files read before.

Examples:
  $ payhook payouts results 1 camt.xml
  $ payhook payouts results 1 paypal.csv --json
  $ payhook payouts results 1 verification.xml
  $ payhook payouts results 1 returns.ach
  $ payhook payouts results 1 list.csv --ignore-column "internal note"
  $ payhook payouts results 1
`;

/** `payhook payouts results`. */
export function addResults(payouts: Command, cli: Cli): void {
  const command = payouts
    .command('results')
    .description('show the payment results in a file of a bank or provider')
    .argument('<payout>', REFERENCE_HELP)
    .argument('[file]', 'the file; - is standard input')
    .option(...IGNORE_COLUMN);
  withPages(command, { nouns: 'files', sort: 'id' })
    .option('--json', 'print the record (PayoutResultProposal), or the page (a list of PayoutResult)')
    .addHelpText('after', HELP)
    .action((reference: string, path: string | undefined, options: ResultsOptions) =>
      cli.run(() =>
        path === undefined ? list(cli, reference, options) : read(cli, reference, path, options),
      ),
    );
}

async function read(cli: Cli, reference: string, path: string, options: ResultsOptions): Promise<undefined> {
  const { terminal } = cli;
  const { ignoreColumn: ignored = [], sort, page, perPage } = options;
  if ((sort ?? page ?? perPage) !== undefined)
    throw new UsageError('--sort, --page and --per-page apply to the list of files: use them without a file');
  const bytes = await buffer(openSource(path).open());
  const proposal = await withClient(cli, async (client) =>
    takeResult(client, await findPayout(client, reference), { bytes, ignored }),
  );
  terminal.result(proposal, () => `${describeProposal(path, proposal, terminal)}\n`);
}

async function list(
  cli: Cli,
  reference: string,
  { ignoreColumn, ...options }: ResultsOptions,
): Promise<undefined> {
  const { terminal } = cli;
  if (ignoreColumn !== undefined) throw new UsageError('--ignore-column needs a file');
  const page = await withClient(cli, async (client) => {
    const { id } = await findPayout(client, reference);
    return client.payouts.results(id, queryOf<ListPayoutResultsQuery>(options));
  });
  terminal.result(page, () => describePage(page, 'file', (data) => resultTable(data, terminal), terminal));
}

function resultTable(results: readonly PayoutResult[], { paint }: Terminal): string {
  const columns = [
    { heading: 'READ (UTC)' },
    { heading: 'KIND' },
    { heading: 'PAID', right: true },
    { heading: 'REJECTED', right: true },
    { heading: 'RETURNED', right: true },
    { heading: 'PENDING', right: true },
    { heading: 'PROBLEMS', right: true },
    { heading: 'DIGEST' },
  ];
  const rows = results.map(({ created_at, kind, counts, digest }) => [
    shortTime(created_at),
    kind,
    String(counts.paid),
    String(counts.rejected),
    String(counts.returned),
    String(counts.pending),
    String(counts.problems),
    digest?.slice(0, 12) ?? '-',
  ]);
  return table(columns, rows, paint.faint);
}
