import sql from 'sql-template-tag';
import { expect, test } from 'vitest';
import { untilLockWait } from '../support/held.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { AFFILIATES, expectRefusal, makeAffiliate } from './fixtures.ts';

const world = useWorld();
const api = useAccount(world);

test('every pool has a time limit for statements, and a long transaction has its own', async () => {
  const { db } = world;
  const limit = sql`select current_setting('statement_timeout') as limit`;
  const of = ([row]: { limit: string }[]) => row?.limit;
  for (let round = 0; round < 2; round++) {
    expect(of(await db.reader.rows(limit))).toBe('5min');
    expect(of(await db.transaction((tx) => tx.rows(limit), { takesLong: true }))).toBe('1d');
    expect(of(await db.transaction((tx) => tx.rows(limit)))).toBe('5min');
    expect(of(await db.transaction((tx) => tx.rows(limit), { single: true }))).toBe('5min');
    expect(of(await db.engine((tx) => tx.rows(limit)))).toBe('5min');
    expect(of(await db.snapshot((snapshot) => snapshot.rows(limit)))).toBe('1d');
  }
});

test('a statement that exceeds its time limit is refused with a reason, and nothing is written', async () => {
  const { id } = await makeAffiliate(api, { name_first: 'Ada' });
  const { db } = world;
  let answer: ReturnType<typeof api.patch> | undefined;
  await db.transaction(async (tx) => {
    await tx.rows(sql`select 1 from affiliates where id = ${id} for update`);
    answer = api.patch(`${AFFILIATES}/${id}`, { name_first: 'Zoe' });
    // PostgreSQL ends it as it does after statement_timeout, with 57014
    await untilLockWait(world);
    await world.query(
      `select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and state = 'active'
       and query like '%affiliates%for no key update%' and pid <> pg_backend_pid()`,
    );
    expectRefusal(await (answer as NonNullable<typeof answer>), 500, 'took_too_long');
  });
  expect((await api.get(`${AFFILIATES}/${id}`)).body.name_first).toBe('Ada');
  world.expectErrors();
});
