import type { Command } from 'commander';
import type { Cli } from '../command/cli.ts';
import { UsageError } from '../command/errors.ts';
import { noEffect } from '../command/option-rules.ts';
import { collect } from '../command/pairs.ts';
import { SECRET_HELP } from '../command/secret-option.ts';
import type { ForwardOptions } from './forwarding.ts';
import type { ListenOptions } from './listening.ts';

const HELP = `


Verifies and prints each webhook: time, result, type, id, the attempt it has seen, and the data. Verified webhooks are answered with
200, all others with an error. The secrets are those of the account's endpoints and are fetched when needed, so you can start it
before or after the server.

The server delivers to this machine if the endpoint was created on the server's machine, without PAYHOOK_URL:
payhook webhooks create http://127.0.0.1:9000

With --forward-to nothing needs to reach this machine: it makes a temporary pull endpoint on the server of --server or PAYHOOK_URL, claims
its events, sends each to that address with the headers and the signature of the endpoint, and deletes the endpoint when it is stopped. An answer
with 2xx within 30 s is a delivery; otherwise the attempt has failed, and the event comes again by the schedule. Redirects are not
followed. If it is killed, its endpoint stays; the next start deletes those that nobody has asked for events for five minutes.

Examples:
  $ payhook listen
  $ payhook listen --fail 500                # every attempt fails: watch it being sent again
  $ payhook listen --slow 20                 # longer than the server waits
  $ payhook listen --json | jq 'select(.verified) | .payload.data'
  $ payhook listen --once --secret @secret   # in a script: ends after one webhook, asks nobody
  $ payhook listen --forward-to http://localhost:3000 --server https://payhook.example.com
  $ payhook listen --forward-to http://localhost:3000/hook --types 'payout.*,order.created' --secret @secret
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
      'verify with this secret (whsec_…) or public key (whpk_…), as @file or - (standard input), instead of the secrets of the server; may be repeated; with --forward-to: sign with this secret; default a new one',
      collect,
    )
    .option(
      '--forward-to <url>',
      'send the events of a server to this address, which only this machine needs to reach',
    )
    .option('--server <url>', 'with --forward-to: the server; default PAYHOOK_URL')
    .option(
      '--types <types>',
      'with --forward-to: event types, separated by commas: payout.paid,order.*; default every type',
    )
    .option('--owner <owner>', 'with --forward-to: also events that are published for this owner')
    .option('--payload', 'print the whole payload, not just the beginning of its data')
    .option('--once', 'stop after the first verified webhook')
    .option(
      '--json',
      'print its address, then each webhook as {verified, reason, id, type, payload, …}, one per line; with --forward-to, its endpoint, then each as {status, answer, error, id, type, payload, …}',
    )
    .addHelpText('after', HELP)
    .action((options: ListenOptions & Partial<ForwardOptions>) => cli.run(() => start(cli, options)));
  for (const option of ['--port', '--fail', '--slow', '--once']) {
    noEffect(command, { option, other: '--forward-to', because: 'nothing is received here' });
  }
  noEffect(command, { option: '--payload', other: '--json', because: 'it always prints the whole payload' });
  for (const option of ['--account', '--data-dir']) {
    noEffect(command, { option, other: '--secret', because: 'no secrets are fetched from the server' });
  }
}

async function start(
  cli: Cli,
  { forwardTo, ...options }: ListenOptions & Partial<ForwardOptions>,
): Promise<undefined> {
  if (forwardTo !== undefined)
    return (await import('./forwarding.ts')).forward(cli, { ...options, forwardTo });
  for (const option of ['server', 'types', 'owner'] as const) {
    if (options[option] !== undefined) throw new UsageError(`--${option} needs --forward-to`);
  }
  return (await import('./listening.ts')).listen(cli, options);
}
