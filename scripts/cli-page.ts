// Generates docs/cli.md, the page of all commands, from the commands themselves.
import type { Argument, Command, Option } from 'commander';
import { takes } from '../src/cli/command/option-rules.ts';
import { buildProgram } from '../src/cli/program.ts';
import { createTerminal } from '../src/cli/terminal/terminal.ts';

const HEAD = `# The command line

\`payhook\` runs the server and does everything the API does: import affiliates and commissions, create payouts, write the files
that pay them, watch webhooks. \`payhook help\` lists the commands, \`payhook payouts export --help\` describes one of them, and
this page describes all of them. In a folder where Payhook was built, run it as \`npx payhook\`.

## What commands work on
- **The data on this machine**, whether or not a server is running. Commands use the settings of
  [configuration.md](configuration.md): \`DATABASE_URL\`, or else the embedded PostgreSQL of a data folder. The data folder is
  \`--data-dir\` or \`DATA_DIR\`; without them, the folder of the server started from this folder or one above it, which the command
  prints; otherwise \`./data\`. Commands act as the operator and need no key. \`--env-file\` reads settings from a file. Only
  \`serve\`, \`init\`, \`restore\` and \`demo\` create missing data.
- **A server elsewhere**, if \`PAYHOOK_URL\` and \`PAYHOOK_API_KEY\` are set. The key determines the account. Commands that need the
  database itself (\`migrate\`, \`backup\`, \`restore\`, \`accounts\`, \`users setup-link\`, \`demo\`) are refused; \`serve\`, \`worker\` and \`doctor\` always
  work on this machine.

If there are several accounts, \`--account\` chooses one by id or name; without it, \`PAYHOOK_ACCOUNT\`, and then
\`payhook accounts use\`. After you add a second account, commands that name none keep working on the first.

\`\`\`sh
export PAYHOOK_URL=https://pay.example.com PAYHOOK_API_KEY=ph_…
payhook payouts show current
\`\`\`

## Conventions
Results go to standard output, everything else to standard error. Times are in UTC, \`2026-09-15 08:30\`. Amounts are decimals with
their currency. A command asks before an action that cannot be undone; \`-y\` answers yes, and is required without a terminal. Colours,
progress and questions appear only on terminals. An option without effect is refused, and so is an option given twice.

| exit code | |
| --- | --- |
| 0 | done |
| 1 | refused or failed: the message gives the reason, and usually a remedy. Nothing was changed, unless the message says so |
| 2 | wrong usage or settings: nothing was attempted |

## \`--json\`
With \`--json\`, standard output is one JSON document. \`events tail\` and \`listen\` keep running and print one per line. An error is a
JSON document on standard error, with the code and the reason of [errors.md](errors.md):

\`\`\`json
{"error": {"code": "not_found", "message": "there is no unpaid payout at the moment", "reason": "no_current_payout"}}
\`\`\`

The output of each command is listed below it, and is stable. Records are those of the API in [openapi.json](openapi.json). A page is
\`{"data": […], "pagination": {…}}\`. Amounts are in minor units (\`3190\` is 31.90 USD). Fields may be added; none is renamed, removed or
changed in meaning before the next major version. Text for people may change at any time.

## Environment
| variable | |
| --- | --- |
| \`PAYHOOK_ACCOUNT\` | the account of commands on this machine, by id or name |
| \`PAYHOOK_URL\`, \`PAYHOOK_API_KEY\` | the server to talk to, and the key of an account |
| \`DATA_DIR\`, \`DATABASE_URL\`, … | the location of the data on this machine: [configuration.md](configuration.md), \`payhook config\` |
| \`NO_COLOR\`, \`FORCE_COLOR\` | turn colours off, or on where no terminal is detected |

## Completion
\`source <(payhook completion bash)\` completes commands, options, choices and files with Tab in this shell; zsh and fish work too.
[How to install it permanently](#payhook-completion).

## In scripts
\`\`\`sh
# what is owed to whom in the unpaid payout
payhook payouts affiliates current --per-page 100 --json |
  jq -r '.data[] | .affiliate_id as $id | .totals[] | [$id, .currency, .amount] | @tsv'

# create the payout and its file, only if there is something to pay
if [ "$(payhook payouts preview --json | jq .affiliate_count)" -gt 0 ]; then
  payhook payouts create --json | jq -r .id
  payhook payouts export current --format paypal --currency usd
fi

# succeed if there is no unpaid payout, fail on any other error
payhook payouts show current --json 2>error.json ||
  jq -e '.error.reason == "no_current_payout"' error.json

# every e-mail address, page after page
page=1
while answer=$(payhook affiliates list --page $page --per-page 100 --json); do
  echo "$answer" | jq -r '.data[].email'
  [ "$(echo "$answer" | jq '.pagination.pages')" -gt $page ] || break
  page=$((page + 1))
done
\`\`\`
`;

