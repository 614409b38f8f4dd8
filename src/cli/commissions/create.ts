import type { Command } from 'commander';
import type { CommissionInputFields } from '../../client/client.ts';
import { COMMISSION_FIELDS } from '../../client/fields.ts';
import { readCurrency } from '../command/amounts.ts';
import type { Cli } from '../command/cli.ts';
import { readFields, withFields } from '../command/record-fields.ts';
import { withClient } from '../command/session.ts';
import { AFFILIATE_HELP, findAffiliate } from '../finders/affiliate.ts';
import { findProgram, PROGRAM_HELP } from '../finders/program.ts';
import { describeCommission } from './view.ts';

interface CreateOptions {
  readonly affiliate: string;
  readonly currency?: string;
  readonly program?: string;
}

// the affiliate and the program are found by what the user types
const {
  affiliate_id: _id,
  affiliate_external_id: _externalId,
  affiliate_email: _email,
  program_id: _program,
  ...TYPED
} = COMMISSION_FIELDS;

const HELP = `
Give --amount, or --sale-amount with --rate-bps. Repeating an --external-id changes nothing; with different content it is refused.
To create many: payhook commissions import.

Examples:
  $ payhook commissions create --affiliate ada@example.com --external-id order-1042 --amount 31.90 --currency usd
  $ payhook commissions create --affiliate 7 --external-id order-1043 --sale-amount 159.50 --rate-bps 2000 --order 1043
`;

/** `payhook commissions create`. */
export function addCommissionCreate(commissions: Command, cli: Cli): void {
  const command = commissions
    .command('create')
    .description('create one commission')
    .requiredOption('--affiliate <affiliate>', AFFILIATE_HELP)
    .option('--program <program>', PROGRAM_HELP);
  withFields(command, TYPED, { isNew: true })
    .option('--json', 'print the record (Commission)')
    .addHelpText('after', HELP)
    .action((options: CreateOptions) => cli.run(() => create(cli, options)));
}

async function create({ terminal, account }: Cli, options: CreateOptions): Promise<undefined> {
  const given = options.currency === undefined ? undefined : readCurrency('--currency', options.currency);
  const made = await withClient({ terminal, account }, async (client) => {
    const currency = given ?? (await client.account.get()).default_currency;
    const { program, affiliate } = options;
    const fields = readFields(TYPED, options, currency) as unknown as CommissionInputFields;
    return client.commissions.create({
      ...fields,
      affiliate_id: await findAffiliate(client, affiliate),
      program_id: program === undefined ? undefined : await findProgram(client, program),
      currency,
    });
  });
  terminal.result(made, () => describeCommission(made, terminal));
}
