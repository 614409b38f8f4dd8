import { type Command, Option } from 'commander';
import type {
  ChangePayoutScheduleBody,
  Client,
  ListPayoutSchedulesQuery,
  PayoutSchedule,
} from '../../client/client.ts';
import { type Cli, confirm, requireYes } from '../command/cli.ts';
import { UsageError } from '../command/errors.ts';
import { describePage, withPages } from '../command/list-view.ts';
import { collect } from '../command/pairs.ts';
import { type ListOptions, queryOf } from '../command/query.ts';
import { withClient } from '../command/session.ts';
import { findNames, type Names } from '../finders/actors.ts';
import { readFilterOptions } from '../payouts/filters.ts';
import { factLines } from '../terminal/facts.ts';
import { printable, table } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { exactTime } from '../terminal/time.ts';

interface Settings {
  readonly name?: string;
  readonly every?: 'week' | 'month';
  readonly day?: string;
  readonly filter?: readonly string[];
  readonly filters?: string;
  readonly search?: string;
  readonly ignoreMinimum?: boolean;
  readonly off?: boolean;
  readonly on?: boolean;
}

const ID_HELP = 'the id of a schedule';
const HELP = `
On its day, which begins at midnight in the account's time zone, a schedule creates a payout like payouts create, with the same
filters. You review, pay and complete it. If there is nothing to pay, or another payout is unpaid, it creates none until its next
day; show prints the reason. Whoever changes a schedule is the creator of its next payouts.

Examples:
  $ payhook schedules create --name monthly --every month --day 1
  $ payhook schedules create --name "EUR on Fridays" --every week --day 5 --filter currency=eur
`;

/** `payhook schedules list|show|create|change|delete`. */
export function addSchedules(schedules: Command, cli: Cli): void {
  withPages(schedules.command('list').description('list schedules'), {
    nouns: 'schedules',
    sort: 'created_at, name',
  })
    .option('--json', 'print the page (a list of PayoutSchedule)')
    .addHelpText('after', '\nExample:\n  $ payhook schedules list\n')
    .action((options: ListOptions) => cli.run(() => list(cli, options)));
  schedules
    .command('show')
    .description('show a schedule and the result of its last run')
    .argument('<schedule>', ID_HELP)
    .option('--json', 'print the record (PayoutSchedule)')
    .addHelpText('after', '\nExample:\n  $ payhook schedules show psc_…\n')
    .action((id: string) => cli.run(() => show(cli, id)));
  withSettings(schedules.command('create').description('create a schedule'))
    .option('--off', 'create it switched off')
    .option('--json', 'print the record (PayoutSchedule)')
    .addHelpText('after', HELP)
    .action((settings: Settings) => cli.run(() => create(cli, settings)));
  withSettings(schedules.command('change').description('change a schedule').argument('<schedule>', ID_HELP))
    .option('--on', 'switch it on')
    .option('--off', 'switch it off')
    .option('--json', 'print the record (PayoutSchedule)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ payhook schedules change psc_… --day 15\n  $ payhook schedules change psc_… --off\n',
    )
    .action((id: string, settings: Settings) => cli.run(() => change(cli, id, settings)));
  schedules
    .command('delete')
    .description('delete a schedule; its payouts stay')
    .argument('<schedule>', ID_HELP)
    .option('-y, --yes', 'do not ask; required without a terminal')
    .option('--json', 'print {id, deleted}')
    .addHelpText('after', '\nExample:\n  $ payhook schedules delete psc_… --yes\n')
    .action((id: string, { yes }: { yes?: boolean }) => cli.run(() => remove(cli, id, yes)));
}

function withSettings(command: Command): Command {
  return command
    .option('--name <name>', 'the name')
    .addOption(new Option('--every <rhythm>', 'how often').choices(['week', 'month']))
    .option('--day <number>', 'week: 1 (Monday) to 7; month: 1 to 31, or the last day')
    .option('--filter <key=value>', 'only what matches; may be repeated', collect, [])
    .option('--filters <json>', 'the filters as one JSON object')
    .option('--search <words>', 'every word is part of a name, e-mail or slug of the affiliate')
    .option('--ignore-minimum', 'also pay sums below the minimums');
}

