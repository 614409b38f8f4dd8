import type { Command } from 'commander';
import type {
  ChangeProgramBody,
  CreateProgramBody,
  ListProgramsQuery,
  Program,
} from '../../client/client.ts';
import { PROGRAM_FIELDS } from '../../client/fields.ts';
import type { Cli } from '../command/cli.ts';
import { UsageError } from '../command/errors.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { REPLACES } from '../command/metadata.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { describeFields, optionNames, readFields, withFields } from '../command/record-fields.ts';
import { withClient } from '../command/session.ts';
import { findProgram, PROGRAM_HELP } from '../finders/program.ts';
import { factLines } from '../terminal/facts.ts';
import { count } from '../terminal/money.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { exactTime, shortTime } from '../terminal/time.ts';

/** `payhook programs list|show|create|change`. */
export function addPrograms(programs: Command, cli: Cli): void {
  withPages(programs.command('list').description('list programs, newest first'), {
    nouns: 'programs',
    sort: 'id, created_at, name',
  })
    .option('--json', 'print the page (a list of Program)')
    .action((options: ListOptions) => cli.run(() => list(cli, queryOf<ListProgramsQuery>(options))));
  programs
    .command('show')
    .description('show a program')
    .argument('<program>', PROGRAM_HELP)
    .option('--json', 'print the record (Program)')
    .addHelpText('after', '\nExample:\n  $ payhook programs show Creators\n')
    .action((reference: string) => cli.run(() => show(cli, reference)));
  withFields(programs.command('create').description('create a program'), PROGRAM_FIELDS, { isNew: true })
    .option('--json', 'print the record (Program)')
    .addHelpText('after', '\nExample:\n  $ payhook programs create --name "Creators" --hold-days 30\n')
    .action((options: object) => cli.run(() => create(cli, options)));
  const changed = programs
    .command('change')
    .description('change the given fields of a program')
    .argument('<program>', PROGRAM_HELP);
  withFields(changed, PROGRAM_FIELDS, { metadata: REPLACES })
    .option('--json', 'print the record (Program)')
    .addHelpText('after', '\nExample:\n  $ payhook programs change Creators --hold-days 14\n')
    .action((reference: string, options: object) => cli.run(() => change(cli, reference, options)));
}

async function list({ terminal, account }: Cli, query: ListProgramsQuery): Promise<undefined> {
  const page = await withClient({ terminal, account }, (client) => client.programs.list(query));
  terminal.result(page, () =>
    describePage(page, 'program', (data) => programTable(data, terminal), terminal),
  );
}

async function show({ terminal, account }: Cli, reference: string): Promise<undefined> {
  const found = await withClient({ terminal, account }, async (client) =>
    client.programs.get(await findProgram(client, reference)),
  );
  terminal.result(found, () => describeProgram(found, terminal));
}

async function create({ terminal, account }: Cli, options: object): Promise<undefined> {
  const fields = readFields(PROGRAM_FIELDS, options);
  const made = await withClient({ terminal, account }, (client) =>
    client.programs.create(fields as unknown as CreateProgramBody),
  );
  terminal.result(made, () => programTable([made], terminal));
}

async function change({ terminal, account }: Cli, reference: string, options: object): Promise<undefined> {
  const fields: ChangeProgramBody = readFields(PROGRAM_FIELDS, options);
  if (Object.keys(fields).length === 0) {
    throw new UsageError(`nothing to change: give ${optionNames(PROGRAM_FIELDS)}`);
  }
  const changed = await withClient({ terminal, account }, async (client) =>
    client.programs.change(await findProgram(client, reference), fields),
  );
  terminal.result(changed, () => programTable([changed], terminal));
}

const holdOf = ({ hold_days }: Program) => (hold_days === null ? "the account's" : count(hold_days, 'day'));

function describeProgram(program: Program, { paint }: Terminal): string {
  const { name: _, hold_days: __, ...fields } = PROGRAM_FIELDS;
  const facts = factLines([
    ['Hold', holdOf(program)],
    ...describeFields(fields, program),
    ['Created', `${exactTime(program.created_at)} (UTC)`],
  ]);
  return `${paint.strong(printable(program.name))}  ${program.id}\n${facts}`;
}

function programTable(programs: readonly Program[], { paint }: Terminal): string {
  return table(
    [{ heading: 'ID', right: true }, { heading: 'NAME' }, { heading: 'HOLD' }, { heading: 'CREATED (UTC)' }],
    programs.map((program) => [
      String(program.id),
      program.name,
      holdOf(program),
      shortTime(program.created_at),
    ]),
    paint.faint,
  );
}
