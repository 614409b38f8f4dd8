import type { Command } from 'commander';
import { MAX_AMOUNT } from '../../kernel/money.ts';
import { readAmount, readCurrency } from '../command/amounts.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { UsageError } from '../command/errors.ts';
import { withClient } from '../command/session.ts';
import { money } from '../commissions/view.ts';
import { AFFILIATE_HELP, findAffiliate } from '../finders/affiliate.ts';
import { findProgram, PROGRAM_HELP } from '../finders/program.ts';
import { printable } from '../terminal/table.ts';
import { fullName } from './view.ts';

interface AdjustOptions {
  readonly amount: string;
  readonly currency?: string;
  readonly reason: string;
  readonly externalId: string;
  readonly program?: string;
  readonly yes?: boolean;
}

const HELP = `
A positive amount is owed to the affiliate, a negative one is deducted from the next payout, without a hold. Repeating an
--external-id adjusts nothing.

Examples:
  $ payhook affiliates adjust 7 --amount 20 --currency eur --reason "for the video" --external-id video-7
  $ payhook affiliates adjust ada@example.com --amount -12.50 --currency usd --reason "paid by hand" \\
      --external-id hand-12 --yes
`;

/** `payhook affiliates adjust`. */
export function addAdjust(affiliates: Command, cli: Cli): void {
  affiliates
    .command('adjust')
    .description('credit or debit an affiliate')
    .argument('<affiliate>', AFFILIATE_HELP)
    .requiredOption('--amount <amount>', 'a decimal such as 20.00 or -12.50')
    .option('--currency <currency>', "such as eur; the account's without it")
    .requiredOption('--reason <text>', 'the reason; the description of the adjustment')
    .requiredOption('--external-id <id>', 'your own id; sending it again books nothing')
    .option('--program <program>', PROGRAM_HELP)
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print the adjustment (Commission)')
    .addHelpText('after', HELP)
    .action((reference: string, options: AdjustOptions) => cli.run(() => adjust(cli, reference, options)));
}

async function adjust(
  { terminal, account }: Cli,
  reference: string,
  options: AdjustOptions,
): Promise<undefined> {
  const { reason, externalId, program, yes } = options;
  requireYes(terminal, yes);
  const given = options.currency === undefined ? undefined : readCurrency('--currency', options.currency);
  const made = await withClient({ terminal, account }, async (client) => {
    const currency = given ?? (await client.account.get()).default_currency;
    const amount = readAmount('--amount', options.amount, { currency, from: -MAX_AMOUNT });
    if (amount === 0) throw new UsageError('--amount must not be 0');
    const affiliate = await client.affiliates.get(await findAffiliate(client, reference));
    const programId = program === undefined ? undefined : await findProgram(client, program);
    const who = `affiliate ${affiliate.id} (${printable(fullName(affiliate) ?? affiliate.email)})`;
    const what = money({ currency }, Math.abs(amount));
    const question =
      amount > 0 ? `Add ${what} to the balance of ${who}?` : `Deduct ${what} from the next payout of ${who}?`;
    await confirm(terminal, question, yes);
    return client.affiliates.adjust(affiliate.id, {
      external_id: externalId,
      amount,
      currency,
      program_id: programId,
      description: reason,
    });
  });
  terminal.result(made, () => {
    const { external_id, affiliate_id, amount } = made;
    return `${money(made, amount)} for affiliate ${affiliate_id} (${printable(external_id)}, ${made.id}).\n`;
  });
}
