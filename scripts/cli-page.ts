// The page of all commands, docs/cli.md, from the table of commands itself.
import type { Argument, Command, Option } from 'commander';
import { takes } from '../src/cli/command/option-rules.ts';
import { buildProgram } from '../src/cli/program.ts';
import { createTerminal } from '../src/cli/terminal/terminal.ts';

const HEAD = `# The command line

\`payhook\` runs the server and does all that the API does: read affiliates and commissions in, make payouts, write the files
that pay them, watch webhooks. \`payhook help\` lists the commands, \`payhook payouts export --help\` tells one of them; this page
tells all. In a folder where Payhook was built it is \`npx payhook\`.

## Where commands work
- **On the data of this machine**, whether or not a server runs on it: with the settings of
  [configuration.md](configuration.md), on \`DATABASE_URL\` or on the embedded PostgreSQL of a data folder: that of \`--data-dir\` or
  \`DATA_DIR\`, else that of the server that was started from this folder or one above it (they say so), else \`./data\`. They act as
  the operator, without a key. \`--env-file\` reads settings from a file. Only \`serve\`, \`init\` and \`demo\` make data where there are
  none.
- **On a server elsewhere**, when \`PAYHOOK_URL\` and \`PAYHOOK_API_KEY\` are set: the key decides the account. What needs the
  database itself (\`migrate\`, \`accounts\`, \`users setup-link\`, \`demo\`) is refused then; \`serve\`, \`worker\` and \`doctor\` are about
  this machine always.

With several accounts \`--account\` says which one, by id or name; else \`PAYHOOK_ACCOUNT\` does, else the one that \`payhook accounts
use\` chose. A second account changes nothing for commands that name none: they go on with the first.

\`\`\`sh
export PAYHOOK_URL=https://pay.example.com PAYHOOK_API_KEY=ph_…
payhook payouts show current
\`\`\`

## Style
Results go to standard output, everything else to standard error. Times are UTC, \`2026-09-15 08:30\`; money is decimal, with its
currency. What cannot be undone is asked about first; \`-y\` says yes, and without a terminal it is needed. Colours, progress
and questions are for terminals only. An option that would have no effect is refused, and so is one that is given twice.

| exit code | |
| --- | --- |
| 0 | done |
| 1 | refused or failed: the message says why, and mostly what to do. Nothing was changed, unless it says so |
| 2 | wrong usage or settings: nothing was tried |

## \`--json\`
With \`--json\` standard output is one JSON document (one a line from \`events tail\` and \`listen\`, which go on), and an error is one
on standard error, with the code and the reason of [errors.md](errors.md):

\`\`\`json
{"error": {"code": "not_found", "message": "there is no unpaid payout at the moment", "reason": "no_current_payout"}}
\`\`\`

What each command prints stands below it, and is a promise: where a record is named it is the record of the API, as
[openapi.json](openapi.json) describes it, and a page is \`{"data": […], "pagination": {…}}\`. Amounts are minor units there (\`3190\` is
31.90 USD). Fields may be added; none is renamed, removed or given another meaning before the next major version. Text for
people is no promise.

## Environment
| variable | |
| --- | --- |
| \`PAYHOOK_ACCOUNT\` | the account of commands on this machine, by id or name |
| \`PAYHOOK_URL\`, \`PAYHOOK_API_KEY\` | the server to talk to, and the key of an account |
| \`DATA_DIR\`, \`DATABASE_URL\`, … | the settings of the data of this machine: [configuration.md](configuration.md), \`payhook config\` |
| \`NO_COLOR\`, \`FORCE_COLOR\` | no colours on a terminal, or colours although it does not seem to have them |

## Completion
\`source <(payhook completion bash)\` completes commands, options, choices and files with Tab in this shell; also zsh and fish.
[How to keep it](#payhook-completion).

## In scripts
\`\`\`sh
# what is owed to whom in the unpaid payout
payhook payouts affiliates current --per-page 100 --json |
  jq -r '.data[] | .affiliate_id as $id | .totals[] | [$id, .currency, .amount] | @tsv'

# make the payout and its file, only when there is something to pay
if [ "$(payhook payouts preview --json | jq .affiliate_count)" -gt 0 ]; then
  payhook payouts create --json | jq -r .id
  payhook payouts export current --format paypal --currency usd
fi

# stop when nothing is there to be paid, tell anything else
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
\`--account <account>\` and \`--help\` are options of each, but where it says otherwise.

| command | |
| --- | --- |
${index.join('\n')}

${sections.join('\n')}`;
}

/** The commands at or below one that do something. */
function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

function nothingRuns(): never {
  throw new Error('a page is no run of a command');
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

const RECORD = /\b[A-Z]\w+/g; // as openapi.json names it

function termOf(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? '...' : '');
  return argument.required ? `<${name}>` : `[${name}]`;
}

function aboutArgument({ description, argChoices }: Argument): string {
  return inTable(description) + choicesOf(argChoices);
}

function aboutOption({ description, argChoices, mandatory, defaultValue }: Option): string {
  const usual = defaultValue === undefined || mandatory ? '' : `; \`${defaultValue}\` without it`;
  return inTable(description) + choicesOf(argChoices) + usual + (mandatory ? '; needed' : '');
}

function choicesOf(choices: readonly string[] | undefined): string {
  return choices === undefined ? '' : `: ${choices.map((choice) => `\`${choice}\``).join(', ')}`;
}

/** What a command adds to its help: paragraphs, and lines to type. */
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

/** Help text as Markdown: what is typed becomes code, lines to type a block. */
function marked(text: string): string {
  const paragraphs = text.split(/\n{2,}/).map((paragraph) => {
    const [first = '', ...lines] = paragraph.split('\n');
    const typed = [first, ...lines].filter((line) => line.startsWith('  $ '));
    if (typed.length === 0) return coded(paragraph);
    const told = [first, ...lines].filter((line) => !line.startsWith('  $ ')).join('\n');
    return `${coded(told)}\n\n\`\`\`console\n${typed.map((line) => line.trim()).join('\n')}\n\`\`\``;
  });
  return paragraphs.join('\n\n');
}

const inTable = (text: string) => coded(text).replaceAll('|', '\\|');

// Objects, options, and what has a character that Markdown would take for markup.
const CODE = /\{[^}]*\}|(?<![\w-])--?[a-z][\w-]*|[^\s(),;:]*[_*<>[\]|"$](?:[^\s(),;:]*[^\s(),;:.])?/g;

function coded(text: string): string {
  return text.replaceAll(CODE, '`$&`');
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${coded(text.slice(1))}.`;
}
