import { createHash } from 'node:crypto';
import { expect, inject } from 'vitest';

/** A cell of the templates. */
export type TestCell = 0 | 1;

/** The tables of a cell, as an option of a connection to a database of the tests. */
export const tablesOf = (cell: TestCell): { options?: string } =>
  cell === 0 ? {} : { options: `-c search_path=cell_${cell}` };

/** The files that can use either cell: those of these rooms, and the crash tests. Others are about the installation or cell 0. */
const ROOMS = /\/test\/((?:access|api|delivery|properties|races|tenants)\/.+)$/;
const CRASHES =
  /\/test\/(faults\/(?:deliveries|erasure|invoices|kill|recoveries|rolling|stalls|stop)\.test\.ts)$/;

/** The path of the current test file if its accounts can be in any cell. */
function pathInAnyCell(): string | undefined {
  const { testPath = '' } = expect.getState();
  const [, path] = ROOMS.exec(testPath) ?? CRASHES.exec(testPath) ?? [];
  return path;
}

/** Whether the accounts of the current test file are in a cell on a node of Citus (TEST_CITUS). */
export const isOnNode = (): boolean =>
  inject('postgres').cluster !== undefined && pathInAnyCell() !== undefined;

/**
 * The cell that holds the accounts of the current test file: cell 1 for half of the files, by a hash of the path, so that a file
 * is always in the same cell. TEST_CELL=0 or TEST_CELL=1 decides for all of them.
 */
export function cellOfFile(): TestCell {
  const { cluster, replica } = inject('postgres');
  const path = pathInAnyCell();
  // a database on a node of Citus is one schema, and only cell 0 has a replica
  if (path === undefined || cluster || replica) return 0;
  const { TEST_CELL: forced = 'spread' } = process.env;
  if (forced === '0' || forced === '1') return Number(forced) as TestCell;
  if (forced !== 'spread') throw new Error(`TEST_CELL must be 0, 1 or spread, not ${forced}`);
  return ((createHash('sha256').update(path).digest()[0] ?? 0) % 2) as TestCell;
}
