import type { Command } from 'commander';
import type { Cli } from '../command/cli.ts';
import { noEffect } from '../command/option-rules.ts';
import { collect } from '../command/pairs.ts';
import { SECRET_HELP } from '../command/secret-option.ts';
import type { ListenOptions } from './listening.ts';

const HELP = `
Verifies and prints each webhook: when, whether it is verified, type, id, which attempt of the event it is here, and its
data. What is verified is answered 200, anything else an error. The secrets are those of the account's endpoints, asked for when
a signature is new; start it before the server or after it.

The server delivers here when the endpoint was made on its own machine, without PAYHOOK_URL:
payhook webhooks create http://127.0.0.1:9000

Examples:
  $ payhook listen
  $ payhook listen --fail 500                # every attempt fails: watch it being sent again
  $ payhook listen --slow 20                 # longer than the server waits
  $ payhook listen --json | jq 'select(.verified) | .payload.data'
  $ payhook listen --once --secret @secret   # in a script: ends after one webhook, asks nobody
${SECRET_HELP}
`;

/** `payhook listen`. */
export function addListen(program: Command, cli: Cli): void {
  const command = program
    .command('listen')
    .description('receive webhooks on this machine, verify and print them, until it is stopped')
    .option('--port <port>', 'port on 127.0.0.1; 0 = any free one', '9000')
    .option('--fail <status>', 'answer verified webhooks with this error status, 300 to 599')
    .option('--slow <seconds>', 'wait before answering')
    .option(
      '--secret <secret>',
      'verify with this secret (whsec_…), as @file or - (standard input), instead of asking the server; may be repeated',
      collect,
    )
    .option('--payload', 'print the whole payload, not just the beginning of its data')
    .option('--once', 'stop after the first webhook that is verified')
    .option(
      '--json',
      'print where it listens, then each webhook as {verified, reason, id, type, payload, …}, one a line',
    )
    .addHelpText('after', HELP)
    .action((options: ListenOptions) =>
      cli.run(async () => (await import('./listening.ts')).listen(cli, options)),
    );
  noEffect(command, { option: '--payload', beside: '--json', because: 'the payload is always whole there' });
  for (const option of ['--account', '--data-dir']) {
    noEffect(command, { option, beside: '--secret', because: 'the server is not asked for secrets' });
  }
}
