import type { Command } from 'commander';
import type { AffiliateDestination, PutAffiliateDestinationBody } from '../../client/client.ts';
import { DESTINATION_FIELDS } from '../../client/fields.ts';
import { readCurrency } from '../command/amounts.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { CommandError } from '../command/errors.ts';
import { readFields, withFields } from '../command/record-fields.ts';
import { withClient } from '../command/session.ts';
import { AFFILIATE_HELP, findAffiliate } from '../finders/affiliate.ts';
import { printable, table } from '../terminal/table.ts';
import { exactTime } from '../terminal/time.ts';

const HELP = `
sepa needs --account-holder and --iban; ach needs --account-holder, --routing-number, --account-number and --account-type. A
destination is used instead of the affiliate's payout method, and a destination for a currency instead of the one for all. Numbers
are encrypted; only their last four characters are shown. Raises the revision of an unpaid payout that contains the affiliate.

Examples:
  $ payhook affiliates destination set 7 --type sepa --account-holder "Ada Lovelace" --iban "DE89 3704 0044 0532 0130 00"
  $ payhook affiliates destination set ada@example.com --type other --currency usd
`;

/** `payhook affiliates destination set|show|use-name|remove`. */
export function addDestination(affiliates: Command, cli: Cli): void {
  const group = affiliates.command('destination').description('where an affiliate is paid');
  const set = group
    .command('set')
    .description('set where an affiliate is paid, for all currencies or one')
    .argument('<affiliate>', AFFILIATE_HELP);
  withFields(set, DESTINATION_FIELDS, { isNew: true })
    .option('--json', 'print the record (AffiliateDestination)')
    .addHelpText('after', HELP)
    .action((reference: string, options: object) => cli.run(() => setDestination(cli, reference, options)));
  group
    .command('show')
    .description('show where an affiliate is paid')
    .argument('<affiliate>', AFFILIATE_HELP)
    .option('--json', 'print the record (AffiliateDestinations)')
    .addHelpText('after', '\nExample:\n  $ payhook affiliates destination show 7\n')
    .action((reference: string) => cli.run(() => show(cli, reference)));
  group
    .command('use-name')
    .description("make the name that the affiliate's bank has the account holder")
    .argument('<affiliate>', AFFILIATE_HELP)
    .option('--currency <currency>', 'the destination for this currency; default the one for all')
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print the record (AffiliateDestination)')
    .addHelpText(
      'after',
      '\nThe bank gives its name for a close match: payhook payouts results reads its report.\n' +
        '\nExample:\n  $ payhook affiliates destination use-name 7 --yes\n',
    )
    .action((reference: string, options: { currency?: string; yes?: boolean }) =>
      cli.run(() => useName(cli, reference, options)),
    );
  group
    .command('remove')
    .description('remove a destination; the affiliate is then paid to the other one, or by the payout method')
    .argument('<affiliate>', AFFILIATE_HELP)
    .option('--currency <currency>', 'the destination for this currency; default the one for all')
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print {affiliate_id, currency, deleted}')
    .addHelpText(
      'after',
      '\nExamples:\n  $ payhook affiliates destination remove 7 --yes\n' +
        '  $ payhook affiliates destination remove 7 --currency eur --yes\n',
    )
    .action((reference: string, options: { currency?: string; yes?: boolean }) =>
      cli.run(() => remove(cli, reference, options)),
    );
}

const codeOf = (text: string | undefined) =>
  text === undefined ? undefined : readCurrency('--currency', text);

async function setDestination(
  { terminal, account }: Cli,
  reference: string,
  options: object,
): Promise<undefined> {
  const body = readFields(DESTINATION_FIELDS, options) as unknown as PutAffiliateDestinationBody;
  const made = await withClient({ terminal, account }, async (client) =>
    client.affiliates.putDestination(await findAffiliate(client, reference), body),
  );
  terminal.result(made, () => describe([made], terminal.paint.faint));
  for (const remark of remarksOn(made)) terminal.note(remark);
}

async function show({ terminal, account }: Cli, reference: string): Promise<undefined> {
  const found = await withClient({ terminal, account }, async (client) =>
    client.affiliates.destinations(await findAffiliate(client, reference)),
  );
  terminal.result(found, () =>
    found.destinations.length === 0
      ? "No destination: paid by the affiliate's payout method.\n"
      : describe(found.destinations, terminal.paint.faint),
  );
}

async function useName(
  { terminal, account }: Cli,
  reference: string,
  { currency, yes }: { currency?: string; yes?: boolean },
): Promise<undefined> {
  requireYes(terminal, yes);
  const code = codeOf(currency);
  const made = await withClient({ terminal, account }, async (client) => {
    const id = await findAffiliate(client, reference);
    const { destinations } = await client.affiliates.destinations(id);
    const found = destinations.find((each) => each.currency === (code ?? null));
    const name = found?.verification?.bank_name ?? null;
    if (found === undefined || name === null)
      throw new CommandError(`the bank has given no name for this destination of affiliate ${id}`, {
        code: 'conflict',
        reason: 'no_verified_name',
      });
    await confirm(
      terminal,
      `Change the account holder of affiliate ${id} from "${found.account_holder}" to "${name}"?`,
      yes,
    );
    return client.affiliates.useVerifiedName(id, { name, ...(code === undefined ? {} : { currency: code }) });
  });
  terminal.result(made, () => describe([made], terminal.paint.faint));
  for (const remark of remarksOn(made)) terminal.note(remark);
}

async function remove(
  { terminal, account }: Cli,
  reference: string,
  { currency, yes }: { currency?: string; yes?: boolean },
): Promise<undefined> {
  requireYes(terminal, yes);
  const code = codeOf(currency);
  const which = code === undefined ? 'for all currencies' : `for ${code.toUpperCase()}`;
  const id = await withClient({ terminal, account }, async (client) => {
    const found = await findAffiliate(client, reference);
    await confirm(terminal, `Remove the destination ${which} of affiliate ${found}?`, yes);
    await client.affiliates.removeDestination(found, { currency: code });
    return found;
  });
  const removed = { affiliate_id: id, currency: code ?? null, deleted: true };
  terminal.result(removed, () => `Removed the destination ${which} of affiliate ${id}.\n`);
}

function describe(all: readonly AffiliateDestination[], faint: (text: string) => string): string {
  return table(
    ['CURRENCY', 'TYPE', 'ACCOUNT', 'HOLDER'].map((heading) => ({ heading })),
    all.map(({ currency, type, country, last_four, account_holder, bic, routing_number, account_type }) => [
      currency?.toUpperCase() ?? 'all',
      type,
      [last_four && `${country ?? ''}…${last_four}`, bic, routing_number, account_type]
        .filter(Boolean)
        .join(' '),
      printable(account_holder ?? ''),
    ]),
    faint,
  );
}

/** Remarks on a new destination: a name that banks spell differently, an account shared with another affiliate. */
function remarksOn({
  account_holder,
  holder_in_files,
  shared_with,
  waits_until,
}: AffiliateDestination): string[] {
  const remarks: string[] = [];
  if (account_holder !== holder_in_files) {
    remarks.push(
      `In payment files the holder is "${printable(holder_in_files ?? '')}". If the affiliate's bank spells the name differently, enter its spelling.`,
    );
  }
  if (shared_with.length > 0) {
    remarks.push(`The same account also belongs to affiliate ${shared_with.join(', ')}.`);
  }
  if (waits_until !== null)
    remarks.push(`Changed recently: not in payment files before ${exactTime(waits_until)} (UTC).`);
  return remarks;
}