function bodyOf({
  name,
  every,
  day,
  filter = [],
  filters,
  search,
  ignoreMinimum,
}: Settings): ChangePayoutScheduleBody {
  if (day !== undefined && !/^\d{1,2}$/.test(day)) throw new UsageError(`--day must be a number, not ${day}`);
  return {
    name,
    every,
    day: day === undefined ? undefined : Number(day),
    filters: readFilterOptions(filter, filters) as ChangePayoutScheduleBody['filters'],
    search,
    ignore_minimum: ignoreMinimum,
  };
}

async function list({ terminal, account }: Cli, options: ListOptions): Promise<undefined> {
  const page = await withClient({ terminal, account }, (client) =>
    client.payoutSchedules.list(queryOf<ListPayoutSchedulesQuery>(options)),
  );
  terminal.result(page, () =>
    describePage(page, 'schedule', (data) => scheduleTable(data, terminal), terminal),
  );
}

async function show({ terminal, account }: Cli, id: string): Promise<undefined> {
  await withClient({ terminal, account }, async (client) =>
    printSchedule(client, await client.payoutSchedules.get(id), terminal),
  );
}

async function create({ terminal, account }: Cli, settings: Settings): Promise<undefined> {
  const { name, every, day, ...rest } = bodyOf(settings);
  if (name === undefined || every === undefined || day === undefined) {
    throw new UsageError('--name, --every and --day are required');
  }
  const body = { ...rest, name, every, day, is_active: settings.off ? false : undefined };
  await withClient({ terminal, account }, async (client) =>
    printSchedule(client, await client.payoutSchedules.create(body), terminal),
  );
}

async function change({ terminal, account }: Cli, id: string, settings: Settings): Promise<undefined> {
  const { on, off } = settings;
  if (on && off) throw new UsageError('give --on or --off, not both');
  const body = { ...bodyOf(settings), is_active: on ? true : off ? false : undefined };
  if (Object.values(body).every((value) => value === undefined)) {
    throw new UsageError('nothing to change: payhook schedules change --help lists the options');
  }
  await withClient({ terminal, account }, async (client) =>
    printSchedule(client, await client.payoutSchedules.change(id, body), terminal),
  );
}

async function remove({ terminal, account }: Cli, id: string, yes?: boolean): Promise<undefined> {
  requireYes(terminal, yes);
  await withClient({ terminal, account }, async (client) => {
    const { name } = await client.payoutSchedules.get(id);
    await confirm(terminal, `Delete the schedule ${printable(name)}?`, yes);
    await client.payoutSchedules.delete(id);
  });
  terminal.result({ id, deleted: true }, () => `Deleted the schedule ${id}.\n`);
}

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

const rhythmOf = ({ every, day }: PayoutSchedule) =>
  every === 'week' ? `every ${WEEKDAYS[day - 1]}` : `on day ${day} of each month`;

function outcomeOf({ last_run }: PayoutSchedule): string {
  if (last_run === null) return 'not run yet';
  const { due_on, outcome, payout_id, reason } = last_run;
  return `${due_on}: ${outcome}${payout_id === null ? '' : ` ${payout_id}`}${reason === null ? '' : `, ${printable(reason)}`}`;
}

function scheduleTable(schedules: readonly PayoutSchedule[], { paint }: Terminal): string {
  return table(
    ['ID', 'NAME', 'DUE', 'NEXT', 'LAST'].map((heading) => ({ heading })),
    schedules.map((each) => [
      each.id,
      printable(each.name),
      rhythmOf(each),
      each.next_on ?? 'switched off',
      each.last_run?.outcome ?? '',
    ]),
    paint.faint,
  );
}

async function printSchedule(client: Client, schedule: PayoutSchedule, terminal: Terminal): Promise<void> {
  const names = await findNames(client, [schedule.made_by], terminal);
  terminal.result(schedule, () => describe(schedule, names));
}

function describe(schedule: PayoutSchedule, names: Names): string {
  return factLines([
    ['Id', schedule.id],
    ['Name', printable(schedule.name)],
    ['Due', rhythmOf(schedule)],
    ['Next', schedule.next_on ?? 'switched off'],
    ['Last', outcomeOf(schedule)],
    ['Filters', schedule.filters == null ? 'none' : printable(JSON.stringify(schedule.filters))],
    ['Search', schedule.search === '' ? null : printable(schedule.search)],
    ['Minimums', schedule.ignore_minimum ? 'ignored' : 'kept'],
    ['Created by', names(schedule.made_by)],
    ['Created', `${exactTime(schedule.created_at)} (UTC)`],
  ]);
}
