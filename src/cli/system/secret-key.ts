import type { Command } from 'commander';
import type { Losses } from '../../app/abandon-secret-key.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { withPlatform } from '../command/session.ts';
import { printable } from '../terminal/table.ts';

const ROTATE_HELP = `


Encrypts signing secrets and header values of webhook endpoints, and bank accounts and tax ids of affiliates, with a new key, in all
cells. Servers and workers keep running, and receivers are not affected. If it is interrupted, run it again to continue.

This command creates and replaces the key of a data folder. If you manage the key: set SECRET_KEY to the new one and
SECRET_KEY_PREVIOUS to the old one, restart every server and worker with both, one after another, run this command with both, and then
remove SECRET_KEY_PREVIOUS. Keep the old key with the backups of its time.

Examples:
  $ payhook secret-key rotate
  $ SECRET_KEY_FILE=/etc/payhook-new.key SECRET_KEY_PREVIOUS_FILE=/etc/payhook.key payhook secret-key rotate
`;

const ABANDON_HELP = `


For a permanently lost key: look in your backups first. Values that no available key decrypts are abandoned. Endpoints get new signing
secrets, and their custom headers are no longer sent. Bank accounts and tax ids of affiliates must be entered again. Files of invoices
with a lost tax id can no longer be created. The command lists each of them with what to do. Payouts, API keys, users and events do not
depend on the key.

Stop every server and worker first. Set SECRET_KEY to a new key, or let this command create a new key file in the data folder.

Example:
  $ payhook secret-key abandon
`;

/** `payhook secret-key rotate|abandon`. */
export function addSecretKey(secretKey: Command, cli: Cli): void {
  secretKey
    .command('rotate')
    .description('encrypt everything with a new secret key while servers run')
    .option('--json', 'print {fingerprint, endpoints, destinations, tax_ids, changed}')
    .addHelpText('after', ROTATE_HELP)
    .action(() => cli.run(() => rotate(cli)));
  secretKey
    .command('abandon')
    .description(
      'abandon a lost secret key: endpoints get new signing secrets and lose their header values, affiliates lose their bank accounts and tax ids',
    )
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option(
      '--json',
      'print {fingerprint, endpoints, destinations, tax_ids, invoice_tax_ids, lost_cells}; endpoints of {account_id, id, url, new_secret, ' +
        'dropped_headers, dropped_egress}, lost_cells of numbers, the rest of {account_id, affiliate_id}',
    )
    .addHelpText('after', ABANDON_HELP)
    .action(({ yes }: { yes?: boolean }) => cli.run(() => abandon(cli, yes)));
}

async function rotate({ terminal }: Cli): Promise<undefined> {
  const { rotateSecretKey } = await import('../../app/rotate-secret-key.ts');
  const { isInFolder, short } = await import('../../app/secret-keys.ts');
  await withPlatform(terminal, async (platform) => {
    const { fingerprint, endpoints, destinations, taxIds, changed } = await rotateSecretKey(
      platform,
      (done) =>
        terminal.showsProgress
          ? terminal.note(`${done} endpoints, bank accounts and tax ids are done`)
          : undefined,
    );
    const next = isInFolder(platform.config)
      ? 'The file secret-key in the data folder is new: back it up.'
      : 'Remove SECRET_KEY_PREVIOUS everywhere, and keep the old key with the backups from its time.';
    const what = changed ? 'The secret key was changed' : 'The secret key was already changed';
    terminal.result(
      { fingerprint, endpoints, destinations, tax_ids: taxIds, changed },
      () =>
        `${what}; its fingerprint is ${short(fingerprint)}. Endpoints encrypted again: ${endpoints}; bank accounts: ` +
        `${destinations}; tax ids: ${taxIds}.\n${next}\n`,
    );
  });
}

async function abandon({ terminal }: Cli, yes?: boolean): Promise<undefined> {
  requireYes(terminal, yes);
  const { abandonSecretKey, previewAbandoning } = await import('../../app/abandon-secret-key.ts');
  const { short } = await import('../../app/secret-keys.ts');
  const { idOf } = await import('../../kernel/ids.ts');
  await withPlatform(
    terminal,
    async (platform) => {
      const preview = await previewAbandoning(platform);
      const question =
        `Abandon the lost secret key? ${preview.endpoints.length} webhook endpoints lose what it encrypted: they get new ` +
        'signing secrets, which their receivers need, and their custom headers are dropped. ' +
        `${preview.destinations.length} bank accounts and ${preview.taxIds.length} tax ids of affiliates are lost, and ` +
        `${preview.invoiceTaxIds.length} tax ids on invoices.${
          preview.lostCells.length === 0
            ? ''
            : ` The URLs of cells are lost too: ${preview.lostCells.join(', ')}.`
        }`;
      await confirm(terminal, question, yes);
      const { fingerprint, losses } = await abandonSecretKey(platform);
      const endpoints = losses.endpoints.map((loss) => ({
        account_id: idOf('acc', loss.account),
        id: idOf('we', loss.endpoint),
        url: loss.url,
        new_secret: loss.secret,
        dropped_headers: loss.headers,
        dropped_egress: loss.egress,
      }));
      const affiliatesOf = (lost: Losses['destinations']) =>
        lost.map(({ account: owner, affiliate }) => ({
          account_id: idOf('acc', owner),
          affiliate_id: affiliate,
        }));
      const destinations = affiliatesOf(losses.destinations);
      const taxIds = affiliatesOf(losses.taxIds);
      const invoiceTaxIds = affiliatesOf(losses.invoiceTaxIds);
      const { lostCells } = losses;
      const lost = {
        endpoints,
        destinations,
        tax_ids: taxIds,
        invoice_tax_ids: invoiceTaxIds,
        lost_cells: lostCells,
      };
      terminal.result({ fingerprint, ...lost }, () =>
        [
          `The lost secret key is abandoned; the fingerprint of the new one is ${short(fingerprint)}.`,
          ...endpoints.map(
            ({ account_id, id, url, new_secret, dropped_headers, dropped_egress }) =>
              `\n${id}  ${printable(url)}  (${account_id})\n` +
              (new_secret
                ? `  give its receiver the new signing secret: payhook --account ${account_id} webhooks secret ${id}\n`
                : '  the previous secret no longer signs; the newer one stays\n') +
              (dropped_headers.length > 0
                ? `  set its headers again: ${printable(dropped_headers.join(', '))}\n`
                : '') +
              (dropped_egress ? '  set its proxy, client certificate and client credentials again\n' : ''),
          ),
          ...destinations.map(
            ({ account_id, affiliate_id }) =>
              `\naffiliate ${affiliate_id}  (${account_id})\n` +
              `  set its bank account again: payhook --account ${account_id} affiliates destination set ${affiliate_id}\n`,
          ),
          ...taxIds.map(
            ({ account_id, affiliate_id }) =>
              `\naffiliate ${affiliate_id}  (${account_id})\n` +
              `  set its tax id again: payhook --account ${account_id} affiliates tax set ${affiliate_id}\n`,
          ),
          ...invoiceTaxIds.map(
            ({ account_id, affiliate_id }) =>
              `\naffiliate ${affiliate_id}  (${account_id})\n` +
              '  its invoices lost their tax id: keep your existing files, because no others can be created\n',
          ),
          ...lostCells.map(
            (number) =>
              `\ncell ${number}\n  set its URL again: payhook cells set-url ${number} postgres://…; then run this command again\n`,
          ),
          '',
        ].join('\n'),
      );
    },
    { anySecretKey: true },
  );
}
