import { type Command, Option } from 'commander';
import type { Account, ChangeAccountBody } from '../../client/client.ts';
import { SIGNAL_RULE_NAMES, SIGNAL_RULES } from '../../terms/payout-signals.ts';
import { describeMinimums, readCurrency, readMinimums } from '../command/amounts.ts';
import type { Cli } from '../command/cli.ts';
import { UsageError } from '../command/errors.ts';
import { readJsonOption } from '../command/json-option.ts';
import { readDestinationWait, readHoldDays, readInteger } from '../command/numbers.ts';
import { withClient } from '../command/session.ts';
import { factLines } from '../terminal/facts.ts';
import { count, decimal } from '../terminal/money.ts';
import { printable } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { exactTime } from '../terminal/time.ts';

interface Settings {
  readonly name?: string;
  readonly currency?: string;
  readonly holdDays?: string;
  readonly minimums?: string;
  readonly timeZone?: string;
  readonly paypalLimit?: string;
  readonly portalOrigins?: string;
  readonly eventOwner?: 'optional' | 'required';
  readonly eventValidation?: 'off' | 'warn' | 'refuse';
  readonly endpointsPerOwner?: string;
  readonly approval?: 'none' | 'second_person';
  readonly destinationWait?: string;
  readonly stateThresholds?: string;
  readonly payoutForm?: 'none' | 'at_threshold' | 'always';
  readonly backupWithholding?: Account['backup_withholding'];
  readonly commissionsAre?: 'gross' | 'net';
  readonly signals?: string;
  readonly debtor?: string;
  readonly originator?: string;
  readonly taxProfile?: string;
  readonly invoicing?: string;
  readonly affiliateNotices?: string;
  readonly contactNotices?: string;
}

const HELP = `
A new hold applies to new commissions only, new minimums from the next payout on. --minimums replaces all of them: other currencies
have no minimum. Days in filters, files and reports are days in --time-zone; times are shown in UTC. With --approval second_person,
a payout is paid only after someone who did not create or change it has approved it in the dashboard. A key cannot turn this off,
and while it is on, a key cannot invite users, raise roles or create password links. Payment files warn of payments above
--paypal-limit, which PayPal may refuse.

--debtor is the account that SEPA files pay from: {"name", "iban"} and, if your bank requires them, "bic", "message"
(pain.001.001.03), "rows_per_file" and "is_instant". --originator is the sender of NACHA files, as assigned by the bank: {"immediate_destination",
"immediate_destination_name", "immediate_origin", "immediate_origin_name", "company_name", "company_id"} and, if required,
"originating_dfi", "entry_description" (businesses), "person_entry_description" (persons), "discretionary_data" and "rows_per_file". --tax-profile is your company on invoices and
reports: {"legal_name", "country", "address": {"line1", "city"}} and optionally "vat_id", "tax_number", "siren", "electronic_address", and in the address "line2",
"postal_code", "region". --invoicing is how self-billed invoices are numbered and taxed: {"rules": [{"country", "legal_type",
"has_vat_id", "category", "rate", "exemption"}]} and "prefix", if numbers do not begin with SB-.
--signals are rules with "action" (off, warn, block) and limits in minor units: {"first_payout_above": {"action": "block", "amounts": {"usd":
100000}}}. It replaces all rules; the guide has them.
--affiliate-notices are the e-mails that affiliates get: {"kinds": ["paid", "returned", "destination_changed", "form_lapsing", "agreement_ending"]} and
optionally "language" (en, de, fr, es) and "reply_to". --contact-notices are those to --contact-email of webhook endpoints, optionally with
"portal_url" (your page with their portal), "language" and "reply_to".

Examples:
  $ payhook account change --hold-days 30 --minimums usd=50.00,eur=45.00
  $ payhook account change --minimums none
  $ payhook account change --time-zone Europe/Berlin
  $ payhook account change --paypal-limit usd=60000.00
  $ payhook account change --debtor '{"name": "Shop Ltd", "iban": "DE02 1203 0000 0000 2020 51"}'
  $ payhook account change --portal-origins https://shop.example.com
  $ payhook account change --event-owner required --endpoints-per-owner 5
  $ payhook account change --event-validation warn
  $ payhook account change --approval second_person
  $ payhook account change --destination-wait 48
  $ payhook account change --payout-form at_threshold --state-thresholds '{"CA": 60000}'
  $ payhook account change --signals '{"destination_changed": {"action": "block"}}'
  $ payhook account change --affiliate-notices '{"kinds": ["paid", "returned"], "reply_to": "pay@shop.example"}'
  $ payhook account change --contact-notices '{"portal_url": "https://shop.example.com/webhooks"}'
`;

const choice = (flags: string, meaning: string, values: readonly string[]) =>
  new Option(flags, meaning).choices(values);

