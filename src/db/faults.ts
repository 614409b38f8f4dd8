import pg from 'pg';

const UNAVAILABLE = new Set([
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '08000',
  '08001',
  '08003',
  '08006',
  '08P01',
]);

/** The SQLSTATE of an error, or the code of one of Node's; '' = it has none. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

/** Whether an error means that PostgreSQL cannot be reached at the moment, not that a statement was wrong. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (
    UNAVAILABLE.has(code) ||
    isLostNode(error) ||
    /^(ECONN|ENOENT|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN)/.test(code)
  )
    return true;
  return /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/.test(
    error.message,
  );
}

/** Messages of Citus when it lost a node, or when its own server ended at once while it waited for one. */
const LOST_NODE =
  /^(connection error: |connection to the remote node |failure on connection marked as essential: |terminating connection due to unexpected postmaster exit|postmaster was shut down, exiting)/;
/** Those of libpq, which Citus passes on with the node in the context (`ReportResultError`). */
const LOST_CONNECTION =
  /^(server closed the connection|could not (send|receive) data|no connection to the server|connection not open|SSL (SYSCALL|connection|error))/;
const ON_NODE = /^while executing command on /m;
/**
 * What Citus says of tables on a node that is marked as inactive (SQLSTATE 0A000 or XX000). The last is what it says of any
 * locking query that it cannot send to one node; a cell is on one node, so it can send all of them unless the node is inactive.
 */
const INACTIVE =
  /^(no active placements were found for shard |could not connect to any active placements|found no worker with all shard placements|cannot find a worker that has active placements|could not run distributed query with FOR UPDATE\/SHARE)/;

/** Whether Citus cannot reach one of its nodes. It has no SQLSTATE for that in most places, so it is XX000. */
function isLostNode(error: Error): boolean {
  if (!(error instanceof pg.DatabaseError)) return false;
  const { code = '', message, where = '' } = error;
  if (code !== 'XX000') return code === '0A000' && INACTIVE.test(message);
  return (
    LOST_NODE.test(message) ||
    INACTIVE.test(message) ||
    (LOST_CONNECTION.test(message) && ON_NODE.test(where))
  );
}

/** Why PostgreSQL cannot do its work, as far as an error shows; null = another reason. */
export function databaseFault(error: unknown): 'unavailable' | 'disk_full' | 'read_only' | 'too_long' | null {
  const code = codeOf(error);
  if (code === '53100' || code === 'ENOSPC') return 'disk_full';
  if (code === '25006') return 'read_only';
  if (code === '57014') return 'too_long'; // statement_timeout, or cancelled by hand
  return isUnavailable(error) ? 'unavailable' : null;
}

/** The message of Citus for a unique violation on a node: it does not pass on the constraint, and there a number follows its name. */
const VIOLATED_ON_NODE = /^duplicate key value violates unique constraint "(.+?)(?:_\d+)?"$/;

/** The name of the violated constraint when the error is a unique violation (23505), else null. */
export function uniqueViolation(error: unknown): string | null {
  return error instanceof pg.DatabaseError && error.code === '23505'
    ? (error.constraint ?? VIOLATED_ON_NODE.exec(error.message)?.[1] ?? '')
    : null;
}

/** Whether PostgreSQL ended a transaction because of its locks: it waited too long for one, or was in a deadlock. */
export const endedForLocks = (error: unknown): boolean => ['55P03', '40P01'].includes(codeOf(error));

/**
 * Whether a row found no partition of its table (ExecFindPartition). Of all check violations this one alone names a table
 * and no constraint. From a node, Citus passes on only the message.
 */
export const missesPartition = (error: unknown): boolean =>
  error instanceof pg.DatabaseError &&
  error.code === '23514' &&
  error.constraint === undefined &&
  (error.table !== undefined || error.message.startsWith('no partition of relation'));
