import { expect, test } from 'vitest';
import { borrowWorld } from '../support/pool.ts';

// no cluster runs here: a trigger raises the errors of Citus (src/db/faults.test.ts has more of its texts)
test('a lost Citus node is reported as unavailable with the time to retry; nothing is written', async () => {
  const world = await borrowWorld({ own: true });
  try {
    world.expectErrors();
    await world.query(`
      create function lose_node() returns trigger language plpgsql as $$ begin
        raise exception using errcode = 'XX000',
          message = 'connection to the remote node 10.0.0.7:5432 failed with the following error: Connection refused';
      end $$;
      create trigger lost_node after insert on affiliates for each row execute function lose_node()`);
    const add = () => world.api.post('/v2/affiliates', { email: 'ada@example.com' });
    const { status, reason, headers, body } = await add();
    expect([status, body.error.code, reason, headers.get('retry-after')]).toEqual([
      500,
      'internal_error',
      'database_unavailable',
      '2',
    ]);
    expect(await world.query('select 1 from affiliates')).toEqual([]);
    await world.query('drop trigger lost_node on affiliates; drop function lose_node');
    expect((await add()).status).toBe(201);
  } finally {
    await world.close();
  }
});
