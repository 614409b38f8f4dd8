import type { System } from '../../client/client.ts';
import type { Cli } from '../command/cli.ts';
import { withClient } from '../command/session.ts';
import { factLines } from '../terminal/facts.ts';
import { count } from '../terminal/money.ts';
import { printable, table } from '../terminal/table.ts';
import type { Paint } from '../terminal/terminal.ts';
import { exactTime } from '../terminal/time.ts';

const MEGABYTE = 1e6;
const GIGABYTE = 1e9;

/** `payhook system`. */
export async function showSystem({ terminal, account }: Cli): Promise<undefined> {
  const found = await withClient({ terminal, account }, (client) => client.system.get());
  terminal.result(found, () => describe(found, terminal.paint));
}

/** Bytes as people read them: `12.3 GB`, `45.6 MB`. */
const sizeOf = (bytes: number): string =>
  bytes < GIGABYTE ? `${(bytes / MEGABYTE).toFixed(1)} MB` : `${(bytes / GIGABYTE).toFixed(1)} GB`;

/** The free space on the disk of the data folder as text. */
export const roomOf = (disk: System['disk']): string =>
  disk === null
    ? 'unknown: the database is not the embedded one'
    : `${sizeOf(disk.free_bytes)} of ${sizeOf(disk.total_bytes)} free`;

/** The replica as text; null if there is none. */
export const replicaOf = (replica: System['replica']): string | null =>
  replica && (replica.problem ?? `read from, ${replica.lag_ms ?? 0} ms behind`);

/** A chore of a cell as text; of cell 0 its name alone. */
export const choreName = ({ name, cell }: { name: string; cell: number }): string =>
  cell === 0 ? name : `${name} of cell ${cell}`;

/** A table of the cells. */
export function cellTable(cells: System['cells'], paint: Paint): string {
  const numberOr = (value: number | null) => (value === null ? '' : String(value));
  return table(
    [
      { heading: 'CELL', right: true },
      { heading: 'STATE' },
      { heading: 'SCHEMA' },
      { heading: 'SERVER' },
      { heading: 'VERSION', right: true },
      { heading: 'ACCOUNTS', right: true },
      { heading: 'DUE', right: true },
      { heading: 'WORKERS', right: true },
      { heading: 'PROBLEM' },
    ],
    cells.map((cell) => [
      String(cell.number),
      cell.state,
      cell.schema === null ? 'of the login' : printable(cell.schema),
      cell.host === null ? 'of cell 0' : printable(cell.host),
      numberOr(cell.schema_version),
      numberOr(cell.account_count),
      numberOr(cell.due_count),
      numberOr(cell.worker_count),
      cell.problem === null ? '' : paint.warning(printable(cell.problem)),
    ]),
    paint.faint,
  );
}

/** How many deliveries wait for an earlier one of their ordering key, and since when; null if none does. */
function behindOthers({ behind_count, behind_since }: System['backlog']): string | null {
  if (behind_count === 0) return null;
  const since = behind_since === null ? '' : `, the first since ${exactTime(behind_since)} (UTC)`;
  return `${behind_count} waiting for an earlier event of their ordering key${since}`;
}

function describe(
  {
    version,
    schema_version,
    database,
    replica,
    disk,
    backlog,
    workers,
    chores,
    failing_chores,
    cells,
  }: System,
  paint: Paint,
) {
  const facts = factLines([
    ['Schema', String(schema_version)],
    ['PostgreSQL', `${database.version}, started ${exactTime(database.started_at)} (UTC)`],
    ['Size', sizeOf(database.size_bytes)],
    ['Replica', replicaOf(replica)],
    ['Disk', roomOf(disk)],
    ['Waiting', `${count(backlog.queued_count, 'delivery', 'deliveries')}, ${backlog.due_count} of them due`],
    ['Due since', backlog.oldest_due_at && `${exactTime(backlog.oldest_due_at)} (UTC)`],
    ['Ordered', behindOthers(backlog)],
    ['Being sent', count(workers.in_flight_count, 'attempt')],
    ['Last claim', workers.last_claim_at && `${exactTime(workers.last_claim_at)} (UTC)`],
  ]);
  const processes = workers.processes.map(({ name, started_at }) => [name, exactTime(started_at)]);
  const done = chores.map(({ name, last_done_at }) => [name, exactTime(last_done_at)]);
  return [
    `${paint.strong('Payhook')} ${version}\n${facts}`,
    processes.length === 0
      ? `${paint.warning('No process delivers webhooks.')}\n`
      : table([{ heading: 'WORKER' }, { heading: 'SINCE (UTC)' }], processes, paint.faint),
    table([{ heading: 'CHORE' }, { heading: 'LAST DONE (UTC)' }], done, paint.faint),
    ...failing_chores.map(
      ({ since, message, ...chore }) =>
        `${paint.warning(`${choreName(chore)} has failed since ${exactTime(since)} (UTC): ${printable(message)}`)}\n`,
    ),
    ...(cells.length === 1 ? [] : [cellTable(cells, paint)]),
  ].join('\n');
}