/** `payhook account show|change`. */
export function addAccount(group: Command, cli: Cli): void {
  group
    .command('show')
    .description('show the account and its settings')
    .option('--json', 'print the record (Account)')
    .action(() => cli.run(() => show(cli)));
  group
    .command('change')
    .description('change the given settings')
    .option('--name <name>', 'the name')
    .option('--currency <currency>', 'the currency of commissions without one')
    .option('--hold-days <days>', 'how long new commissions are on hold')
    .option('--minimums <list>', 'minimum payouts by currency; none = no minimums')
    .option('--time-zone <name>', 'the time zone of days, such as Europe/Berlin')
    .option('--paypal-limit <list>', 'the largest PayPal payment, by currency; none = no limit')
    .option(
      '--portal-origins <list>',
      'origins of your pages that may show a portal in a frame, separated by commas; none removes them',
    )
    .addOption(
      choice('--event-owner <rule>', 'whether events that you publish must name an owner', [
        'optional',
        'required',
      ]),
    )
    .addOption(
      choice('--event-validation <rule>', 'what happens to an event that violates the schema of its type', [
        'off',
        'warn',
        'refuse',
      ]),
    )
    .option('--endpoints-per-owner <number>', 'the most webhook endpoints of an owner; none = the default')
    .addOption(
      choice('--approval <rule>', 'whether a second person approves payouts', ['none', 'second_person']),
    )
    .option(
      '--destination-wait <hours>',
      'how long payment files leave out affiliates whose destination changed; 0 = not at all',
    )
    .addOption(choice('--commissions-are <what>', 'gross, or net with the tax paid on top', ['gross', 'net']))
    .addOption(
      choice('--payout-form <rule>', 'who needs a valid W-9 or W-8 to be paid', [
        'none',
        'at_threshold',
        'always',
      ]),
    )
    .addOption(
      choice(
        '--backup-withholding <rule>',
        'whether 24 % are withheld from affiliates in the United States without a W-9 and a US tax id',
        ['none', 'at_threshold', 'always'],
      ),
    )
    .option(
      '--state-thresholds <json>',
      'from which sum of a year you report to a state, in cents, as a JSON object (null: not at all); none = as built in',
    )
    .option(
      '--signals <json>',
      'what is looked for in payouts because it may point to fraud, as a JSON object; none = as built in',
    )
    .option('--debtor <json>', 'the account that SEPA files pay from, as a JSON object; none removes it')
    .option('--originator <json>', 'the sender of NACHA files, as a JSON object; none removes it')
    .option('--tax-profile <json>', 'your company on invoices and reports, as a JSON object; none removes it')
    .option(
      '--invoicing <json>',
      'the numbering and tax rules of invoices, as a JSON object; none removes them',
    )
    .option(
      '--affiliate-notices <json>',
      'the e-mails that affiliates get, as a JSON object; none = no e-mails',
    )
    .option(
      '--contact-notices <json>',
      'the e-mails that contacts of webhook endpoints get, as a JSON object; none = no e-mails',
    )
    .option('--json', 'print the record (Account)')
    .addHelpText('after', HELP)
    .action((settings: Settings) => cli.run(() => change(cli, settings)));
}

async function show({ terminal, account }: Cli): Promise<undefined> {
  const found = await withClient({ terminal, account }, (client) => client.account.get());
  terminal.result(found, () => describe(found, terminal));
}

async function change({ terminal, account }: Cli, settings: Settings): Promise<undefined> {
  const changes = readSettings(settings);
  const changed = await withClient({ terminal, account }, (client) => client.account.change(changes));
  terminal.result(changed, () => describe(changed, terminal));
}

function readSettings(settings: Settings): ChangeAccountBody {
  const { name, currency, holdDays, minimums, timeZone, paypalLimit, portalOrigins, approval } = settings;
  const { destinationWait, debtor, originator, taxProfile, invoicing, eventOwner, endpointsPerOwner } =
    settings;
  if (Object.values({ ...settings, json: undefined }).every((setting) => setting === undefined)) {
    throw new UsageError('nothing to change: payhook account change --help lists the options');
  }
  return {
    name,
    default_currency: currency === undefined ? undefined : readCurrency('--currency', currency),
    hold_days: holdDays === undefined ? undefined : readHoldDays(holdDays),
    minimum_payout: minimums === undefined ? undefined : readMinimums('--minimums', minimums),
    time_zone: timeZone,
    paypal_payment_limit: paypalLimit === undefined ? undefined : readMinimums('--paypal-limit', paypalLimit),
    portal_origins: portalOrigins === 'none' ? [] : portalOrigins?.split(',').map((origin) => origin.trim()),
    event_owner: eventOwner,
    event_validation: settings.eventValidation,
    endpoints_per_owner: readMost(endpointsPerOwner),
    approval,
    destination_wait_hours: destinationWait === undefined ? undefined : readDestinationWait(destinationWait),
    payout_form: settings.payoutForm,
    backup_withholding: settings.backupWithholding,
    commissions_are: settings.commissionsAre,
    state_thresholds:
      readObject<Given<'state_thresholds'>>('--state-thresholds', settings.stateThresholds) ??
      (settings.stateThresholds === undefined ? undefined : {}),
    payout_signals:
      readObject<Given<'payout_signals'>>('--signals', settings.signals) ??
      (settings.signals === undefined ? undefined : {}),
    debtor: readObject<Given<'debtor'>>('--debtor', debtor),
    originator: readObject<Given<'originator'>>('--originator', originator),
    tax_profile: readObject<Given<'tax_profile'>>('--tax-profile', taxProfile),
    invoicing: readObject<Given<'invoicing'>>('--invoicing', invoicing),
    affiliate_notices: readObject<Given<'affiliate_notices'>>(
      '--affiliate-notices',
      settings.affiliateNotices,
    ),
    contact_notices: readObject<Given<'contact_notices'>>('--contact-notices', settings.contactNotices),
  };
}

