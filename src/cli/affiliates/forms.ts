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

interface AgreementOptions extends ListOptions {
  readonly ending?: boolean;
  readonly ended?: boolean;
}

const NOUNS = { nouns: 'tax profiles', sort: 'affiliate_id, legal_name, signed_on' } as const;
const JSON_HELP = 'print the page (a list of AffiliateTaxProfile)';

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
  withPages(list, NOUNS)
    .option('--json', JSON_HELP)
    .addHelpText(
      'after',
      '\nExamples:\n  $ payhook affiliates forms list --lapsing\n  $ payhook affiliates forms list --lapsed --json\n',
    )
    .action(({ lapsing, lapsed, ...rest }: FormOptions) => {
      const form_status = lapsing ? 'lapsing' : lapsed ? 'lapsed' : undefined;
      return cli.run(() => show(cli, { ...queryOf(rest), form_status }, formTable));
    });
}

/** `payhook affiliates agreements list`. */
export function addAgreements(affiliates: Command, cli: Cli): void {
  const list = affiliates
    .command('agreements')
    .description('the self-billing agreements of affiliates')
    .command('list')
    .description('list tax profiles with the self-billing agreement and its last day')
    .addOption(new Option('--ending', 'only agreements whose last day is within 90 days').conflicts('ended'))
    .option('--ended', 'only agreements that have ended');
  withPages(list, NOUNS)
    .option('--json', JSON_HELP)
    .addHelpText(
      'after',
      '\nExamples:\n  $ payhook affiliates agreements list --ending\n  $ payhook affiliates agreements list --ended --json\n',
    )
    .action(({ ending, ended, ...rest }: AgreementOptions) => {
      const self_billing_status = ending ? 'ending' : ended ? 'ended' : undefined;
      return cli.run(() => show(cli, { ...queryOf(rest), self_billing_status }, agreementTable));
    });
}

async function show(
  { terminal, account }: Cli,
  query: ListAffiliateTaxProfilesQuery,
  tableOf: (profiles: readonly AffiliateTaxProfile[], terminal: Terminal) => string,
): Promise<undefined> {
  const page = await withClient({ terminal, account }, (client) => client.affiliates.taxProfiles(query));
  terminal.result(page, () => describePage(page, 'tax profile', (data) => tableOf(data, terminal), terminal));
}

function agreementTable(profiles: readonly AffiliateTaxProfile[], { paint }: Terminal): string {
  return table(
    [
      { heading: 'AFFILIATE' },
      { heading: 'LEGAL NAME' },
      { heading: 'COUNTRY' },
      { heading: 'AGREED ON' },
      { heading: 'EXPIRES ON' },
    ],
    profiles.map(({ affiliate_id, legal_name, country, self_billing }) => [
      String(affiliate_id),
      printable(legal_name),
      country,
      self_billing?.agreed_on ?? 'none',
      self_billing?.expires_on ?? '',
    ]),
    paint.faint,
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
