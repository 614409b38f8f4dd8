import type { Principal } from '../../contract/route.ts';
import type { Cell } from '../../db/cells.ts';
import type { Reader, ReplicaState } from '../../db/database.ts';
import { fail } from '../../kernel/errors.ts';
import { inTime } from '../../kernel/in-time.ts';
import { type Json, toJson } from '../../kernel/json.ts';
import { programVersion } from '../../kernel/version.ts';
import type { KnownState, System } from './record.ts';
import { isFirstAccount, readState } from './store.ts';

/** How long to wait for a cell other than 0. */
const CELL_PATIENCE_MS = 3000;

/** What the server knows of the installation, besides the database. */
interface Surroundings {
  /** Room on the disk of the data folder, in bytes. */
  readonly disk: System['disk'];
  readonly replica: ReplicaState | null;
  /** Cell 0 first. */
  readonly cells: readonly Cell[];
}

/** A cell with its state; null while it cannot be used. */
interface ReadCell extends Omit<Cell, 'db'> {
  readonly known: KnownState | null;
}

/**
 * The state of the installation, for its operator: the command line on its machine, and keys and owners of the
 * account that was made first. Throws `installation_only`.
 */
export async function describeSystem(
  db: Reader,
  who: Principal,
  { disk, replica, cells }: Surroundings,
): Promise<Json<System>> {
  if (who.kind !== 'operator' && (db.cell !== 0 || !(await isFirstAccount(db, who.account)))) {
    throw fail(
      'installation_only',
      'only the account that was created first, and the command line on the machine, can see this',
    );
  }
  const read = await Promise.all(cells.map(readCell));
  const states = read.flatMap(({ known }) => known ?? []);
  if (states[0] === undefined) throw new Error('there is no cell 0');
  const { account_count: _, ...first } = states[0];
  const sum = (of: (state: KnownState) => number) => states.reduce((total, state) => total + of(state), 0);
  const earliest = (of: (state: KnownState) => string | null) =>
    states.flatMap((state) => of(state) ?? []).toSorted()[0] ?? null;
  return toJson<System>({
    ...first,
    backlog: {
      queued_count: sum(({ backlog }) => backlog.queued_count),
      due_count: sum(({ backlog }) => backlog.due_count),
      behind_count: sum(({ backlog }) => backlog.behind_count),
      behind_since: earliest(({ backlog }) => backlog.behind_since),
      oldest_due_at: earliest(({ backlog }) => backlog.oldest_due_at),
    },
    workers: { ...first.workers, in_flight_count: sum(({ workers }) => workers.in_flight_count) },
    alerts: {
      waiting_count: sum(({ alerts }) => alerts.waiting_count),
      failed_count: sum(({ alerts }) => alerts.failed_count),
      last_error: states.flatMap(({ alerts }) => alerts.last_error ?? [])[0] ?? null,
    },
    failing_chores: read.flatMap(({ number, known }) =>
      (known?.failing_chores ?? []).map((chore) => ({ ...chore, cell: number })),
    ),
    version: programVersion(),
    replica: replica && describeReplica(replica),
    cells: read.map(describeCell),
    disk,
  });
}

/** Reads the state of a cell. Throws what PostgreSQL says of cell 0; another cell then has a problem instead. */
async function readCell({ db, ...cell }: Cell): Promise<ReadCell> {
  if (db === null) return { ...cell, problem: cell.problem ?? 'is not open yet', known: null };
  const reading = readState(db.reader).then((known) => ({ ...cell, known }));
  if (cell.number === 0) return reading;
  const down = (problem: string) => ({ ...cell, problem, known: null });
  return inTime<ReadCell>(
    CELL_PATIENCE_MS,
    reading.catch(() => down('cannot be reached')),
    () => down(`does not answer within ${CELL_PATIENCE_MS / 1000} s`),
  );
}

const describeCell = ({
  number,
  state,
  problem,
  host,
  schema,
  known,
}: ReadCell): System['cells'][number] => ({
  number,
  state,
  problem,
  host,
  schema,
  schema_version: known?.schema_version ?? null,
  account_count: known?.account_count ?? null,
  due_count: known?.backlog.due_count ?? null,
  worker_count: known?.workers.processes.length ?? null,
});

const describeReplica = ({ problem, lagMs, lagBytes }: ReplicaState): NonNullable<System['replica']> => ({
  is_used: problem === null,
  problem: problem && `the replica ${problem}`,
  lag_ms: lagMs,
  lag_bytes: lagBytes,
});
