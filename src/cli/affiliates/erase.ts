import type { Command } from 'commander';
import { type Cli, confirmName } from '../command/cli.ts';
import { withClient } from '../command/session.ts';
import { AFFILIATE_HELP, findAffiliate } from '../finders/affiliate.ts';
import { printable } from '../terminal/table.ts';

const HELP = `
Removes the names and e-mail addresses of a person from the affiliate, payouts, imports, commissions, refunds, events, attempts,
stored answers and the audit log. Amounts stay. This cannot be undone, and existing backups still contain the person. With a
large webhook log, a server or worker needs a while: run the command again to see the progress.

Examples:
  $ payhook affiliates erase ada@example.com
  $ payhook affiliates erase 7 --yes --name ada@example.com
`;

interface Options {
  readonly yes?: boolean;
  readonly name?: string;
}

/** `payhook affiliates erase`. */
export function addErase(affiliates: Command, cli: Cli): void {
  affiliates
    .command('erase')
    .description('erase the person behind an affiliate; amounts stay')
    .argument('<affiliate>', AFFILIATE_HELP)
    .option('-y, --yes', 'with --name, do not ask; required without a terminal')
    .option('--name <email>', 'the e-mail address of the affiliate, instead of typing it when asked')
    .option('--json', 'print the record (Erasure)')
    .addHelpText('after', HELP)
    .action((reference: string, options: Options) => cli.run(() => erase(cli, reference, options)));
}

async function erase(
  { terminal, account }: Cli,
  reference: string,
  { yes, name }: Options,
): Promise<undefined> {
  const erased = await withClient({ terminal, account }, async (client) => {
    const { id, email } = await client.affiliates.get(await findAffiliate(client, reference));
    await confirmName(terminal, {
      question: `Erase the person behind affiliate ${id} (${printable(email)})? This cannot be undone.`,
      name: email,
      ...(yes === undefined ? {} : { yes }),
      ...(name === undefined ? {} : { repeated: name }),
    });
    return client.affiliates.erase(id);
  });
  terminal.result(erased, () =>
    erased.status === 'completed'
      ? `Affiliate ${erased.affiliate_id} was erased.\n`
      : `Affiliate ${erased.affiliate_id} was erased. Its commissions and the webhook log are still being searched.\n`,
  );
}
