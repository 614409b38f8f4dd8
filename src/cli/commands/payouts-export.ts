import { createWriteStream, existsSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { CommandError, UsageError } from '../errors.ts';
import { onInterrupt } from '../interrupt.ts';
import { findPayout, REFERENCE_HELP } from '../payout-reference.ts';
import { withClient } from '../session.ts';

interface ExportOptions {
  readonly output?: string;
  readonly force?: boolean;
}

/** `payhook payouts export`. */
export function addExport(payouts: Command, cli: Cli): void {
  payouts
    .command('export')
    .description('write the commissions of a payout to a CSV file')
    .argument('<payout>', REFERENCE_HELP)
    .option(
      '-o, --output <file>',
      'where to; - is standard output (default: payout-<number>-r<revision>-<day>.csv)',
    )
    .option('-f, --force', 'overwrite the file if it exists')
    .addHelpText(
      'after',
      `
One row per commission: of an unpaid payout all, of a paid one those that were paid.

Examples:
  $ payhook payouts export current
  $ payhook payouts export 1 --output september.csv
  $ payhook payouts export 1 -o - | head
`,
    )
    .action((reference: string, options: ExportOptions) => cli.run(() => run(cli, reference, options)));
}

async function run(
  { terminal, account }: Cli,
  reference: string,
  options: ExportOptions,
): Promise<undefined> {
  const { output, force = false } = options;
  if (output === '-' && terminal.json)
    throw new UsageError('--json and --output - both want standard output');
  if (output !== undefined) refuseExisting(output, force);
  const written = await withClient({ terminal, account: account() }, async (client) => {
    const payout = await findPayout(client, reference);
    const { name, stream } = await client.downloadPayout(payout.id);
    if (output === '-') {
      await pipeline(stream, process.stdout, { end: false });
      return null;
    }
    const file = output ?? name ?? `payout-${payout.number}.csv`;
    return { file, bytes: await writeWhole(stream, file, force), payout };
  });
  if (written === null) return;
  const { file, bytes, payout } = written;
  terminal.result({ file, bytes, payout_id: payout.id }, () => `${file}\n`);
}

function refuseExisting(file: string, force: boolean): void {
  if (force || file === '-' || !existsSync(file)) return;
  throw new CommandError(`${file} exists: add --force to overwrite it, or choose another with --output`);
}

/** Writes beside the file and renames at the end: a download that was cut off never looks like a whole one. */
async function writeWhole(stream: Readable, file: string, force: boolean): Promise<number> {
  const partial = join(dirname(file), `.${basename(file)}.${process.pid}.part`);
  const remove = () => rmSync(partial, { force: true });
  const forget = onInterrupt(remove);
  try {
    refuseExisting(file, force);
    // names, addresses and amounts: for its owner only
    const target = createWriteStream(partial, { mode: 0o600, flags: 'wx' });
    // a file that is still being opened when the bytes fail would appear after its removal
    const closed = new Promise<void>((resolve) => target.once('close', resolve));
    await pipeline(stream, target).finally(() => closed);
    renameSync(partial, file);
    return target.bytesWritten;
  } catch (error) {
    stream.on('error', () => undefined).destroy();
    throw error;
  } finally {
    forget();
    remove();
  }
}
