import type { Command } from 'commander';
import type { ListPayoutsQuery, PayoutSelection } from '../../client/client.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { describePage } from '../command/list-view.ts';
import { type MetadataOption, readMetadata, withMetadata } from '../command/metadata.ts';
import { collect } from '../command/pairs.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { findNames } from '../finders/actors.ts';
import { findPayout, REFERENCE_HELP } from '../finders/payout.ts';
import { amounts, count } from '../terminal/money.ts';
import { addComplete } from './complete.ts';
import { addExport } from './export.ts';
import { readFilterOptions } from './filters.ts';
import { addPayoutLists } from './lists.ts';
import { describePreview, firstOf } from './preview-view.ts';
import { addResults } from './results-command.ts';
import { addReturned } from './returned.ts';
import { describeSignals, SIGNALS_SHOWN, signalsOf } from './signal-view.ts';
import { describeMismatches, MISMATCHES_SHOWN } from './verification-view.ts';
import { actorsOf, describePayout, join, payoutTable, summarizePayout } from './view.ts';

const SELECTION_HELP = `
Filters, which must all match: affiliate_id, program_id, product_id, order_id, payout_method, type, affiliate_status,
is_ready_for_payout, currency, total, occurred_at. Operators in brackets: eq (the default), ne, in, nin, gt, gte, lt, lte. Repeating
a field, or several values separated by commas, matches any of them.
`;

interface SelectionOptions extends MetadataOption {
  readonly filter?: readonly string[];
  readonly filters?: string;
  readonly search?: string;
  readonly ignoreMinimum?: boolean;
}

/** `payhook payouts list|show|affiliates|commissions|excluded|signals|verifications|preview|create|export|results|complete|returned|returns|delete`. */
export function addPayouts(payouts: Command, cli: Cli): void {
  addList(payouts, cli);
  payouts
    .command('show')
    .description('show a payout with its affiliates')
    .argument('<payout>', REFERENCE_HELP)
    .option('--json', 'print the record (Payout)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ payhook payouts show current\n  $ payhook payouts show 1 --json\n',
    )
    .action((reference: string) => cli.run(() => show(cli, reference)));
  addPayoutLists(payouts, cli);
  addSelection(
    payouts.command('preview').description('show the payout that create would make now, without creating it'),
  )
    .option('--json', 'print the preview (PayoutPreview)')
    .addHelpText('after', `${SELECTION_HELP}\nExample:\n  $ payhook payouts preview --filter currency=eur\n`)
    .action((options: SelectionOptions) => cli.run(() => preview(cli, options)));
  withMetadata(
    addSelection(
      payouts
        .command('create')
        .description('create a payout of everything that is owed and matches the filters'),
    ),
  )
    .option('--json', 'print the record (Payout)')
    .addHelpText(
      'after',
      `${SELECTION_HELP}
Examples:
  $ payhook payouts create
  $ payhook payouts create --filter currency=usd --filter 'occurred_at[lt]=2026-10-01'
  $ payhook payouts create --filter affiliate_id=7,8,9 --ignore-minimum --metadata run=november
  $ payhook payouts create --filters '{"currency":"usd","type":{"nin":["bonus"]}}'
`,
    )
    .action((options: SelectionOptions) => cli.run(() => create(cli, options)));
  addExport(payouts, cli);
  addResults(payouts, cli);
  addComplete(payouts, cli);
  addReturned(payouts, cli);
  addDelete(payouts, cli);
}

function addList(payouts: Command, cli: Cli): void {
  payouts
    .command('list')
    .description('list payouts, newest first')
    .option('--status <status>', 'unpaid or paid')
    .option('--currency <currency>', 'with a sum in this currency')
    .option('--sort <field>', 'such as -created_at, number, -affiliate_count; - means descending')
    .option('--page <number>', 'the page')
    .option('--per-page <number>', 'payouts per page, at most 100')
    .option('--json', 'print the page (a list of PayoutSummary)')
    .action((options: ListOptions) => cli.run(() => list(cli, queryOf<ListPayoutsQuery>(options))));
}

