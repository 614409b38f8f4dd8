import { type Command, Option } from 'commander';
import type { AffiliateTaxProfile, ListAffiliateTaxProfilesQuery } from '../../client/client.ts';
import { TAX_FORMS } from '../../terms/taxes.ts';
import type { Cli } from '../command/cli.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';

interface FormOptions extends ListOptions {
  readonly form?: ListAffiliateTaxProfilesQuery['form'];
  readonly lapsing?: boolean;
  readonly lapsed?: boolean;
}

/** `payhook affiliates forms list`. */
export function addForms(affiliates: Command, cli: Cli): void {
  const list = affiliates
    .command('forms')
    .description('the signed tax forms of affiliates')
    .command('list')
    .description('list tax profiles with the signed form and the day until which it is valid')
    .addOption(new Option('--form <form>', 'only this form').choices([...TAX_FORMS]))
    .addOption(new Option('--lapsing', 'only forms that lapse at the end of this year').conflicts('lapsed'))
    .option('--lapsed', 'only forms that have lapsed');
  withPages(list, { nouns: 'tax profiles', sort: 'affiliate_id, legal_name, signed_on' })
    .option('--json', 'print the page (a list of AffiliateTaxProfile)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ payhook affiliates forms list --lapsing\n  $ payhook affiliates forms list --lapsed --json\n',
    )
    .action((options: FormOptions) => cli.run(() => show(cli, options)));
}

async function show({ terminal, account }: Cli, options: FormOptions): Promise<undefined> {
  const { lapsing, lapsed, ...rest } = options;
  const query: ListAffiliateTaxProfilesQuery = {
    ...queryOf<ListAffiliateTaxProfilesQuery>(rest),
    form_status: lapsing ? 'lapsing' : lapsed ? 'lapsed' : undefined,
  };
  const page = await withClient({ terminal, account }, (client) => client.affiliates.taxProfiles(query));
  terminal.result(page, () =>
    describePage(page, 'tax profile', (data) => formTable(data, terminal), terminal),
  );
}

function formTable(profiles: readonly AffiliateTaxProfile[], { paint }: Terminal): string {
  return table(
    [
      { heading: 'AFFILIATE' },
      { heading: 'LEGAL NAME' },
      { heading: 'COUNTRY' },
      { heading: 'FORM' },
      { heading: 'SIGNED ON' },
      { heading: 'VALID UNTIL' },
    ],
    profiles.map(({ affiliate_id, legal_name, country, form }) => [
      String(affiliate_id),
      printable(legal_name),
      country,
      form?.type ?? 'none',
      form?.signed_on ?? '',
      form?.valid_until ?? '',
    ]),
    paint.faint,
  );
}
