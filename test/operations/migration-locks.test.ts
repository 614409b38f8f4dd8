import { expect, test } from 'vitest';
import { readMigrations } from '../../src/db/migration-files.ts';
import { LARGE, problemsOf } from '../support/migration-locks.ts';

/** Earlier migrations were written without this rule. */
const FIRST = 59;
test('the large tables are those of commissions, payout lines, events and requests', () => {
  expect(LARGE).toEqual(
    expect.arrayContaining([
      'commissions',
      'payout_line_totals',
      'events',
      'deliveries',
      'attempts',
      'audit_log',
      'queue',
    ]),
  );
  expect(LARGE).not.toContain('accounts');
});

const migrations = readMigrations().filter(({ version }) => version >= FIRST);

test.each(migrations.map(({ name, text }) => [name, text]))(
  'migration %s states its locks and its time, and avoids large tables',
  (_, text) => expect(problemsOf(text, LARGE)).toEqual([]),
);

const HEAD = '-- Locks: none that last.\n-- Time: none.\n';

test.each([
  ['create index commissions_x on commissions (x)', 'builds an index'],
  ['create unique index x\n  on only events (id)', 'builds an index'],
  ['alter table commissions add column x uuid default new_id()', 'volatile default'],
  ['alter table commissions add column x int generated always as (1) stored', 'generated column'],
  ['alter table commissions alter column amount type numeric', 'another type'],
  ['alter table commissions alter column x set not null', 'NOT NULL'],
  ['alter table commissions add constraint x check (amount > 0)', 'NOT VALID'],
  ['alter table commissions add column x int check (x > 0)', 'NOT VALID'],
  ['alter table commissions add foreign key (x) references payouts', 'NOT VALID'],
  ['alter table commissions add constraint x unique (y)', 'index under a lock'],
  ['update commissions set x = 1 where x is null', 'in one transaction'],
  ['do $$ begin delete from audit_log; end $$', 'in one transaction'],
])('a migration with "%s" is refused', (statement, problem) => {
  expect(problemsOf(`${HEAD}${statement};`, LARGE)).toEqual([expect.stringContaining(problem)]);
});

test.each([
  'alter table queue add column alone boolean not null default false',
  'alter table commissions add column x text',
  'alter table commissions add constraint x check (amount > 0) not valid',
  'alter table accounts alter column name set not null',
  'create table new_things (x int check (x > 0)); create index new_things_x on new_things (x)',
  'create index affiliate_programs_x on affiliate_programs (name)',
])('a migration with "%s" is accepted', (statement) => {
  expect(problemsOf(`${HEAD}${statement};`, LARGE)).toEqual([]);
});

test('a migration that does not state its locks and its time is refused', () => {
  expect(problemsOf('alter table accounts add column x int;', LARGE)).toHaveLength(2);
});
