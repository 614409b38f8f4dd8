import { beforeAll, describe, expect, test } from 'vitest';
import { newSecret } from '../../src/kernel/secrets.ts';
import { rounds, someOf } from '../support/depth.ts';
import { makeGrant } from '../support/seed.ts';
import { until } from '../support/wire.ts';
import { useWorld } from '../support/world.ts';
import { browserAt } from './support.ts';

const world = useWorld({
  settings: { TRUSTED_PROXIES: '127.0.0.1/32' },
});

const FLOOD = rounds(24, 40);
/** How often work had to wait for a connection of a pool so far. */
const waitsOf = (pool: string) => world.db.pools().find(({ name }) => name === pool)?.waits;
const signIn = (email: string, address: string) =>
  browserAt(world.url).submit(
    '/sign-in',
    { email, password: 'wrong and wrong' },
    { 'x-forwarded-for': address },
  );
/** A request whose response is read to the end: an unread one would keep its connection. */
async function ask(path: string, init: RequestInit) {
  const answer = await fetch(world.url + path, init);
  const { status, headers } = answer;
  return { status, retryAfter: headers.get('retry-after'), text: await answer.text() };
}
const UNKNOWN = { client_id: 'app_unknown', client_secret: 'x' };
const askForToken = (address: string, form: Record<string, string> = UNKNOWN) =>
  ask('/oauth/token', {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'refresh_token', ...form }),
    headers: { 'x-forwarded-for': address },
  });
let refresh: Record<string, string>;
beforeAll(async () => {
  const { application_id, client_secret = '', refresh_token } = await makeGrant(world, world.api);
  refresh = { client_id: application_id, client_secret, refresh_token };
});
const write = async (name: string) => (await world.api.post('/v2/affiliates/programs', { name })).status;

/** Keeps a flood of these requests going until the work is done; returns the statuses of its responses. */
async function during(send: (number: number) => Promise<{ status: number }>, work: () => Promise<void>) {
  const statuses = new Map<number, number>();
  let isOver = false;
  let count = 0;
  const flood = Array.from({ length: FLOOD }, async () => {
    while (!isOver) {
      const { status } = await send(count++);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  });
  try {
    await until('the flood has begun', () => count > FLOOD);
    await work();
  } finally {
    isOver = true;
    await Promise.all(flood);
  }
  return statuses;
}

describe('no write waits for a connection during', () => {
  test.each(
    someOf(
      [
        [
          'a flood of sign-ins from everywhere',
          (number: number) => signIn(`${number}@example.com`, `198.51.${number % 200}.${number % 250}`),
        ],
        [
          'a flood of requests for tokens with the same refresh token',
          (number: number) => askForToken(`203.0.113.${number % 250}`, refresh),
        ],
        ['a flood of sign-ins from one address', () => signIn('a@example.com', '198.51.100.1')],
      ] as const,
      1,
    ),
  )('%s', async (_, send) => {
    const before = waitsOf('writing');
    expect(before).toBeTypeOf('number');
    const statuses = await during(send, async () => {
      for (let i = 0; i < rounds(4, 8); i++) expect(await write(`During ${_} ${i}`)).toBe(201);
    });
    expect([...statuses.keys()].filter((status) => ![200, 400, 429, 503].includes(status))).toEqual([]);
    expect(waitsOf('writing')).toBe(before);
    await world.query('delete from sign_in_failures');
  });
});

test.each(
  someOf(
    [
      ['API keys', () => ({ authorization: `Bearer ${newSecret('ph_', 0)}` })],
      ['access tokens', () => ({ authorization: `Bearer ${newSecret('pha_', 0)}` })],
      ['cookies', () => ({ cookie: `payhook_session=${newSecret('phi_', 0)}` })],
      ['tokens of portals', () => ({ authorization: `Bearer ${newSecret('phpt_', 0)}` })],
      [
        'access tokens on pages of other sites',
        () => ({ authorization: `Bearer ${newSecret('pha_', 0)}`, origin: 'https://shop.example.com' }),
      ],
    ] as const,
    1,
  ),
)('no read waits for a connection during a flood of wrong %s', async (_, headers) => {
  const before = waitsOf('reading');
  const statuses = await during(
    () => ask('/v2/account', { headers: headers() }),
    async () => {
      for (let i = 0; i < rounds(4, 8); i++) expect((await world.api.get('/v2/account')).status).toBe(200);
    },
  );
  expect([...statuses.keys()]).toEqual([401]);
  expect(waitsOf('reading')).toBe(before);
});

test('while sign-ins hang, writes continue, and one address has half of the slots', async () => {
  // attempts that wait too long for a connection are reported as errors
  world.expectErrors();
  const locker = await world.connect();
  await locker.query('begin; lock table sign_in_failures in access exclusive mode');
  const flood = Array.from({ length: 60 }, (__, number) => signIn(`${number}@example.com`, '192.0.2.1'));
  const refused = await Promise.any(
    flood.map(async (request) => {
      const answer = await request;
      if (answer.status !== 503) throw new Error(`${answer.status}`);
      return answer;
    }),
  );
  expect(refused.headers.get('retry-after')).toBe('2');
  expect(refused.text).toContain('try again in a few seconds');
  expect(await write('While nobody can sign in')).toBe(201);
  const token = await askForToken('192.0.2.1');
  expect([token.status, token.retryAfter, JSON.parse(token.text)]).toEqual([
    503,
    '2',
    { error: 'temporarily_unavailable', error_description: expect.stringContaining('in progress') },
  ]);
  // another address has slots
  expect((await askForToken('192.0.2.2')).status).toBe(401);
  await locker.query('rollback');
  await locker.end();
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 503)).toHaveLength(10);
  await world.query('delete from sign_in_failures');
});

test('a limit that was reached is reported without waiting for other attempts', async () => {
  await world.query(`insert into sign_in_failures (subject) select $1 from generate_series(1, 50)`, [
    'address 192.0.2.9',
  ]);
  const locker = await world.connect();
  await locker.query(`select pg_advisory_lock(hashtextextended('attempts address 192.0.2.9', 0))`);
  const answer = await signIn('late@example.com', '192.0.2.9');
  expect(answer.status).toBe(429);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  await locker.end();
  await world.query('delete from sign_in_failures');
});
