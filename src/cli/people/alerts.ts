import { type Command, Option } from 'commander';
import type {
  AlertChannel,
  AlertKind,
  AlertSettings,
  ListAlertChannelsQuery,
  NewAlertChannel,
} from '../../client/client.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { SECRET_HELP, secretReader } from '../command/secret-option.ts';
import { withClient } from '../command/session.ts';
import { findUser } from '../finders/user.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { shortTime } from '../terminal/time.ts';

const USER = 'the user: id (usr_…) or e-mail address';
const CHANNEL = 'its id (alc_…)';
const KINDS = 'kinds, separated by commas, as listed by payhook alerts show';

/** `payhook alerts show|choose|test|channels|add-channel|test-channel|remove-channel`. */
export function addAlerts(alerts: Command, cli: Cli): void {
  alerts
    .command('show')
    .description('show every kind of alert, and the ones a user gets by e-mail')
    .argument('<user>', USER)
    .option('--json', 'print the record (AlertSettings)')
    .addHelpText('after', '\nExample:\n  $ payhook alerts show ada@example.com\n')
    .action((user: string) => cli.run(() => show(cli, user)));
  alerts
    .command('choose')
    .description('choose the alerts a user gets by e-mail')
    .argument('<user>', USER)
    .requiredOption('--kinds <kinds>', `${KINDS}; or none; or default, the alerts of the role`)
    .option('--json', 'print the record (AlertSettings)')
    .addHelpText(
      'after',
      '\nExample:\n  $ payhook alerts choose ada@example.com --kinds endpoint_disabled,payout_waiting\n',
    )
    .action((user: string, { kinds }: { kinds: string }) => cli.run(() => choose(cli, user, kinds)));
  alerts
    .command('test')
    .description('send a test e-mail to a user')
    .argument('<user>', USER)
    .option('--json', 'print the record (AlertTest)')
    .addHelpText('after', '\nExample:\n  $ payhook alerts test ada@example.com\n')
    .action((user: string) => cli.run(() => testUser(cli, user)));
  addChannels(alerts, cli);
}

function addChannels(alerts: Command, cli: Cli): void {
  withPages(alerts.command('channels').description('list alert channels, newest first'), {
    nouns: 'channels',
    sort: 'id, created_at, name',
  })
    .option('--json', 'print the page (a list of AlertChannel)')
    .action((options: ListOptions) => cli.run(() => list(cli, queryOf<ListAlertChannelsQuery>(options))));
  alerts
    .command('add-channel')
    .description('send alerts to a webhook or a Slack channel')
    .argument(
      '<url>',
      'the URL that receives messages by POST, as @file or - (standard input); it is stored encrypted',
    )
    .requiredOption('--name <name>', 'your name for it')
    .addOption(
      new Option('--format <format>', 'the format of messages')
        .choices(['webhook', 'slack'])
        .makeOptionMandatory(),
    )
    .option('--kinds <kinds>', `${KINDS}; default: everything`)
    .option('--json', 'print the record with its secret (NewAlertChannel)')
    .addHelpText(
      'after',
      `\nExample:\n  $ payhook alerts add-channel @slack-url --name ops --format slack\n${SECRET_HELP}\n`,
    )
    .action((url: string, options: ChannelOptions) => cli.run(() => add(cli, url, options)));
  alerts
    .command('test-channel')
    .description('send a test to a channel')
    .argument('<channel>', CHANNEL)
    .option('--json', 'print the record (AlertTest)')
    .addHelpText(
      'after',
      '\nExample:\n  $ payhook alerts test-channel alc_0192f8e5c7a7b3e9d0192f8e5c7a7b3e\n',
    )
    .action((id: string) => cli.run(() => testChannel(cli, id)));
  alerts
    .command('remove-channel')
    .description('delete a channel, which then receives no more alerts')
    .argument('<channel>', CHANNEL)
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print {id, object, deleted}')
    .addHelpText(
      'after',
      '\nExample:\n  $ payhook alerts remove-channel alc_0192f8e5c7a7b3e9d0192f8e5c7a7b3e\n',
    )
    .action((id: string, { yes }: { yes?: boolean }) => cli.run(() => remove(cli, id, yes)));
}

interface ChannelOptions {
  readonly name: string;
  readonly format: AlertChannel['format'];
  readonly kinds?: string;
}

