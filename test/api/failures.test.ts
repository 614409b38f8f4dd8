import { expect, test } from 'vitest';
import { borrowWorld } from '../support/pool.ts';
import { AFFILIATES, dump, expectRefusal, makeAffiliate, PAYOUTS, PROGRAMS } from './fixtures.ts';

test('an unexpected error is a 500 with the request id and no internals, and nothing is half done', async () => {
  const world = await borrowWorld();
  world.expectErrors();
  await world.query('alter table events rename column payload to hidden');
  const before = await dump(world);
  const answer = await world.api.post(
    AFFILIATES,
    { email: 'ada@example.com' },
    { 'idempotency-key': 'once' },
  );
  expectRefusal(answer, 500, 'internal_error', answer.headers.get('payhook-request-id') ?? 'none');
  expect(answer.text).not.toMatch(/payload|column|events|SQL|\.ts/i);
  const logged = world.log.find(
    (line) => line.reqId === answer.headers.get('payhook-request-id') && line.err,
  );
  expect(JSON.stringify(logged)).toContain('payload');
  expect(await dump(world)).toEqual(before);
  await world.query('alter table events rename column hidden to payload');
  const again = await world.api.post(AFFILIATES, { email: 'ada@example.com' }, { 'idempotency-key': 'once' });
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, null]);
  await world.close();
});

test('an unreachable database is a 500 that says when to retry, until it is back', async () => {
  const world = await borrowWorld({ databaseLatencyMs: 0 });
  const proxy = world.latency!;
  world.expectErrors();
  await makeAffiliate(world.api);
  proxy.refusing = true;
  proxy.cut();
  for (const ask of [() => world.api.get(PAYOUTS), () => world.api.post(PROGRAMS, { name: 'P' })]) {
    const answer = await ask();
    expectRefusal(answer, 500, 'database_unavailable');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  const ready = await world.api.get('/readyz');
  expect([ready.status, (await world.api.get('/healthz')).status]).toEqual([503, 200]);
  proxy.refusing = false;
  expect((await world.api.get(PAYOUTS)).status).toBe(200);
  expect((await world.api.post(PROGRAMS, { name: 'P' })).status).toBe(201);
  await world.close();
});
