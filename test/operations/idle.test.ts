import { expect, test } from 'vitest';
import { choresOf } from '../../src/app/chores.ts';
import { doChore } from '../../src/db/chores.ts';
import { onStage, type Stage } from '../delivery/support.ts';
import { until } from '../support/wire.ts';

const MINUTE_MS = 60_000;

interface Read {
  readonly rows: number;
  readonly transactions: number;
}

/** Creates this many more accounts, each with two idle endpoints. */
async function addAccounts({ world }: Stage, count: number): Promise<void> {
  await world.query(
    `with made as (insert into accounts (name) select 'Idle ' || g from generate_series(1, $1::int) g returning id),
     booked as (insert into payout_books (account_id) select id from made),
     marked as (
       insert into affiliate_balance_marks (account_id, available_at, minimum_payout) select id, now_ms(), '{}' from made),
     endpoint as (
       insert into webhook_endpoints (account_id, url, secret)
       select id, 'https://idle.example.com/' || n, 'x' from made cross join generate_series(1, 2) n returning account_id, id)
     insert into endpoint_state (account_id, endpoint_id) select account_id, id from endpoint`,
    [count],
  );
  await world.query('vacuum (analyze)');
}

/** What the program reads while `work` runs. A session reports that to the others when it ends, or on request. */
async function readBy({ world }: Stage, work: () => Promise<void>): Promise<Read> {
  const others = `from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
    and backend_type = 'client backend'`;
  const counted = async (): Promise<Read> => {
    await world.query(`select pg_terminate_backend(pid) ${others}`);
    await until('the sessions to end', async () => (await world.query(`select ${others}`)).length === 0);
    // what this session did before, such as a vacuum of all tables, must not count later
    await world.query('select pg_stat_force_next_flush()');
    const [read] = await world.query<Read>(
      `select (select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) from pg_stat_user_tables)::float8 as rows,
              xact_commit::float8 as transactions from pg_stat_database where datname = current_database()`,
    );
    return read as Read;
  };
  const before = await counted();
  await work();
  const after = await counted();
  return { rows: after.rows - before.rows, transactions: after.transactions - before.transactions };
}

test('a round of chores and a readiness check read as much among 4,000 accounts as among 2,000', () =>
  onStage({ own: true, delivers: false }, async (stage) => {
    const { world } = stage;
    world.expectErrors(); // the program's connections are ended
    const chores = choresOf(world.platform).filter(({ everyMs }) => everyMs <= MINUTE_MS);
    expect(chores.length).toBeGreaterThan(8);
    const round = () =>
      readBy(stage, async () => {
        for (const chore of chores) await doChore(world.db, chore);
        expect((await fetch(`${world.url}/readyz`)).status).toBe(200);
      });
    await round();
    const one = await round();
    await addAccounts(stage, 2000);
    await round(); // work done once for a new account
    const some = await round();
    await addAccounts(stage, 2000);
    await round();
    const many = await round();
    // includes the queries of this test
    expect(some.transactions).toBeLessThan(one.transactions + 100);
    expect(many.transactions).toBeLessThan(one.transactions + 100);
    // a thousand accounts are checked in a round, each with its mark and its first commission
    expect(some.rows).toBeLessThan(one.rows + 8000);
    expect(many.rows).toBeLessThanOrEqual(some.rows + 1000);
  }));
