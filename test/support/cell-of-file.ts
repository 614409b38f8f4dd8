import { createHash } from 'node:crypto';
import { expect, inject } from 'vitest';

/** A cell of the templates. */
export type TestCell = 0 | 1;

/** The rooms whose files can use either cell, and those whose files are spread over both unless TEST_CELL says otherwise. */
const EITHER = /\/test\/((access|api|delivery|properties|races|tenants)\/.+)$/;
const SPREAD = ['access', 'api', 'delivery', 'properties', 'races', 'tenants'];

/**
 * The cell that holds the accounts of the current test file: cell 1 for half of the files, by a hash of the path, so that a file
 * is always in the same cell. TEST_CELL=0 or TEST_CELL=1 decides for all of them.
 */
export function cellOfFile(): TestCell {
  const { cluster, replica } = inject('postgres');
  const [, path, room = ''] = EITHER.exec(expect.getState().testPath ?? '') ?? [];
  // a database on a node of Citus is one schema, and only cell 0 has a replica
  if (path === undefined || cluster || replica) return 0;
  const { TEST_CELL: forced = SPREAD.includes(room) ? 'spread' : '0' } = process.env;
  if (forced === '0' || forced === '1') return Number(forced) as TestCell;
  if (forced !== 'spread') throw new Error(`TEST_CELL must be 0, 1 or spread, not ${forced}`);
  return ((createHash('sha256').update(path).digest()[0] ?? 0) % 2) as TestCell;
}