function addSelection(command: Command): Command {
  return command
    .option('--filter <key=value>', 'only what matches; may be repeated', collect)
    .option('--filters <json>', 'the filters as one JSON object')
    .option('--search <words>', 'every word is part of a name, e-mail or slug of the affiliate')
    .option('--ignore-minimum', 'also pay sums below the minimums');
}

function addDelete(payouts: Command, cli: Cli): void {
  payouts
    .command('delete')
    .description('delete an unpaid payout; its commissions are owed again')
    .argument('<payout>', REFERENCE_HELP)
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print {id, object, deleted}')
    .addHelpText('after', '\nExample:\n  $ payhook payouts delete current --yes\n')
    .action((reference: string, { yes }: { yes?: boolean }) =>
      cli.run(() => remove(cli, reference, yes ?? false)),
    );
}

function selectionOf({
  filter,
  filters,
  search,
  ignoreMinimum,
  metadata,
}: SelectionOptions): PayoutSelection {
  // as typed; the server validates it
  const read = readFilterOptions(filter ?? [], filters) as PayoutSelection['filters'];
  return { filters: read, search, ignore_minimum: ignoreMinimum, metadata: readMetadata(metadata) };
}

async function list({ terminal, account }: Cli, query: ListPayoutsQuery): Promise<undefined> {
  const page = await withClient({ terminal, account }, (client) => client.payouts.list(query));
  terminal.result(page, () => describePage(page, 'payout', (data) => payoutTable(data, terminal), terminal));
}

async function show({ terminal, account }: Cli, reference: string): Promise<undefined> {
  await withClient({ terminal, account }, async (client) => {
    const payout = await findPayout(client, reference);
    const isWaiting = payout.approval.status === 'waiting' && !terminal.json;
    const standing = isWaiting ? await client.payouts.approval(payout.id) : null;
    const names = await findNames(client, actorsOf(payout, standing), terminal);
    const isOpen = payout.status === 'unpaid' && !terminal.json;
    const mismatches = isOpen
      ? await client.payouts.verifications(payout.id, { is_mismatch: true, per_page: MISMATCHES_SHOWN })
      : null;
    const signals = isOpen ? await signalsOf(client, payout) : null;
    terminal.result(payout, () =>
      join([
        describePayout(payout, standing, names, terminal),
        describeSignals(signals, payout, terminal),
        describeMismatches(payout, mismatches, terminal),
      ]),
    );
  });
}

async function preview({ terminal, account }: Cli, options: SelectionOptions): Promise<undefined> {
  const selection = selectionOf(options);
  await withClient({ terminal, account }, async (client) => {
    const made = await client.payouts.preview(selection);
    if (terminal.json) return terminal.result(made, () => '');
    const lines = made.affiliates ?? (await firstOf(client.payouts.previewAffiliates(selection)));
    const leftOut = await firstOf(client.payouts.previewExcluded(selection));
    const signals =
      made.signals.length > 0
        ? await client.payouts.previewSignals(selection, { per_page: SIGNALS_SHOWN })
        : null;
    terminal.result(made, () => describePreview(made, { lines, leftOut, signals }, terminal));
  });
}

async function create({ terminal, account }: Cli, options: SelectionOptions): Promise<undefined> {
  const selection = selectionOf(options);
  await withClient({ terminal, account }, async (client) => {
    const payout = await client.payouts.create(selection);
    const names = await findNames(client, actorsOf(payout), terminal);
    terminal.result(payout, () => summarizePayout(payout, names, terminal));
  });
}

async function remove({ terminal, account }: Cli, reference: string, yes: boolean): Promise<undefined> {
  requireYes(terminal, yes);
  const payout = await withClient({ terminal, account }, async (client) => {
    const found = await findPayout(client, reference);
    if (found.status === 'unpaid') {
      const what = `${amounts(found.totals)} to ${count(found.affiliate_count, 'affiliate')}`;
      await confirm(
        terminal,
        `Delete payout ${found.number} (${what})? The whole amount is owed again.`,
        yes,
      );
    }
    await client.payouts.delete(found.id, { ifMatch: found.revision });
    return found;
  });
  terminal.result(
    { id: payout.id, object: payout.object, deleted: true },
    () => `Deleted payout ${payout.number} (${payout.id}).\n`,
  );
}
