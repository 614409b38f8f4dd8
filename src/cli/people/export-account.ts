import type { Command } from 'commander';
import type { Cli } from '../command/cli.ts';
import { accountNamed } from '../command/current-account.ts';
import { CommandError } from '../command/errors.ts';
import { withPlatform } from '../command/session.ts';
import { printable } from '../terminal/table.ts';

const HELP = `
Writes a file of JSON lines for each kind of record, in the format of the API, and manifest.json with their counts and SHA-256. All
are of the same instant, and servers keep running. The files contain no secrets. They are for people and other programs; to restore
data, use payhook backup.

Example:
  $ payhook accounts export Northwind northwind-2026
`;

/** `payhook accounts export`. */
export function addExport(accounts: Command, cli: Cli): void {
  accounts
    .command('export')
    .description('write all data of an account to a new folder')
    .argument('<account>', 'the id (acc_…) or the name of the account')
    .argument('<folder>', 'a folder that does not exist')
    .option('--json', 'print {object, program, account_id, made_at, files}; each {name, records, sha256}')
    .addHelpText('after', HELP)
    .action((account: string, folder: string) => cli.run(() => exportOne(cli, account, folder)));
}

async function exportOne({ terminal }: Cli, wanted: string, folder: string): Promise<undefined> {
  const { exportAccount, ExportError } = await import('../../app/export-account.ts');
  const { name, manifest } = await withPlatform(terminal, async ({ accounts }) => {
    const account = accountNamed(await accounts.list(), wanted);
    try {
      return {
        name: account.name,
        manifest: await exportAccount(await accounts.databaseOf(account.uuid), account.uuid, folder),
      };
    } catch (error) {
      if (error instanceof ExportError) throw new CommandError(error.message);
      throw error;
    }
  });
  const records = manifest.files.reduce((sum, file) => sum + file.records, 0);
  terminal.result(
    manifest,
    () =>
      `${printable(name)}: ${records} records in ${manifest.files.length} files, as of ${manifest.made_at}.\n`,
  );
}
