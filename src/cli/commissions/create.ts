import { type Command, Option } from 'commander';
import type { CommissionInput } from '../../client/client.ts';
import { readAmount, readCurrency } from '../command/amounts.ts';
import type { Cli } from '../command/cli.ts';
import { type MetadataOption, readMetadata, withMetadata } from '../command/metadata.ts';
import { readInteger } from '../command/numbers.ts';
import { withClient } from '../command/session.ts';
import { AFFILIATE_HELP, findAffiliate } from '../finders/affiliate.ts';
import { findProgram, PROGRAM_HELP } from '../finders/program.ts';
import { describeCommission } from './view.ts';

interface CreateOptions extends MetadataOption {
  readonly externalId: string;
  readonly affiliate: string;
  readonly amount?: string;
  readonly saleAmount?: string;
  readonly rateBps?: string;
  readonly currency?: string;
  readonly program?: string;
  readonly type?: NonNullable<CommissionInput['type']>;
  readonly order?: string;
  readonly orderLine?: string;
  readonly customerEmail?: string;
  readonly product?: string;
  readonly productName?: string;
  readonly description?: string;
  readonly occurredAt?: string;
}

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
    .requiredOption('--external-id <id>', 'your own id; sending it again changes nothing')
    .option('--amount <amount>', 'what the affiliate gets, a decimal such as 31.90')
    .option('--sale-amount <amount>', 'the sale, a decimal such as 159.50')
    .option('--rate-bps <number>', 'basis points of the sale: 2000 is 20 %')
    .option('--currency <currency>', "such as eur; the account's without it")
    .option('--program <program>', PROGRAM_HELP)
    .addOption(new Option('--type <type>', 'the type; default sale').choices(['sale', 'recurring', 'bonus']))
    .option('--order <order>', 'the id of the order in the shop, which refunds by order find')
    .option('--order-line <line>', 'the line of the order')
    .option('--customer-email <email>', 'who bought')
    .option('--product <product>', 'the id of the product')
    .option('--product-name <name>', 'its name')
    .option('--description <text>', 'what it is')
    .option('--occurred-at <when>', 'an instant such as 2026-09-15T08:30:00Z; now without it');
  withMetadata(command)
    .option('--json', 'print the record (Commission)')
    .addHelpText('after', HELP)
    .action((options: CreateOptions) => cli.run(() => create(cli, options)));
}

async function create({ terminal, account }: Cli, options: CreateOptions): Promise<undefined> {
  const given = options.currency === undefined ? undefined : readCurrency('--currency', options.currency);
  const rate = options.rateBps;
  const rate_bps = rate === undefined ? undefined : readInteger('--rate-bps', rate, { from: 0, to: 10_000 });
  const metadata = readMetadata(options.metadata);
  const made = await withClient({ terminal, account: account() }, async (client) => {
    const currency = given ?? (await client.account.get()).default_currency;
    const read = (option: string, text: string | undefined, from: number) =>
      text === undefined ? undefined : readAmount(option, text, { currency, from });
    const { program, affiliate } = options;
    return client.commissions.create({
      external_id: options.externalId,
      amount: read('--amount', options.amount, 1),
      sale_amount: read('--sale-amount', options.saleAmount, 0),
      affiliate_id: await findAffiliate(client, affiliate),
      program_id: program === undefined ? undefined : await findProgram(client, program),
      rate_bps,
      currency,
      type: options.type,
      order_id: options.order,
      order_line_id: options.orderLine,
      customer_email: options.customerEmail,
      product_id: options.product,
      product_name: options.productName,
      description: options.description,
      occurred_at: options.occurredAt,
      metadata,
    });
  });
  terminal.result(made, () => describeCommission(made, terminal));
}
