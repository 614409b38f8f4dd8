import { type Command, Option } from 'commander';
import type {
  ChangeAffiliateBody,
  CreateAffiliateBody,
  ListAffiliatesQuery,
  PutAffiliateByExternalIdBody,
} from '../../client/client.ts';
import { AFFILIATE_FIELDS } from '../../client/fields.ts';
import { DESTINATION_TYPES, type DestinationType } from '../../terms/payments.ts';
import type { Cli } from '../command/cli.ts';
import { UsageError } from '../command/errors.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { REPLACES } from '../command/metadata.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { readFields, withFields } from '../command/record-fields.ts';
import { withClient } from '../command/session.ts';
import { AFFILIATE_HELP, findAffiliate } from '../finders/affiliate.ts';
import { findProgram } from '../finders/program.ts';
import { addAffiliateImport } from '../imports/imports.ts';
import { addAdjust } from './adjust.ts';
import { addCorrections } from './corrections.ts';
import { addDestination } from './destination.ts';
import { addErase } from './erase.ts';
import { addAgreements, addForms } from './forms.ts';
import { addNotices } from './notices.ts';
import { addStatement } from './statement.ts';
import { addTaxProfile } from './tax.ts';
import { affiliateTable, describeAffiliate } from './view.ts';

interface AffiliateFilters extends ListOptions {
  readonly email?: string;
  readonly externalId?: string;
  readonly search?: string;
  readonly program?: string;
  readonly payoutMethod?: DestinationType | 'none';
  readonly ready?: 'yes' | 'no';
  readonly destination?: 'yes' | 'no';
  readonly balanceCurrency?: string;
}

const { external_id: _, ...named } = AFFILIATE_FIELDS;
/** The fields of an affiliate that is addressed by its external_id. */
const NAMED_FIELDS = named;

/** `payhook affiliates import|list|show|create|change|put|destination|corrections|tax|forms|notices|adjust|statement|erase`. */
export function addAffiliates(affiliates: Command, cli: Cli): void {
  addAffiliateImport(affiliates, cli);
  addList(affiliates, cli);
  affiliates
    .command('show')
    .description('show an affiliate with its balance')
    .argument('<affiliate>', AFFILIATE_HELP)
    .option('--json', 'print the record (AffiliateWithBalance)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ payhook affiliates show 7\n  $ payhook affiliates show ada@example.com\n',
    )
    .action((reference: string) => cli.run(() => show(cli, reference)));
  addCreate(affiliates, cli);
  addChange(affiliates, cli);
  addPut(affiliates, cli);
  addDestination(affiliates, cli);
  addCorrections(affiliates, cli);
  addTaxProfile(affiliates, cli);
  addForms(affiliates, cli);
  addAgreements(affiliates, cli);
  addNotices(affiliates, cli);
  addAdjust(affiliates, cli);
  addStatement(affiliates, cli);
  addErase(affiliates, cli);
}

function addList(affiliates: Command, cli: Cli): void {
  const list = affiliates
    .command('list')
    .description('list affiliates, newest first')
    .option('--status <status>', 'active or inactive')
    .option('--search <words>', 'every word is part of a name, e-mail or slug')
    .option('--email <email>', 'the e-mail address')
    .option('--external-id <id>', 'the id you gave it')
    .option('--program <program>', 'who earned in it: its id, or its name')
    .addOption(
      new Option('--payout-method <method>', 'how payouts pay it').choices([...DESTINATION_TYPES, 'none']),
    )
    .addOption(new Option('--ready <yes|no>', 'ready for payout').choices(['yes', 'no']))
    .addOption(
      new Option('--destination <yes|no>', 'whether it is known where to pay').choices(['yes', 'no']),
    )
    .option('--balance-currency <code>', "the currency that --sort unpaid goes by; the account's by default");
  withPages(list, { nouns: 'affiliates', sort: 'id, created_at, email, unpaid' })
    .option('--json', 'print the page (a list of AffiliateWithBalance)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ payhook affiliates list --search lovelace\n  $ payhook affiliates list --sort=-unpaid --balance-currency eur\n  $ payhook affiliates list --ready no --json\n',
    )
    .action((options: AffiliateFilters) => cli.run(() => listAffiliates(cli, options)));
}

