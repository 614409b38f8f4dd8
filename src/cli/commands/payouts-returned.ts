import type { Command } from 'commander';
import type { PayoutLine } from '../../client/client.ts';
import { AFFILIATE_HELP, findAffiliate } from '../affiliate-reference.ts';
import { type Cli, confirm, requireYes } from '../cli.ts';
import { CommandError } from '../errors.ts';
import { amounts } from '../money.ts';
import { findPayout, REFERENCE_HELP } from '../payout-reference.ts';
import { withClient } from '../session.ts';
import { printable } from '../table.ts';

interface ReturnedOptions {
  readonly reason: string;
  readonly reference?: string;
  readonly yes?: boolean;
}

const HELP = `
Once for an affiliate of a paid payout, and for all that it was paid there: the next payout takes it, whatever the minimum.
The payout itself stays as it is.

Examples:
  $ payhook payouts returned 1 ada@example.com --reason "account closed"
  $ payhook payouts returned 1 7 --reason "wrong IBAN" --reference R-2026-117 --yes
`;

/** `payhook payouts returned`. */
export function addReturned(payouts: Command, cli: Cli): void {
  payouts
    .command('returned')
    .description('book money that came back: the affiliate is owed it again')
    .argument('<payout>', REFERENCE_HELP)
    .argument('<affiliate>', AFFILIATE_HELP)
    .requiredOption('--reason <text>', 'why it came back')
    .option('--reference <text>', 'the reference of the bank')
    .option('-y, --yes', 'do not ask; needed where there is no terminal')
    .option('--json', 'print the line (PayoutLine)')
    .addHelpText('after', HELP)
    .action((payout: string, affiliate: string, options: ReturnedOptions) =>
      cli.run(() => book(cli, { payout, affiliate }, options)),
    );
}

async function book(
  { terminal, account }: Cli,
  references: { payout: string; affiliate: string },
  { reason, reference, yes }: ReturnedOptions,
): Promise<undefined> {
  requireYes(terminal, yes);
  const line = await withClient({ terminal, account: account() }, async (client) => {
    const payout = await findPayout(client, references.payout);
    const affiliate_id = await findAffiliate(client, references.affiliate);
    const [found] = (await client.payouts.affiliates(payout.id, { affiliate_id })).data;
    if (found === undefined) {
      throw new CommandError(`affiliate ${affiliate_id} is not in payout ${payout.number}`, {
        code: 'not_found',
        reason: 'resource_missing',
      });
    }
    const question = `Did ${amounts(found.totals)} of payout ${payout.number} come back from ${nameOf(found)}? It is owed again.`;
    await confirm(terminal, question, yes);
    return client.payouts.returned(payout.id, affiliate_id, { reason, reference });
  });
  terminal.result(line, () => `${amounts(line.totals)} came back from ${nameOf(line)} and is owed again.\n`);
}

function nameOf({ affiliate_id, name, email }: PayoutLine): string {
  const who = name ?? email;
  return `affiliate ${affiliate_id}${who === null ? '' : ` (${printable(who)})`}`;
}
