import type { Command } from 'commander';
import type { Client, ListPayoutCommissionsQuery } from '../../client/client.ts';
import { withPages } from '../command/list-view.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { AFFILIATE_HELP, findAffiliate } from '../finders/affiliate.ts';
import { findProgram } from '../finders/program.ts';

/** The options of a list of commissions, as typed. */
export interface CommissionFilters extends ListOptions {
  readonly affiliate?: string;
  readonly program?: string;
  readonly currency?: string;
  readonly type?: string;
  readonly order?: string;
  readonly externalId?: string;
  readonly since?: string;
  readonly before?: string;
}

/** Adds the filter and page options of a list of commissions. */
export function withCommissionFilters(command: Command): Command {
  return withPages(
    command
      .option('--affiliate <affiliate>', AFFILIATE_HELP)
      .option('--program <program>', 'its id or its name; none for those in no program')
      .option('--currency <currency>', 'such as eur')
      .option('--type <type>', 'sale, recurring, bonus, adjustment or clawback')
      .option('--order <order>', 'the id of the order in the shop')
      .option('--external-id <id>', 'the id you gave it')
      .option(
        '--since <when>',
        'that occurred at this time or later: a day such as 2026-09-01, or an instant',
      )
      .option('--before <when>', 'that occurred earlier'),
    { nouns: 'commissions', sort: 'id, created_at, occurred_at' },
  );
}

/** The options as a query. Throws CommandError or ApiError if the affiliate or program does not exist. */
export async function readCommissionFilters(
  client: Client,
  { affiliate, program, order, externalId, since, before, ...rest }: CommissionFilters,
): Promise<ListPayoutCommissionsQuery> {
  return {
    ...queryOf<ListPayoutCommissionsQuery>(rest),
    affiliate_id: affiliate === undefined ? undefined : await findAffiliate(client, affiliate),
    program_id: program === undefined || program === 'none' ? undefined : await findProgram(client, program),
    has_program: program === 'none' ? false : undefined,
    order_id: order,
    external_id: externalId,
    'occurred_at[gte]': since,
    'occurred_at[lt]': before,
  };
}
