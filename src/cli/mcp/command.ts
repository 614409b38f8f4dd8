import type { Command } from 'commander';
import type { Cli } from '../command/cli.ts';
import { takesNo } from '../command/option-rules.ts';
import type { McpOptions } from './serve.ts';

const HELP = `
An assistant starts this command and talks to it over standard input and output (Model Context Protocol). Each operation of the API that
takes and returns JSON is a tool. Without options the tools only read. The tools are also limited by what the key may do, so give an
assistant a key, or an access token, of its own. Nothing that returns a secret is a tool.

Settings: PAYHOOK_URL, and PAYHOOK_API_KEY with an API key or an access token.

Examples:
  $ payhook mcp                     # reads only
  $ payhook mcp --allow-writes      # also endpoints, events and new affiliates
  $ payhook mcp --allow-money       # also payouts, commissions, refunds and where affiliates are paid
`;

/** `payhook mcp`. */
export function addMcp(program: Command, cli: Cli): void {
  takesNo(program.command('mcp'), '--account', '--data-dir', '--env-file')
    .description('offer the API to an assistant as tools (Model Context Protocol)')
    .option('--allow-writes', 'also offer tools that change something other than money')
    .option(
      '--allow-money',
      'also offer tools that change who is owed or paid, how much, or where to; includes --allow-writes',
    )
    .option('--json', 'print errors as other commands do; the protocol does not change')
    .addHelpText('after', HELP)
    .action((options: McpOptions) => cli.run(async () => (await import('./serve.ts')).serveMcp(options)));
}