function addCreate(affiliates: Command, cli: Cli): void {
  withFields(affiliates.command('create').description('create an affiliate'), AFFILIATE_FIELDS, {
    isNew: true,
  })
    .option('--json', 'print the record (Affiliate)')
    .addHelpText(
      'after',
      `
Example:
  $ payhook affiliates create --email ada@example.com --name-first Ada --name-last Lovelace \\
      --payout-method paypal --paypal-email pay@example.com
`,
    )
    .action((options: object) => cli.run(() => create(cli, options)));
}

function addChange(affiliates: Command, cli: Cli): void {
  const command = affiliates
    .command('change')
    .description('change the given fields of an affiliate; an empty text clears')
    .argument('<affiliate>', AFFILIATE_HELP);
  withFields(command, AFFILIATE_FIELDS, { metadata: REPLACES })
    .option('--json', 'print the record (Affiliate)')
    .addHelpText(
      'after',
      `
A new name or destination appears in the unpaid payout at once and raises its revision.

Examples:
  $ payhook affiliates change 7 --payout-method wise --paypal-email ""
  $ payhook affiliates change ada@example.com --status inactive
`,
    )
    .action((reference: string, options: object) => cli.run(() => change(cli, reference, options)));
}

function addPut(affiliates: Command, cli: Cli): void {
  const command = affiliates
    .command('put')
    .description('create the affiliate with this external_id, or change the given fields if it exists')
    .argument('<external-id>', 'your own id');
  withFields(command, NAMED_FIELDS, { metadata: REPLACES })
    .option('--json', 'print the record (Affiliate)')
    .addHelpText(
      'after',
      `
A new affiliate needs --email. An empty text clears a field, as with change.

Example:
  $ payhook affiliates put partner-7 --email zoe@example.com --metadata crm=lead-311
`,
    )
    .action((externalId: string, options: object) => cli.run(() => put(cli, externalId, options)));
}

async function listAffiliates({ terminal, account }: Cli, options: AffiliateFilters): Promise<undefined> {
  const { externalId, program, payoutMethod, ready, destination, balanceCurrency, ...rest } = options;
  const isYes = (answer: 'yes' | 'no' | undefined) => (answer === undefined ? undefined : answer === 'yes');
  const page = await withClient({ terminal, account }, async (client) =>
    client.affiliates.list({
      ...queryOf<ListAffiliatesQuery>(rest),
      external_id: externalId,
      program_id: program === undefined ? undefined : await findProgram(client, program),
      payout_method: payoutMethod,
      is_ready_for_payout: isYes(ready),
      has_destination: isYes(destination),
      balance_currency: balanceCurrency,
    } as ListAffiliatesQuery),
  );
  terminal.result(page, () =>
    describePage(page, 'affiliate', (data) => affiliateTable(data, terminal), terminal),
  );
}

async function show({ terminal, account }: Cli, reference: string): Promise<undefined> {
  const affiliate = await withClient({ terminal, account }, async (client) =>
    client.affiliates.get(await findAffiliate(client, reference)),
  );
  terminal.result(affiliate, () => describeAffiliate(affiliate, terminal));
}

async function create({ terminal, account }: Cli, options: object): Promise<undefined> {
  const body = readFields(AFFILIATE_FIELDS, options) as unknown as CreateAffiliateBody;
  const made = await withClient({ terminal, account }, (client) => client.affiliates.create(body));
  terminal.result(made, () => describeAffiliate(made, terminal));
}

async function put({ terminal, account }: Cli, externalId: string, options: object): Promise<undefined> {
  const body: PutAffiliateByExternalIdBody = readFields(NAMED_FIELDS, options);
  const stored = await withClient({ terminal, account }, (client) =>
    client.affiliates.putByExternalId(externalId, body),
  );
  terminal.result(stored, () => describeAffiliate(stored, terminal));
}

async function change({ terminal, account }: Cli, reference: string, options: object): Promise<undefined> {
  const body: ChangeAffiliateBody = readFields(AFFILIATE_FIELDS, options);
  if (Object.keys(body).length === 0) {
    throw new UsageError('nothing to change: payhook affiliates change --help lists the options');
  }
  const changed = await withClient({ terminal, account }, async (client) =>
    client.affiliates.change(await findAffiliate(client, reference), body),
  );
  terminal.result(changed, () => describeAffiliate(changed, terminal));
}
