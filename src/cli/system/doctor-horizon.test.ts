import { expect, test } from 'vitest';
import { checkHorizon } from './doctor-horizon.ts';

type Horizon = NonNullable<Parameters<typeof checkHorizon>[0]['horizon']>;
type Holder = Horizon['holders'][number];

const SESSION: Holder = {
  kind: 'session',
  name: '4711',
  user: 'reports',
  application: 'psql',
  state: 'idle in transaction',
  since: '2026-01-01T00:00:00.000Z',
  seconds: 3600,
  transactions: 12_000,
  query: 'select * from commissions',
  isHidden: false,
  walBytes: null,
};
const NOTHING = { user: null, application: null, since: null, seconds: null, query: null };

const reported = (holders: readonly Holder[], rows = { deadRows: 0, liveRows: 0 }) =>
  checkHorizon({ horizon: { holders, ...rows }, role: 'payhook' }).map(
    ({ name, status, detail }) => `${name}, ${status}: ${detail}`,
  );

test('a session that has held a snapshot for ten minutes is named, with how to end it', () => {
  expect(reported([SESSION])[0]).toBe(
    'old snapshots, warning: session 4711 (reports, psql, idle in transaction, select * from commissions) keeps dead rows ' +
      'since 2026-01-01T00:00:00.000Z, for 12000 transactions: let it finish, or run select pg_terminate_backend(4711)',
  );
  expect(reported([{ ...SESSION, seconds: 599 }])[0]).toMatch(
    /^old snapshots, ok: none is older than ten minutes; session 4711 /,
  );
  expect(reported([])[0]).toBe('old snapshots, ok: nothing keeps dead rows');
});

test('prepared transactions and slots that nobody reads are named, and the rest is counted', () => {
  const prepared: Holder = {
    ...SESSION,
    kind: 'prepared',
    name: "it's",
    application: null,
    state: null,
    query: null,
  };
  expect(reported([prepared])[0]).toContain(
    "the prepared transaction it's of reports keeps dead rows since 2026-01-01T00:00:00.000Z, for 12000 transactions: " +
      "run commit prepared 'it''s' or rollback prepared 'it''s'",
  );
  const slot: Holder = {
    ...SESSION,
    ...NOTHING,
    kind: 'slot',
    name: 'old',
    state: 'inactive',
    transactions: null,
  };
  expect(reported([{ ...slot, walBytes: 3e9 }])[0]).toBe(
    'old snapshots, warning: nobody reads the slot old, which keeps 3000 MB of WAL: start its reader, or ' +
      "run select pg_drop_replication_slot('old')",
  );
  const replica: Holder = { ...slot, state: 'active', transactions: 2_000_000 };
  expect(reported([replica])[0]).toContain(
    'the replica of slot old keeps dead rows for 2000000 transactions: end its long',
  );
  expect(reported([SESSION, SESSION, prepared, replica, slot])[0]).toMatch(/; and 2 more$/);
});

test('what PostgreSQL hides is said, and not called well', () => {
  const hidden: Holder = {
    ...SESSION,
    ...NOTHING,
    user: 'reports',
    state: null,
    transactions: null,
    isHidden: true,
  };
  const detail =
    '2 sessions of other roles may keep dead rows, but payhook may not see since when: ' +
    'grant pg_read_all_stats to payhook';
  expect(reported([hidden, hidden])[0]).toBe(`old snapshots, warning: ${detail}`);
  expect(reported([SESSION, hidden, hidden])[0]).toMatch(
    /^old snapshots, warning: session 4711 .*; 2 sessions of other/,
  );
});

test('a queue with many times more dead rows than rows is a warning', () => {
  expect(reported([], { deadRows: 60_000, liveRows: 10 })[1]).toMatch(
    /^dead rows, warning: the queue has about 10 rows and 60000 dead/,
  );
  expect(reported([], { deadRows: 60_000, liveRows: 10_000 })[1]).toMatch(/^dead rows, ok/);
});
