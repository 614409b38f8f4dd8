import type { Command } from 'commander';
import type { Client, Import, ListImportsQuery } from '../../client/client.ts';
import { type Cli, confirm } from '../command/cli.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { findNames } from '../finders/actors.ts';
import { count } from '../terminal/money.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { describeImport, importTable } from './view.ts';

/** `payhook imports list|show|undo`. */
export function addImports(imports: Command, cli: Cli): void {
  withPages(imports.command('list').description('list imports, newest first'), {
    nouns: 'imports',
    sort: 'created_at',
  })
    .option('--kind <kind>', 'affiliates or commissions')
    .option('--status <status>', 'completed or undone')
    .option('--json', 'print the page (a list of Import)')
    .action((options: ListOptions) => cli.run(() => list(cli, queryOf<ListImportsQuery>(options))));
  imports
    .command('show')
    .description('show an import: the file, how it was read, and the result')
    .argument('<import>', 'its id')
    .option('--json', 'print the record (Import)')
    .addHelpText('after', '\nExample:\n  $ payhook imports show imp_0197…\n')
    .action((id: string) => cli.run(() => show(cli, id)));
  imports
    .command('undo')
    .description('undo an import, unless its records are in use')
    .argument('<import>', 'its id')
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print the record (Import)')
    .addHelpText(
      'after',
      '\nCommissions are voided and their external_ids can be used again. Past payouts and affiliates that the import created\nare deleted, and affiliates that it changed are restored. If a record is in use, the message names it and nothing\nis changed.\n\nExample:\n  $ payhook imports undo imp_0197… --yes\n',
    )
    .action((id: string, { yes }: { yes?: boolean }) => cli.run(() => undo(cli, id, yes)));
}

async function list({ terminal, account }: Cli, query: ListImportsQuery): Promise<undefined> {
  const page = await withClient({ terminal, account }, (client) => client.imports.list(query));
  terminal.result(page, () => describePage(page, 'import', (data) => importTable(data, terminal), terminal));
}

async function show({ terminal, account }: Cli, id: string): Promise<undefined> {
  await withClient({ terminal, account }, async (client) =>
    printImport(client, await client.imports.get(id), terminal),
  );
}

async function undo({ terminal, account }: Cli, id: string, yes?: boolean): Promise<undefined> {
  await withClient({ terminal, account }, async (client) => {
    const { lines, kind, payouts } = await client.imports.get(id);
    const past = payouts === 0 ? '' : ` and its ${count(payouts, 'past payout')}`;
    await confirm(terminal, `Undo the import of ${lines} lines of ${kind}${past}?`, yes);
    await printImport(client, await client.imports.undo(id), terminal);
  });
}

async function printImport(client: Client, one: Import, terminal: Terminal): Promise<void> {
  const names = await findNames(client, [one.created_by, one.undone_by], terminal);
  terminal.result(one, () => describeImport(one, names, terminal));
}
