import type { Command } from 'commander';
import type { Cli } from '../command/cli.ts';
import { noEffect } from '../command/option-rules.ts';
import { collect } from '../command/pairs.ts';
import { SECRET_HELP } from '../command/secret-option.ts';
import type { ListenOptions } from './listening.ts';

const HELP = `


Verifies and prints each webhook: time, result, type, id, the attempt it has seen, and the data. Verified webhooks are answered with
200, all others with an error. The secrets are those of the account's endpoints and are fetched when needed, so you can start it
before or after the server.

The server delivers to this machine if the endpoint was created on the server's machine, without PAYHOOK_URL:
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
    .description('receive, verify and print webhooks on this machine until it is stopped')
    .option('--port <port>', 'port on 127.0.0.1; 0 = any free one', '9000')
    .option('--fail <status>', 'answer verified webhooks with this error status, 300 to 599')
    .option('--slow <seconds>', 'wait before answering')
    .option(
      '--secret <secret>',
      'verify with this secret (whsec_…), as @file or - (standard input), instead of the secrets of the server; may be repeated',
      collect,
    )
    .option('--payload', 'print the whole payload, not just the beginning of its data')
    .option('--once', 'stop after the first verified webhook')
    .option(
      '--json',
      'print its address, then each webhook as {verified, reason, id, type, payload, …}, one per line',
    )
    .addHelpText('after', HELP)
    .action((options: ListenOptions) =>
      cli.run(async () => (await import('./listening.ts')).listen(cli, options)),
    );
  noEffect(command, { option: '--payload', other: '--json', because: 'it always prints the whole payload' });
  for (const option of ['--account', '--data-dir']) {
    noEffect(command, { option, other: '--secret', because: 'no secrets are fetched from the server' });
  }
}
