import { afterAll, beforeAll, expect, test } from 'vitest';
import { everything, makeUser, signInAs } from '../people/support.ts';
import { isLong, longRun, rounds } from '../support/depth.ts';
import { holdLocks } from '../support/held.ts';
import { makeAffiliates, salesFile, salesFor } from '../support/seed.ts';
import { until } from '../support/wire.ts';
import { type DataFolder, dataFolder, type ServerProcess } from './support-server.ts';

// two or three batches of commissions, and two of events
const COMMISSIONS = rounds(5500, 11_000);
const EVENTS = 1100;

// one after the other, each on the server that the previous one left
let folder: DataFolder;
let server: ServerProcess;
beforeAll(async () => {
  folder = dataFolder({ isShared: !isLong });
  server = await folder.start();
});
afterAll(() => folder?.remove());

/**
 * Holds the lock that a statement needs, waits until the server waits for it, kills the server meanwhile, and starts it
 * again.
 */
async function killedAt(lock: string, begin: () => unknown, andPostgres = false): Promise<void> {
  const held = await holdLocks(folder, lock);
  await begin();
  await held.reached();
  await server.kill(andPostgres);
  await held.letGo();
  server = await folder.start();
}

const traces = async (words: readonly string[]) => {
  const rows = (await everything(folder)).toLowerCase();
  return words.filter((word) => rows.includes(word));
};

interface Sums {
  readonly commissions: number;
  readonly amount: number;
  readonly events: number;
}
const sums = () =>
  folder.query<Sums>(
    `select (select count(*)::int from commissions) as commissions, (select sum(amount)::int from commissions) as amount,
       (select count(*)::int from events where type = 'order.created') as events`,
  );

test('an erasure whose server is killed at one of its steps is finished by the next server, and changes no sum', async () => {
  const [id = 0] = await makeAffiliates(server.api, 1, 'zebulonia');
  const mark = 'zebulonia-0@example.com';
  const changed = await server.api.patch(`/v2/affiliates/${id}`, {
    name_first: 'Zebulonia',
    name_last: 'Quux',
  });
  expect(changed.status, changed.text).toBe(200);
  const file = salesFile(salesFor([id], COMMISSIONS)).replaceAll('\n', `,sold by ${mark}\n`);
  const described = file.replace(`,sold by ${mark}\n`, ',description\n');
  const taken = await server.api.upload('/v2/affiliates/commissions/import', described);
  expect(taken.body.created, taken.text).toBe(COMMISSIONS);
  for (const count of [1000, EVENTS - 1000]) {
    const events = Array(count).fill({ type: 'order.created', data: { by: mark } });
    const published = await server.api.post('/v2/events/batch', { events });
    expect(published.status, published.text).toBe(200);
  }
  const before = await sums();
  const left = async (table: 'commissions' | 'events', column: string) => {
    const [row] = await folder.query<{ left: number }>(
      `select count(*)::int as left from ${table} where ${column} ~ '${mark}'`,
    );
    return row?.left ?? 0;
  };
  expect(await left('events', 'payload')).toBeGreaterThan(EVENTS);

  const ask = () => server.api.post(`/v2/affiliates/${id}/erase`);
  const last = (table: string) =>
    `select from ${table} where id = (select max(id::text)::uuid from ${table}) for update`;
  await killedAt(last('commissions'), async () => expect((await ask()).body.status).toBe('in_progress'));
  expect(await left('commissions', 'description')).toBeGreaterThan(0);
  expect(await left('commissions', 'description')).toBeLessThan(COMMISSIONS);
  if (isLong) {
    await killedAt(last('events'), () => undefined, true);
    expect(await left('commissions', 'description')).toBe(0);
    expect(await left('events', 'payload')).toBeGreaterThan(0);
    expect(await left('events', 'payload')).toBeLessThan(EVENTS);
    await killedAt('select from payout_books for update', () => undefined);
  }
  await until('it to be completed', async () => (await ask()).body.status === 'completed');
  expect(await traces([mark, 'zebulonia', 'quux'])).toEqual([]);
  expect(await sums()).toEqual(before);
});

longRun.test(
  'an erasure of a user that is killed halfway changes nothing; the next one leaves nothing',
  async () => {
    const [email, name] = ['leaver@example.com', 'Leaver Lovelace'];
    await makeUser(server.api, 'owner');
    const { id } = await makeUser(server.api, 'owner', email);
    const path = `/v2/users/${id}`;
    expect((await server.api.patch(path, { name })).status).toBe(200);
    const user = (await server.api.get(path)).body;
    const session = `select from sessions where public_id('usr', user_id) = '${id}' for update`;
    let answer: unknown;
    await killedAt(session, () => {
      const erased = server.api.post(`${path}/erase`).catch(() => null);
      void erased.then((one) => {
        answer = one;
      });
    });
    expect(answer).toBeNull();
    expect((await server.api.get(path)).body).toEqual(user);
    expect((await signInAs(server.url, email)).answer.status).toBe(303);
    const erased = await server.api.post(`${path}/erase`);
    expect([erased.status, erased.body.status], erased.text).toEqual([200, 'removed']);
    expect(await traces([email, name.toLowerCase()])).toEqual([]);
    expect((await signInAs(server.url, email)).answer.status).not.toBe(303);
  },
);