/** docs/cli.md. */
export async function cliPage(): Promise<string> {
  const program = await buildProgram({
    terminal: createTerminal(false),
    exit: nothingRuns,
    finish: () => undefined,
  });
  const groups = program.commands.map((command) => {
    return { name: command.name(), about: command.description(), all: leavesOf(command) };
  });
  const index = groups.map(({ name, about, all }) => {
    const links = all.map(
      (command) => `[${nameOf(command).split(' ').slice(2).join(' ')}](#${anchorOf(command)})`,
    );
    return `| \`${name}\` | ${all[0]?.name() === name ? `[${about}](#payhook-${name})` : `${inTable(about)}: ${links.join(', ')}`} |`;
  });
  const sections = groups.flatMap(({ all }) => all.map(sectionOf));
  return `${HEAD}
## All commands
Every command has the options \`--account <account>\` and \`--help\`, unless stated otherwise.

| command | |
| --- | --- |
${index.join('\n')}

${sections.join('\n')}`;
}

/** The commands at or below one that have an action. */
function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

function nothingRuns(): never {
  throw new Error('generating the page must not run a command');
}

/** `payhook payouts export`. */
function nameOf(command: Command): string {
  const parent = command.parent === null ? '' : `${nameOf(command.parent)} `;
  return parent + command.name();
}

const anchorOf = (command: Command) => nameOf(command).replaceAll(' ', '-');

function sectionOf(command: Command): string {
  const isJson = (option: Option) => option.long === '--json';
  const options = command.options.filter((option) => !isJson(option));
  const rows = [
    ...command.registeredArguments.map(
      (argument) => `| \`${termOf(argument)}\` | ${aboutArgument(argument)} |`,
    ),
    ...options.map((option) => `| \`${option.flags}\` | ${aboutOption(option)} |`),
  ];
  const table = rows.length === 0 ? '' : `\n| | |\n| --- | --- |\n${rows.join('\n')}\n`;
  const { prose, examples } = addedHelp(command);
  return `### ${nameOf(command)}
${sentence(command.description())}${takes(command, '--account') ? '' : ' Takes no `--account`.'}

\`\`\`
${nameOf(command)} ${command.usage()}
\`\`\`
${table}${prose === '' ? '' : `\n${marked(prose)}\n`}${examples === '' ? '' : `\n\`\`\`console\n${examples}\n\`\`\`\n`}
${coded(command.options.find(isJson)?.description ?? '')
  .replace(/^print/, '`--json` prints')
  .replaceAll(RECORD, '`$&`')}.
`;
}

const RECORD = /\b[A-Z]\w+/g; // the name in openapi.json

function termOf(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? '...' : '');
  return argument.required ? `<${name}>` : `[${name}]`;
}

function aboutArgument({ description, argChoices }: Argument): string {
  return inTable(description) + choicesOf(argChoices);
}

function aboutOption({ description, argChoices, mandatory, defaultValue }: Option): string {
  const usual = defaultValue === undefined || mandatory ? '' : `; default \`${defaultValue}\``;
  return inTable(description) + choicesOf(argChoices) + usual + (mandatory ? '; required' : '');
}

function choicesOf(choices: readonly string[] | undefined): string {
  return choices === undefined ? '' : `: ${choices.map((choice) => `\`${choice}\``).join(', ')}`;
}

/** The text that a command adds to its help: paragraphs and examples. */
function addedHelp(command: Command): { prose: string; examples: string } {
  let printed = '';
  command.configureOutput({
    writeOut: (text) => {
      printed += text;
    },
  });
  command.outputHelp();
  const added = printed.slice(command.helpInformation().length).trim();
  const [prose = '', examples = ''] = added.split(/^Examples?:$/m);
  return { prose: prose.trim(), examples: examples.replaceAll(/^ {2}/gm, '').trim() };
}

/** Help text as Markdown: typed text becomes code, lines to type a block. */
function marked(text: string): string {
  const paragraphs = text.split(/\n{2,}/).map((paragraph) => {
    const [first = '', ...lines] = paragraph.split('\n');
    const typed = [first, ...lines].filter((line) => line.startsWith('  $ '));
    if (typed.length === 0) return coded(paragraph);
    const prose = [first, ...lines].filter((line) => !line.startsWith('  $ ')).join('\n');
    return `${coded(prose)}\n\n\`\`\`console\n${typed.map((line) => line.trim()).join('\n')}\n\`\`\``;
  });
  return paragraphs.join('\n\n');
}

const inTable = (text: string) => coded(text).replaceAll('|', '\\|');

// Objects, options, and text with a character that Markdown would treat as markup.
const CODE = /\{[^}]*\}|(?<![\w-])--?[a-z][\w-]*|[^\s(),;:]*[_*<>[\]|"$](?:[^\s(),;:]*[^\s(),;:.])?/g;

function coded(text: string): string {
  return text.replaceAll(CODE, '`$&`');
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${coded(text.slice(1))}.`;
}