// the server refuses unknown kinds, and lists the known ones
const kindsFrom = (text: string) =>
  (text === 'none' ? [] : text.split(',').map((kind) => kind.trim())) as AlertKind[];

async function show({ terminal, account }: Cli, wanted: string): Promise<undefined> {
  const settings = await withClient({ terminal, account }, async (client) =>
    client.alerts.get({ user_id: await findUser(client, wanted) }),
  );
  terminal.result(settings, () => describe(settings, terminal));
}

async function choose({ terminal, account }: Cli, wanted: string, text: string): Promise<undefined> {
  const kinds = text === 'default' ? null : kindsFrom(text);
  const settings = await withClient({ terminal, account }, async (client) =>
    client.alerts.set({ kinds }, { user_id: await findUser(client, wanted) }),
  );
  terminal.result(settings, () => describe(settings, terminal));
}

function describe({ email, alerts, is_email_sent, last_error }: AlertSettings, { paint }: Terminal): string {
  const rows = alerts.map(({ kind, by_email, meaning }) => [kind, by_email ? 'yes' : '', meaning]);
  const list = table(
    ['ALERT', 'E-MAIL', 'WHEN'].map((heading) => ({ heading })),
    rows,
    paint.faint,
  );
  const error = last_error === null ? '' : `The last e-mail could not be sent: ${printable(last_error)}\n`;
  const off = is_email_sent ? '' : 'This server sends no e-mail: SMTP_URL is not set.\n';
  return `${list}To ${printable(email)}.\n${off}${error}`;
}

async function testUser({ terminal, account }: Cli, wanted: string): Promise<undefined> {
  const sent = await withClient({ terminal, account }, async (client) =>
    client.alerts.test({ user_id: await findUser(client, wanted) }),
  );
  terminal.result(sent, () => 'A test is on its way; payhook alerts show prints the result.\n');
}

async function list({ terminal, account }: Cli, query: ListAlertChannelsQuery): Promise<undefined> {
  const page = await withClient({ terminal, account }, (client) => client.alertChannels.list(query));
  terminal.result(page, () =>
    describePage(page, 'alert channel', (data) => channelTable(data, terminal), terminal),
  );
}

function channelTable(channels: readonly AlertChannel[], { paint }: Terminal): string {
  return table(
    ['ID', 'NAME', 'FORMAT', 'HOST', 'ALERTS', 'LAST SENT (UTC)', 'PROBLEM'].map((heading) => ({ heading })),
    channels.map(({ id, name, format, host, kinds, last_sent_at, last_error }) => [
      id,
      name,
      format,
      host,
      String(kinds.length),
      last_sent_at === null ? '' : shortTime(last_sent_at),
      last_error ?? '',
    ]),
    paint.faint,
  );
}

async function add(
  { terminal, account }: Cli,
  url: string,
  { name, format, kinds }: ChannelOptions,
): Promise<undefined> {
  const target = await secretReader().one('the URL', url);
  const made = await withClient({ terminal, account }, (client) =>
    client.alertChannels.create({
      url: target,
      name,
      format,
      kinds: kinds === undefined ? undefined : kindsFrom(kinds),
    }),
  );
  terminal.result(made, () => describeNew(made, terminal));
}

function describeNew({ id, name, secret }: NewAlertChannel, { paint }: Terminal): string {
  const signed =
    secret === null
      ? ''
      : `${paint.strong(secret)}\nThis secret signs the messages. It is shown only once.\n`;
  return `${signed}${printable(name)} (${id}) receives alerts from now on. To test it: payhook alerts test-channel ${id}\n`;
}

async function testChannel({ terminal, account }: Cli, id: string): Promise<undefined> {
  const sent = await withClient({ terminal, account }, (client) => client.alertChannels.test(id));
  terminal.result(sent, () => 'A test is on its way; payhook alerts channels prints the result.\n');
}

async function remove({ terminal, account }: Cli, id: string, yes?: boolean): Promise<undefined> {
  requireYes(terminal, yes);
  await withClient({ terminal, account }, async (client) => {
    await confirm(terminal, `Delete ${id}? It receives no more alerts.`, yes);
    await client.alertChannels.delete(id);
  });
  terminal.result({ id, object: 'alert_channel', deleted: true }, () => `Deleted ${id}.\n`);
}
