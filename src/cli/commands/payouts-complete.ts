import { buffer } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { Client, CompletedPayout, Payout } from '../../client/client.ts';
import { type Cli, confirm, requireYes } from '../cli.ts';
import { CommandError, UsageError } from '../errors.ts';
import { count } from '../money.ts';
import { readInteger } from '../numbers.ts';
import { checkComplete, type ListedEntry, mergeLists, readIdList, readPaidFile } from '../paid-list.ts';
import { linesOf } from '../payout-lines.ts';
import { findPayout, REFERENCE_HELP } from '../payout-reference.ts';
import { summarizePayout } from '../payout-view.ts';
import { withClient } from '../session.ts';
import { openSource } from '../source-file.ts';

interface CompleteOptions {
  readonly allPaid?: boolean;
  readonly paid?: string;
  readonly unpaid?: string;
  readonly from?: readonly string[];
  readonly revision?: string;
  readonly yes?: boolean;
}

const HELP = `
Every affiliate of the payout must be named, paid or not: what is not paid is released and owed again, what is paid
never changes. Refused when the payout has changed since it was read; with --revision, since its file was made.
The file of --from begins with the line affiliate_id,is_paid or affiliate_id,is_paid,payment_reference and has a line
for every affiliate; is_paid is true or false. Of several files, who is paid in one is paid, and nobody may be in two.

Examples:
  $ payhook payouts complete current --all-paid
  $ payhook payouts complete 1 --all-paid --unpaid 7       # everybody but affiliate 7
  $ payhook payouts complete 1 --paid 1,2,3 --unpaid 4,5
  $ payhook payouts complete 1 --from paypal.csv --from wise.csv
  $ payhook payouts complete 1 --from paid.csv --revision 3 --yes   # does not ask; needed in scripts
`;

/** `payhook payouts complete`. */
export function addComplete(payouts: Command, cli: Cli): void {
  const collect = (value: string, before: readonly string[] = []) => [...before, value];
  payouts
    .command('complete')
    .description('say who was paid: the payout becomes paid, for ever')
    .argument('<payout>', REFERENCE_HELP)
    .option('--all-paid', 'everybody was paid, but for those in --unpaid')
    .option('--paid <ids>', 'these affiliates were paid')
    .option('--unpaid <ids>', 'these affiliates were not')
    .option(
      '--from <file>',
      'read who was paid from a CSV file; - is standard input; may be repeated',
      collect,
    )
    .option(
      '--revision <number>',
      'only at this revision, which stands in the name of the file that was paid',
    )
    .option('-y, --yes', 'do not ask; needed where there is no terminal')
    .option('--json', 'print the record (CompletedPayout)')
    .addHelpText('after', HELP)
    .action((reference: string, options: CompleteOptions) =>
      cli.run(() => complete(cli, reference, options)),
    );
}

async function complete(cli: Cli, reference: string, options: CompleteOptions): Promise<undefined> {
  const { terminal } = cli;
  requireYes(terminal, options.yes);
  const revision =
    options.revision === undefined
      ? undefined
      : readInteger('--revision', options.revision, { from: 1, to: 999_999_999 });
  const listed = await readListed(options);
  const payout = await withClient({ terminal, account: cli.account() }, async (client) => {
    const found = await findPayout(client, reference);
    checkRevision(found, revision);
    const lines = await linesOf(client, found, terminal);
    const affiliates = new Set(lines.map((line) => line.affiliate_id));
    const entries = options.allPaid ? everybodyBut(listed, affiliates) : listed;
    if (found.status === 'unpaid') {
      checkComplete(entries, affiliates);
      await confirm(terminal, question(found, entries), options.yes);
    }
    return settle(client, found, entries);
  });
  terminal.result(payout, () => summarizePayout(payout, terminal));
}

/** Throws CommandError when an unpaid payout is at another revision than the one whose file was paid. */
function checkRevision({ number, status, revision }: Payout, wanted: number | undefined): void {
  if (wanted === undefined || revision === wanted || status === 'paid') return;
  throw new CommandError(
    `payout ${number} has changed: it is at revision ${revision}, not ${wanted}. Export it again and compare; ` +
      'nothing was changed',
    { code: 'conflict', reason: 'payout_changed' },
  );
}

/** What the options say by themselves, before anything is asked of the server. */
async function readListed({ allPaid, paid, unpaid, from }: CompleteOptions): Promise<ListedEntry[]> {
  const ways = [allPaid === true, paid !== undefined, from !== undefined].filter(Boolean).length;
  if (from !== undefined && (ways > 1 || unpaid !== undefined)) {
    throw new UsageError('--from says it all: it stands alone');
  }
  if (ways > 1) throw new UsageError('give --all-paid or --paid, not both');
  if (ways === 0 && unpaid === undefined) {
    throw new UsageError('say who was paid: --all-paid, --paid with --unpaid, or --from');
  }
  if (from !== undefined) return readLists(from);
  const entries = (option: string, ids: string | undefined, is_paid: boolean) =>
    ids === undefined
      ? []
      : readIdList(option, ids).map((affiliate_id) => ({ affiliate_id, is_paid, where: option }));
  const listed = [...entries('--paid', paid, true), ...entries('--unpaid', unpaid, false)];
  const ids = listed.map(({ affiliate_id }) => affiliate_id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new UsageError(`affiliate ${twice} is named twice`);
  return listed;
}

async function readLists(paths: readonly string[]): Promise<ListedEntry[]> {
  const lists: ListedEntry[][] = [];
  for (const path of paths) {
    const list = readPaidFile(await buffer(openSource(path).open()));
    lists.push(
      paths.length === 1 ? list : list.map((entry) => ({ ...entry, where: `${path}: ${entry.where}` })),
    );
  }
  return mergeLists(lists);
}

function everybodyBut(unpaid: readonly ListedEntry[], affiliates: ReadonlySet<number>): ListedEntry[] {
  const named = new Set(unpaid.map(({ affiliate_id }) => affiliate_id));
  const rest = [...affiliates].filter((id) => !named.has(id));
  return [...unpaid, ...rest.map((affiliate_id) => ({ affiliate_id, is_paid: true, where: '--all-paid' }))];
}

function question(payout: Payout, entries: readonly ListedEntry[]): string {
  const paid = entries.filter((entry) => entry.is_paid).length;
  const released = entries.length - paid;
  return (
    `Complete payout ${payout.number} (revision ${payout.revision}): ${count(paid, 'affiliate')} paid, ` +
    `${released} not paid and owed again. What is paid never changes.`
  );
}

function settle(client: Client, payout: Payout, entries: readonly ListedEntry[]): Promise<CompletedPayout> {
  const commissions = entries.map(({ where: _, ...entry }) => entry);
  return client.payouts.complete(payout.id, { commissions, require_all: true }, { ifMatch: payout.revision });
}
