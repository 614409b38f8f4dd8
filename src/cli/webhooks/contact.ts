import type { Command } from 'commander';
import type { WebhookEndpoint } from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { ENDPOINT_HELP } from '../finders/endpoint.ts';
import { printable } from '../terminal/table.ts';
import { withEndpoint } from './recover.ts';

const STATES: Readonly<Record<WebhookEndpoint['contact_status'], string>> = {
  off: 'gets nothing: switch it on with payhook account change --contact-notices, and SMTP_URL of the server',
  none: 'none',
  unsent: 'was sent no link yet: payhook webhooks confirm-contact',
  waiting: 'was sent a link that confirms it',
  expired: 'did not open the link within 7 days: payhook webhooks confirm-contact',
  confirmed: 'confirmed',
};

/** Whether the contact of an endpoint is notified, in words; null = it has none. */
export const contactState = ({ contact_email, contact_status }: WebhookEndpoint): string | null =>
  contact_email === null ? null : STATES[contact_status];

/** `payhook webhooks confirm-contact`. */
export function addConfirmContact(webhooks: Command, cli: Cli): void {
  webhooks
    .command('confirm-contact')
    .description('send the link that confirms --contact-email of an endpoint again')
    .argument('<endpoint>', ENDPOINT_HELP)
    .option('--json', 'print the record (WebhookEndpoint)')
    .addHelpText(
      'after',
      '\nExample:\n  $ payhook webhooks confirm-contact https://shop.example.com/payhook\n',
    )
    .action((reference: string) =>
      cli.run(async () => {
        const endpoint = await withEndpoint(cli, reference, (client, id) =>
          client.webhookEndpoints.confirmContact(id),
        );
        const to = printable(endpoint.contact_email ?? '');
        cli.terminal.result(endpoint, () => `A link is on its way to ${to}.\n`);
      }),
    );
}