/** A number, or `none`. */
function readMost(text: string | undefined): number | null | undefined {
  if (text === undefined || text === 'none') return text === 'none' ? null : undefined;
  return readInteger('--endpoints-per-owner', text, { from: 1, to: 100_000 });
}

type Given<Field extends keyof ChangeAccountBody> = NonNullable<ChangeAccountBody[Field]>;

/** A setting that is a JSON object or `none`; the server validates its fields. */
function readObject<Value>(option: string, text: string | undefined): Value | null | undefined {
  if (text === undefined) return undefined;
  return text === 'none' ? null : (readJsonOption(option, text).value as Value);
}

const FORM_RULES: Readonly<Record<Account['payout_form'], string>> = {
  none: 'not needed',
  at_threshold: 'from the threshold of Form 1099-NEC on',
  always: 'always',
};

const COMMISSIONS_ARE: Readonly<Record<Account['commissions_are'], string>> = {
  gross: 'gross: they include the tax',
  net: 'net: the tax is paid on top',
};

const describeStates = (thresholds: Account['state_thresholds']): string =>
  Object.entries(thresholds)
    .map(
      ([state, cents]) =>
        `${state} ${cents === null ? 'none' : `from ${decimal({ amount: cents, currency: 'usd' })} USD`}`,
    )
    .join(', ') || 'by the built-in table';

const describeSignalRules = ({ payout_signals: rules }: Account): string =>
  SIGNAL_RULE_NAMES.map((name) => `${SIGNAL_RULES[name].label}: ${rules[name].action}`).join(', ');

function describe(account: Account, { paint }: Terminal): string {
  const facts = factLines([
    ['Currency', account.default_currency.toUpperCase()],
    ['Hold', count(account.hold_days, 'day')],
    ['Minimums', describeMinimums(account.minimum_payout) ?? 'none'],
    ['Time zone', account.time_zone],
    ['PayPal limit', describeMinimums(account.paypal_payment_limit) ?? 'none'],
    ['Portal origins', account.portal_origins.map(printable).join(', ') || 'none'],
    ['Event owner', account.event_owner],
    ['Event validation', account.event_validation],
    ['Endpoints per owner', String(account.endpoints_per_owner ?? 'not limited, ten in a portal')],
    ['Approval', account.approval === 'none' ? 'none' : 'by a second person'],
    [
      'Changed destinations',
      account.destination_wait_hours === 0
        ? 'paid at once'
        : `paid after ${count(account.destination_wait_hours, 'hour')}`,
    ],
    ['Tax form to be paid', FORM_RULES[account.payout_form]],
    ['Backup withholding', FORM_RULES[account.backup_withholding]],
    ['Commissions are', COMMISSIONS_ARE[account.commissions_are]],
    ['Reports to states', describeStates(account.state_thresholds)],
    ['Signals', describeSignalRules(account)],
    [
      'SEPA debtor',
      account.debtor === null ? 'none' : `${printable(account.debtor.name)}, ${account.debtor.iban}`,
    ],
    [
      'NACHA originator',
      account.originator === null
        ? 'none'
        : `${printable(account.originator.company_name)}, ${account.originator.company_id}`,
    ],
    ['Tax profile', account.tax_profile === null ? 'none' : printable(account.tax_profile.legal_name)],
    [
      'Invoicing',
      account.invoicing === null
        ? 'none'
        : `${account.invoicing.prefix}…, ${count(account.invoicing.rules.length, 'tax rule')}`,
    ],
    ['E-mails to affiliates', account.affiliate_notices?.kinds.join(', ') ?? 'none'],
    ['E-mails to contacts', contactsOf(account.contact_notices)],
    ['Created', `${exactTime(account.created_at)} (UTC)`],
  ]);
  return `${paint.strong(printable(account.name))}  ${account.id}\n${facts}`;
}

function contactsOf(settings: Account['contact_notices']): string {
  if (settings === null) return 'none';
  return settings.portal_url === null ? 'on' : `on, with ${printable(settings.portal_url)}`;
}
