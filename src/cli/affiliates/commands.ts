import { type Command, Option } from 'commander';
import type { ChangeAffiliateBody, ListAffiliatesQuery } from '../../client/client.ts';
import {
  DESTINATION_TYPES,
  type DestinationType,
  PAYOUT_METHODS,
  type PayoutMethod,
} from '../../kernel/payments.ts';
import { readMinimums } from '../command/amounts.ts';
import type { Cli } from '../command/cli.ts';
import { UsageError } from '../command/errors.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { type MetadataOption, REPLACES, readMetadata, withMetadata } from '../command/metadata.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { AFFILIATE_HELP, findAffiliate } from '../finders/affiliate.ts';
import { findProgram } from '../finders/program.ts';
import { addAffiliateImport } from '../imports/imports.ts';
import { addAdjust } from './adjust.ts';
import { addDestination } from './destination.ts';
import { addErase } from './erase.ts';
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

interface AffiliateFields extends MetadataOption {
  readonly email?: string;
  readonly externalId?: string;
  readonly nameFirst?: string;
  readonly nameLast?: string;
  readonly slug?: string;
  readonly paypalEmail?: string;
  readonly payoutMethod?: PayoutMethod | 'none';
  readonly legalType?: 'person' | 'business' | 'none';
  readonly country?: string;
  readonly ready?: boolean;
  readonly status?: 'active' | 'inactive';
  readonly minimums?: string;
}

/** `payhook affiliates import|list|show|create|change|put|destination|tax|adjust|statement|erase`. */
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
  addTaxProfile(affiliates, cli);
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

function withFields(command: Command, metadata = REPLACES): Command {
  return withMetadata(command, metadata)
    .option('--name-first <name>', 'first name')
    .option('--name-last <name>', 'last name')
    .option('--slug <slug>', 'the name in links of the affiliate')
    .option('--paypal-email <email>', 'where PayPal pays')
    .addOption(new Option('--payout-method <method>', 'how it is paid').choices([...PAYOUT_METHODS, 'none']))
    .addOption(new Option('--legal-type <type>', 'what it is by law').choices(['person', 'business', 'none']))
    .option('--country <code>', 'where it pays its taxes, such as DE')
    .option('--ready', 'ready for payout, which filters can ask for')
    .option('--no-ready', 'not ready for payout')
    .addOption(new Option('--status <status>', 'an inactive one is not paid').choices(['active', 'inactive']))
    .option('--minimums <list>', "its own minimums, such as usd=50.00,eur=45.00; none = the account's")
    .option('--json', 'print the record (Affiliate)');
}

function addCreate(affiliates: Command, cli: Cli): void {
  withFields(
    affiliates
      .command('create')
      .description('make an affiliate')
      .requiredOption('--email <email>', 'the e-mail address')
      .option('--external-id <id>', 'an id of yours'),
    '',
  )
    .addHelpText(
      'after',
      `
Example:
  $ payhook affiliates create --email ada@example.com --name-first Ada --name-last Lovelace \\
      --payout-method paypal --paypal-email pay@example.com
`,
    )
    .action((options: AffiliateFields & { email: string }) => cli.run(() => create(cli, options)));
}

function addChange(affiliates: Command, cli: Cli): void {
  withFields(
    affiliates
      .command('change')
      .description('change the given fields of an affiliate; an empty text clears')
      .argument('<affiliate>', AFFILIATE_HELP)
      .option('--email <email>', 'the e-mail address')
      .option('--external-id <id>', 'an id of yours'),
  )
    .addHelpText(
      'after',
      `
A new name or destination shows in the unpaid payout at once and raises its revision.

Examples:
  $ payhook affiliates change 7 --payout-method wise --paypal-email ""
  $ payhook affiliates change ada@example.com --status inactive
`,
    )
    .action((reference: string, options: AffiliateFields) => cli.run(() => change(cli, reference, options)));
}

function addPut(affiliates: Command, cli: Cli): void {
  withFields(
    affiliates
      .command('put')
      .description('create the affiliate with this external_id, or change the given fields if it exists')
      .argument('<external-id>', 'an id of yours')
      .option('--email <email>', 'the e-mail address; a new affiliate needs it'),
  )
    .addHelpText(
      'after',
      `
An empty text clears, as it does with change.

Example:
  $ payhook affiliates put partner-7 --email zoe@example.com --metadata crm=lead-311
`,
    )
    .action((externalId: string, options: AffiliateFields) => cli.run(() => put(cli, externalId, options)));
}

/** The fields as the API takes them; an empty text is null. */
function fieldsOf(options: AffiliateFields): ChangeAffiliateBody {
  const {
    externalId,
    nameFirst,
    nameLast,
    paypalEmail,
    payoutMethod,
    legalType,
    ready,
    minimums,
    metadata,
    ...same
  } = options;
  const orNull = (text: string | undefined) => (text === '' ? null : text);
  const given = minimums === undefined ? undefined : readMinimums('--minimums', minimums);
  return {
    ...same,
    slug: orNull(same.slug),
    country: orNull(same.country),
    external_id: orNull(externalId),
    name_first: orNull(nameFirst),
    name_last: orNull(nameLast),
    paypal_email: orNull(paypalEmail),
    payout_method: payoutMethod === 'none' ? null : payoutMethod,
    legal_type: legalType === 'none' ? null : legalType,
    is_ready_for_payout: ready,
    metadata: readMetadata(metadata),
    minimum_payout: given && Object.keys(given).length === 0 ? null : given,
  };
}

async function listAffiliates({ terminal, account }: Cli, options: AffiliateFilters): Promise<undefined> {
  const { externalId, program, payoutMethod, ready, destination, balanceCurrency, ...rest } = options;
  const isYes = (answer: 'yes' | 'no' | undefined) => (answer === undefined ? undefined : answer === 'yes');
  const page = await withClient({ terminal, account: account() }, async (client) =>
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
  const affiliate = await withClient({ terminal, account: account() }, async (client) =>
    client.affiliates.get(await findAffiliate(client, reference)),
  );
  terminal.result(affiliate, () => describeAffiliate(affiliate, terminal));
}

async function create(
  { terminal, account }: Cli,
  options: AffiliateFields & { email: string },
): Promise<undefined> {
  const fields = fieldsOf(options);
  const made = await withClient({ terminal, account: account() }, (client) =>
    client.affiliates.create({ ...fields, email: options.email }),
  );
  terminal.result(made, () => describeAffiliate(made, terminal));
}

async function put(
  { terminal, account }: Cli,
  externalId: string,
  options: AffiliateFields,
): Promise<undefined> {
  const { external_id: _, ...fields } = fieldsOf(options);
  const stored = await withClient({ terminal, account: account() }, (client) =>
    client.affiliates.putByExternalId(externalId, fields),
  );
  terminal.result(stored, () => describeAffiliate(stored, terminal));
}

async function change(
  { terminal, account }: Cli,
  reference: string,
  options: AffiliateFields,
): Promise<undefined> {
  const fields = fieldsOf(options);
  if (Object.values(fields).every((value) => value === undefined)) {
    throw new UsageError('say what to change: payhook affiliates change --help lists it');
  }
  const changed = await withClient({ terminal, account: account() }, async (client) =>
    client.affiliates.change(await findAffiliate(client, reference), fields),
  );
  terminal.result(changed, () => describeAffiliate(changed, terminal));
}
