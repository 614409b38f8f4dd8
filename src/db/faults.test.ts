import pg from 'pg';
import { expect, test } from 'vitest';
import { databaseFault } from './faults.ts';

/** An error as PostgreSQL reports it. */
function reported(code: string, message: string, where?: string): Error {
  const error = new pg.DatabaseError(message, message.length, 'error');
  return Object.assign(error, { code, where });
}

const ON_NODE = 'while executing command on 10.0.0.7:5432';

test.each([
  // Citus 10 and later
  [
    '08006',
    'connection to the remote node 10.0.0.7:5432 failed with the following error: could not connect to server: Connection refused',
  ],
  ['08006', 'connection to the remote node citus@10.0.0.7:5432 failed'],
  [
    'XX000',
    'connection to the remote node 10.0.0.7:5432 failed with the following error: server closed the connection unexpectedly',
  ],
  // before
  ['XX000', 'connection error: 10.0.0.7:5432'],
  ['XX000', 'failure on connection marked as essential: 10.0.0.7:5432'],
  // the node is marked as inactive
  ['XX000', 'no active placements were found for shard 102010'],
  ['XX000', 'could not connect to any active placements'],
  ['0A000', 'cannot find a worker that has active placements for all shards in the query'],
  ['0A000', 'could not run distributed query with FOR UPDATE/SHARE commands'],
  // the coordinator ended at once while it waited for a node
  ['XX000', 'terminating connection due to unexpected postmaster exit'],
  ['XX000', 'postmaster was shut down, exiting'],
  ['0A000', 'found no worker with all shard placements'],
  // the node ended while it worked: the text is of libpq, the node is in the context
  [
    'XX000',
    'server closed the connection unexpectedly\n\tThis probably means the server terminated abnormally',
    ON_NODE,
  ],
  ['XX000', 'could not receive data from server: Connection reset by peer', ON_NODE],
  ['XX000', 'could not send data to server: Connection timed out', `SQL statement "select 1"\n${ON_NODE}`],
  ['XX000', 'SSL SYSCALL error: EOF detected', ON_NODE],
  ['XX000', 'connection not open', ON_NODE],
  ['57P01', 'terminating connection due to administrator command', ON_NODE],
])(
  'a node of Citus that is gone is an unavailable database: %s %s',
  (code: string, message: string, where?: string) => {
    expect(databaseFault(reported(code, message, where))).toBe('unavailable');
  },
);

test.each([
  ['XX000', 'cache lookup failed for relation 16384'],
  ['XX000', 'could not receive data from client: Connection reset by peer'],
  ['0A000', 'could not run distributed query with GROUPING SETS'],
  ['23514', 'connection error: a text of a user'],
  ['P0001', 'server closed the connection unexpectedly', ON_NODE],
])('another error is none: %s %s', (code: string, message: string, where?: string) => {
  expect(databaseFault(reported(code, message, where))).toBeNull();
});
