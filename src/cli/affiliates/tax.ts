import type { Command } from 'commander';
import type { AffiliateTaxProfile, PutAffiliateTaxProfileBody } from '../../client/client.ts';
import { TAX_PROFILE_FIELDS } from '../../client/fields.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { readFields, withFields } from '../command/record-fields.ts';
import { withClient } from '../command/session.ts';
import { AFFILIATE_HELP, findAffiliate } from '../finders/affiliate.ts';
import { factLines } from '../terminal/facts.ts';
import { printable } from '../terminal/table.ts';

const HELP = `
Replaces the whole tax profile, except the tax id: without --tax-id it stays, because it is encrypted and cannot be read back.
--tax-id none removes it. US numbers are checked for their format, VAT ids also for their check digits. --form needs --signed-on.
--self-billing-on and --self-billing-by record that the affiliate agreed to self-billing: you write their invoices, until
--self-billing-until if the agreement ends.

Examples:
  $ payhook affiliates tax set 7 --legal-type person --legal-name "Ada Lovelace" --country US --line1 "1 Main St" \\
      --city Boston --region MA --postal-code 02108 --tax-id-type us_ssn --tax-id 536-90-4399 --form w9 --signed-on 2026-01-15
  $ payhook affiliates tax set ada@example.com --legal-type business --legal-name "Ada GmbH" --country DE --line1 "Hauptstr. 1" \\
      --city Berlin --postal-code 10115 --tax-id-type vat --tax-id DE136695976 --form vat_registration --signed-on 2026-01-15 \\
      --self-billing-on 2026-01-15 --self-billing-by "Ada Lovelace"
`;

/** `payhook affiliates tax set|show|remove`. */
export function addTaxProfile(affiliates: Command, cli: Cli): void {
  const group = affiliates.command('tax').description('the tax profile of an affiliate');
  const setting = group
    .command('set')
    .description('set the tax profile of an affiliate')
    .argument('<affiliate>', AFFILIATE_HELP);
  withFields(setting, TAX_PROFILE_FIELDS, { isNew: true })
    .option('--json', 'print the record (AffiliateTaxProfile)')
    .addHelpText('after', HELP)
    .action((reference: string, options: object) => cli.run(() => set(cli, reference, options)));
  group
    .command('show')
    .description('show the tax profile of an affiliate')
    .argument('<affiliate>', AFFILIATE_HELP)
    .option('--json', 'print the record (AffiliateTaxProfile)')
    .addHelpText('after', '\nExample:\n  $ payhook affiliates tax show 7\n')
    .action((reference: string) => cli.run(() => show(cli, reference)));
  group
    .command('remove')
    .description('remove the tax profile of an affiliate')
    .argument('<affiliate>', AFFILIATE_HELP)
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print {affiliate_id, deleted}')
    .addHelpText('after', '\nExample:\n  $ payhook affiliates tax remove 7 --yes\n')
    .action((reference: string, { yes }: { yes?: boolean }) => cli.run(() => remove(cli, reference, yes)));
}

async function set({ terminal, account }: Cli, reference: string, options: object): Promise<undefined> {
  const body = readFields(TAX_PROFILE_FIELDS, options) as unknown as PutAffiliateTaxProfileBody;
  const made = await withClient({ terminal, account }, async (client) =>
    client.affiliates.putTaxProfile(await findAffiliate(client, reference), body),
  );
  terminal.result(made, () => describe(made));
  const shared = made.tax_id?.shared_with ?? [];
  if (shared.length > 0) terminal.note(`Affiliate ${shared.join(', ')} has the same tax id.`);
}

async function show({ terminal, account }: Cli, reference: string): Promise<undefined> {
  const found = await withClient({ terminal, account }, async (client) =>
    client.affiliates.taxProfile(await findAffiliate(client, reference)),
  );
  terminal.result(found, () => describe(found));
}

async function remove({ terminal, account }: Cli, reference: string, yes?: boolean): Promise<undefined> {
  requireYes(terminal, yes);
  const id = await withClient({ terminal, account }, async (client) => {
    const found = await findAffiliate(client, reference);
    await confirm(terminal, `Remove the tax profile of affiliate ${found}?`, yes);
    await client.affiliates.removeTaxProfile(found);
    return found;
  });
  terminal.result({ affiliate_id: id, deleted: true }, () => `Removed the tax profile of affiliate ${id}.\n`);
}

function describe({
  legal_type,
  legal_name,
  country,
  address,
  tax_id,
  siren,
  electronic_address,
  form,
  self_billing,
}: AffiliateTaxProfile): string {
  const { line1, line2, postal_code, city, region } = address;
  const parts = [line1, line2, city, region, postal_code, country].filter((part) => part !== null);
  return factLines([
    ['Legal name', `${printable(legal_name)} (${legal_type})`],
    ['Address', printable(parts.join(', '))],
    [
      'Tax id',
      tax_id === null
        ? 'none'
        : tax_id.is_lost
          ? 'lost with the secret key'
          : `${tax_id.type} …${tax_id.ending}`,
    ],
    ['SIREN', siren],
    ['Electronic address', electronic_address],
    ['Form', form === null ? 'none' : formText(form)],
    ['Self-billing', self_billing === null ? 'not agreed' : agreementText(self_billing)],
  ]);
}

function agreementText({
  agreed_on,
  expires_on,
  agreed_by,
  document,
}: NonNullable<AffiliateTaxProfile['self_billing']>): string {
  const until = expires_on === null ? '' : `, until ${expires_on}`;
  return `agreed on ${agreed_on} by ${printable(agreed_by)}${until}${keptAt(document)}`;
}

function formText({
  type,
  signed_on,
  valid_until,
  document,
}: NonNullable<AffiliateTaxProfile['form']>): string {
  const until = valid_until === null ? '' : `, valid until ${valid_until}`;
  return `${type}, signed on ${signed_on}${until}${keptAt(document)}`;
}

const keptAt = (document: string | null) => (document === null ? '' : `, document: ${printable(document)}`);
