import { readdirSync, readlinkSync } from 'node:fs';
import sql from 'sql-template-tag';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer, Api } from '../support/api.ts';
import { longRun, rounds, someOf } from '../support/depth.ts';
import { IMBALANCES, MISSING_EVENTS } from '../support/imbalances.ts';
import type { LatencyProxy } from '../support/latency.ts';
import { borrowWorld } from '../support/pool.ts';
import { longSalesFile, makeAffiliates, salesFile, salesFor, takeIn } from '../support/seed.ts';
import { isWhole, openWire, until } from '../support/wire.ts';
import type { World } from '../support/world.ts';

const PAYOUTS = '/v2/affiliates/payouts';
const COMMISSIONS = '/v2/affiliates/commissions';

/** Runs a test in a world whose connections can be cut, where the faults it provokes may be logged. */
async function inWorld(
  options: { poolSize?: number },
  work: (world: World & { latency: LatencyProxy }) => Promise<void>,
): Promise<void> {
  const world = await borrowWorld({ databaseLatencyMs: 0, ...options });
  world.expectErrors();
  let failure: unknown;
  try {
    await work(world as World & { latency: LatencyProxy });
  } catch (error) {
    failure = error;
  }
  await world.close().catch((error: unknown) => {
    failure ??= error;
  });
  if (failure) throw failure;
}

function expectUnavailable(answer: Answer): void {
  expect([answer.status, answer.body?.error?.code], answer.text).toEqual([500, 'internal_error']);
  expect(answer.reason).toBe('database_unavailable');
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
}

// the pools are named by the secret keys of the program; the listening and watching connections belong to no request,
// and a statement may have parallel workers
const OF_THE_PROGRAM = `datname = current_database() and application_name like 'payhook%'
  and application_name not in ('payhook listener', 'payhook watch') and backend_type = 'client backend'`;

/** Connections of the program in the middle of a transaction or statement. */
function busy(world: World): Promise<{ state: string; query: string }[]> {
  return world.query(
    `select state, query from pg_stat_activity
     where ${OF_THE_PROGRAM} and state <> 'idle'`,
  );
}

const rowsOf = async (world: World) =>
  (
    await world.query<{ state: string }>(
      `select json_build_array(
         (select json_agg(json_build_array(id, status, revision) order by id) from payouts),
         (select json_agg(json_build_array(id, payout_id, amount, voided_at) order by id) from commissions),
         (select count(*) from events), (select count(*) from idempotency_keys),
         (select count(*) from affiliates))::text as state`,
    )
  )[0]?.state;

describe.concurrent('an unreachable PostgreSQL', () => {
  test('is a 500 that says so and when to retry; everything works again when it is back', () =>
    inWorld({}, async ({ api, latency, url }) => {
      const [affiliate = 0] = await makeAffiliates(api, 1);
      const [sale] = salesFor([affiliate], 1);
      latency.refusing = true;
      latency.cut();
      for (let round = 0; round < rounds(1, 3); round++) {
        expectUnavailable(await api.get(PAYOUTS));
        expectUnavailable(await api.post(COMMISSIONS, sale));
        expectUnavailable(await api.upload(`${COMMISSIONS}/import`, salesFile(salesFor([affiliate], 3))));
        expectUnavailable(await api.get(`${PAYOUTS}/current/download`));
        expect((await fetch(`${url}/healthz`)).status).toBe(200);
        expect((await fetch(`${url}/readyz`)).status).toBe(503);
      }
      latency.refusing = false;
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      expect((await api.post(COMMISSIONS, sale)).status).toBe(201);
      expect((await api.post(PAYOUTS)).status).toBe(201);
    }));

  test('that dropped idle connections is not noticed by the next request', () =>
    inWorld({}, async ({ api, latency, log }) => {
      await makeAffiliates(api, 2);
      latency.cut();
      await until('the lost connections are noticed', () =>
        log.some(({ msg }) => String(msg).includes('idle database connection was lost')),
      );
      expect((await api.get('/v2/affiliates')).status).toBe(200);
      expect((await api.post(PAYOUTS)).status).toBe(409);
    }));
});

/** More than one message to PostgreSQL. */
const LINES_OF_FILE = rounds(1000, 3000);

interface Step {
  readonly name: string;
  prepare(api: Api): Promise<{ affiliates: number[]; payout?: string }>;
  send(
    api: Api,
    made: { affiliates: number[]; payout?: string },
    headers: Record<string, string>,
  ): Promise<Answer>;
  readonly status: number;
}

const withPayout = async (api: Api) => {
  const affiliates = await makeAffiliates(api, 2);
  await takeIn(api, salesFor(affiliates, 6));
  const { body } = await api.post(PAYOUTS);
  return { affiliates, payout: body.id as string };
};
const withoutPayout = async (api: Api) => {
  const affiliates = await makeAffiliates(api, 2);
  await takeIn(api, salesFor(affiliates, 6));
  return { affiliates };
};

const STEPS: Step[] = [
  {
    name: 'create a payout',
    prepare: withoutPayout,
    send: (api, _, headers) => api.post(PAYOUTS, {}, headers),
    status: 201,
  },
  {
    name: 'complete a payout',
    prepare: withPayout,
    send: (api, { affiliates, payout }, headers) =>
      api.put(
        `${PAYOUTS}/${payout}`,
        { commissions: [{ affiliate_id: affiliates[0], is_paid: true }] },
        headers,
      ),
    status: 200,
  },
  {
    name: 'delete a payout',
    prepare: withPayout,
    send: (api, { payout }, headers) => api.delete(`${PAYOUTS}/${payout}`, headers),
    status: 204,
  },
  {
    name: 'import a file',
    prepare: withoutPayout,
    send: (api, { affiliates }, headers) =>
      api.upload(`${COMMISSIONS}/import`, salesFile(salesFor(affiliates, LINES_OF_FILE, 'file')), headers),
    status: 200,
  },
];

describe.concurrent.each(STEPS)('to $name with the connection cut', ({ name, prepare, send, status }) => {
  const inShortRun = name === 'create a payout' ? test : longRun.test;
  inShortRun('before any of its statements changes nothing; the repeated request has its one effect', () =>
    inWorld({}, async (world) => {
      const { api, latency } = world;
      const made = await prepare(api);
      const key = { 'idempotency-key': 'again and again' };
      const before = await rowsOf(world);
      let answer: Answer | undefined;
      let cuts = 0;
      // the first cut is before the first message of the request, the last one before its commit
      for (let message = 1; answer?.status !== status; message++) {
        let seen = 0;
        let wasCut = false;
        latency.before = () => {
          seen += 1;
          if (seen !== message) return undefined;
          wasCut = true;
          latency.cut();
          return undefined;
        };
        answer = await send(api, made, key);
        latency.before = undefined;
        if (answer.status === status) break;
        cuts += wasCut ? 1 : 0;
        expect(cuts, 'each failure is one of our cuts').toBe(message);
        expectUnavailable(answer);
        expect(await rowsOf(world), `cut before message ${message}`).toBe(before);
        expect(await world.query(IMBALANCES)).toEqual([]);
        expect(await world.query(MISSING_EVENTS)).toEqual([]);
        if (message > 60) throw new Error('the request never ended');
      }
      expect(cuts).toBeGreaterThan(4);
      expect(answer?.headers.get('idempotent-replayed')).toBeNull();
    }),
  );

  test('after its commit, before PostgreSQL could confirm it, has its effect; repeating the request returns the result', () =>
    inWorld({}, async (world) => {
      const { api, latency } = world;
      const made = await prepare(api);
      const before = await rowsOf(world);
      latency.before = (message) => {
        if (message.includes('commit\0')) latency.deaf = true;
        return undefined;
      };
      const key = { 'idempotency-key': 'once' };
      const answer = send(api, made, key);
      await until('the commit', async () => (await rowsOf(world)) !== before);
      latency.before = undefined;
      latency.cut();
      expectUnavailable(await answer);
      const after = await rowsOf(world);
      const again = await send(api, made, key);
      // DELETE takes no key: the repetition finds the record deleted
      const replays = status !== 204;
      expect(again.status).toBe(replays ? status : 404);
      expect(again.headers.get('idempotent-replayed')).toBe(replays ? 'true' : null);
      expect(await rowsOf(world)).toBe(after);
    }));
});

describe.concurrent('a pool of two connections', () => {
  longRun.test('serves twenty slow requests: they wait for their turn', () =>
    inWorld({ poolSize: 2 }, async ({ api, latency }) => {
      const sales = salesFor(await makeAffiliates(api, 1), 20);
      latency.latencyMs = 40;
      const answers = await Promise.all(sales.map((sale) => api.post(COMMISSIONS, sale)));
      latency.latencyMs = 0;
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201));
    }),
  );

  test('that is stuck refuses requests that wait too long, and serves again when it is free', () =>
    inWorld({ poolSize: 2 }, async (world) => {
      const { api } = world;
      const sales = salesFor(await makeAffiliates(api, 1), 5);
      const before = await rowsOf(world);
      await world.query('begin');
      await world.query('lock table commissions in access exclusive mode');
      const answers = sales.map((sale) => api.post(COMMISSIONS, sale));
      const refused = await Promise.race(answers);
      expectUnavailable(refused);
      await world.query('commit');
      const statuses = (await Promise.all(answers)).map(({ status }) => status).sort();
      expect(statuses.slice(0, 2)).toEqual([201, 201]);
      expect(await rowsOf(world)).not.toBe(before);
      expect(
        (await api.post(COMMISSIONS, salesFor([sales[0]?.affiliate_id ?? 0], 1, 'later')[0])).status,
      ).toBe(201);
    }));
});

const csvHeaders = (api: Api) => ({
  authorization: `Bearer ${api.key}`,
  'content-type': 'text/csv',
  'transfer-encoding': 'chunked',
});
/** Unnamed upload files that this process holds open. */
const spooled = () =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes('payhook-upload-');
    } catch {
      return false;
    }
  }).length;

describe.concurrent('clients that are slow or disconnect', () => {
  test('a slow upload holds no database connection, and is served when it is complete', () =>
    inWorld({ poolSize: 1 }, async (world) => {
      const { api, url } = world;
      const sales = salesFor(await makeAffiliates(api, 1), 40);
      const lines = salesFile(sales).trimEnd().split('\n');
      const wire = await openWire(url, 'POST', `${COMMISSIONS}/import`, csvHeaders(api));
      const [other] = salesFor([sales[0]?.affiliate_id ?? 0], 1, 'meanwhile');
      for (const [index, line] of lines.entries()) {
        wire.chunk(`${line}\n`);
        if (index % 10 !== 5) continue;
        await until('no connection is in use', async () => (await busy(world)).length === 0);
        const [stored] = [await api.post(COMMISSIONS, { ...other, external_id: `meanwhile-${index}` })];
        expect(stored.status).toBe(201);
      }
      wire.send('0\r\n\r\n');
      const { received } = await wire.closed();
      expect(received).toContain(' 200 OK');
      expect(received).toContain('"created":40');
    }));

  test('a slow JSON body holds no database connection either', () =>
    inWorld({ poolSize: 1 }, async (world) => {
      const { api, url } = world;
      const body = JSON.stringify(salesFor(await makeAffiliates(api, 1), 1)[0]);
      const wire = await openWire(url, 'POST', COMMISSIONS, {
        authorization: `Bearer ${api.key}`,
        'content-type': 'application/json',
        'content-length': String(body.length),
      });
      for (const [index, character] of [...body].entries()) {
        wire.send(character);
        if (index % 20 !== 10) continue;
        await until('no connection is in use', async () => (await busy(world)).length === 0);
        expect((await api.post(`${PAYOUTS}/preview`)).status).toBe(200);
      }
      expect((await wire.closed()).received).toContain(' 201 Created');
    }));

  test('callers who disconnect during a write do not break it and leave no connection in use', () =>
    inWorld({ poolSize: 2 }, async (world) => {
      const { api, latency, url } = world;
      const affiliates = await makeAffiliates(api, 2);
      await takeIn(api, salesFor(affiliates, 6));
      for (let round = 0; round < rounds(1, 20); round++) {
        latency.latencyMs = 10;
        const wire = await openWire(url, 'POST', PAYOUTS, {
          authorization: `Bearer ${api.key}`,
          'content-length': '0',
        });
        await until('the request is in progress', async () => (await busy(world)).length > 0);
        wire.vanish();
        latency.latencyMs = 0;
        await until('it is over', async () => (await busy(world)).length === 0);
        const { body: current, status } = await api.get(`${PAYOUTS}/current`);
        if (status === 200) {
          expect(current.commission_count).toBe(6);
          expect((await api.delete(`${PAYOUTS}/${current.id}`)).status).toBe(204);
        }
      }
    }));
});

test('uploads that are interrupted change nothing, leave no file behind and are not reported as a database error', () =>
  inWorld({ poolSize: 2 }, async (world) => {
    const { api, url, log } = world;
    const sales = salesFor(await makeAffiliates(api, 1), 2000);
    const before = await rowsOf(world);
    const seen = log.length;
    for (let round = 0; round < rounds(1, 20); round++) {
      const wire = await openWire(url, 'POST', `${COMMISSIONS}/import`, csvHeaders(api));
      const file = salesFile(sales);
      wire.chunk(file.slice(0, 100 + (round % 7) * 5000));
      if (process.platform === 'linux') await until('the upload has begun', () => spooled() > 0);
      wire.vanish();
      if (process.platform === 'linux') await until('the upload is released', () => spooled() === 0);
    }
    expect(await rowsOf(world)).toBe(before);
    expect(await busy(world)).toEqual([]);
    const later = log.slice(seen);
    expect(later.filter(({ msg }) => String(msg).includes('PostgreSQL cannot be reached'))).toEqual([]);
    expect(later.filter(({ level }) => Number(level) >= 50)).toEqual([]);
    expect((await api.upload(`${COMMISSIONS}/import`, salesFile(sales))).body.created).toBe(2000);
  }));

describe('a download', () => {
  let world: World & { latency: LatencyProxy };
  let path: string;
  const LINES = 12_000;
  beforeAll(async () => {
    world = (await borrowWorld({ databaseLatencyMs: 0, poolSize: 2 })) as typeof world;
    world.expectErrors();
    const { api } = world;
    const affiliates = await makeAffiliates(api, 3);
    const imported = await api.upload(`${COMMISSIONS}/import`, longSalesFile(salesFor(affiliates, LINES)));
    expect(imported.body.created).toBe(LINES);
    path = `${PAYOUTS}/${(await api.post(PAYOUTS)).body.id}/download`;
  });
  afterAll(() => world.close());

  const start = async () => {
    const wire = await openWire(world.url, 'GET', path, { authorization: `Bearer ${world.api.key}` });
    await until('its first lines', () => wire.received().includes('payout_id,'));
    wire.socket.pause();
    return wire;
  };

  test('whose reader disconnects early releases its connection, so that later requests work', async () => {
    for (let round = 0; round < rounds(1, 20); round++) {
      const wire = await start();
      expect((await busy(world)).length, 'the file is larger than what buffers hold').toBe(1);
      wire.vanish();
      await until('no connection is in use', async () => (await busy(world)).length === 0);
      expect((await world.api.get(PAYOUTS)).status).toBe(200);
    }
  });

  test('whose reader stops reading does not block other requests', async () => {
    const stalled = [await start(), await start()]; // as many as a pool holds
    expect((await world.api.get(PAYOUTS)).status).toBe(200);
    expect((await world.api.post(`${PAYOUTS}/preview`)).status).toBe(200);
    for (const wire of stalled) wire.vanish();
    await until('no connection is in use', async () => (await busy(world)).length === 0);
  });

  test.each(someOf(['terminated by PostgreSQL', 'cut by the network'], 1))(
    'that is %s midway is a broken connection, not a short file that looks complete',
    async (how) => {
      const wire = await start();
      if (how === 'cut by the network') world.latency.cut();
      else {
        const ended = await world.query<{ done: boolean }>(
          `select pg_terminate_backend(pid) as done from pg_stat_activity
           where ${OF_THE_PROGRAM} and state = 'active'`,
        );
        expect(ended).toEqual([{ done: true }]);
      }
      wire.socket.resume();
      const { received } = await wire.closed();
      expect(received).toContain(' 200 OK');
      expect(isWhole(received)).toBe(false);
      expect((await world.api.get(PAYOUTS)).status).toBe(200);
      const again = await world.api.get(path);
      expect(again.text.split('\r\n')).toHaveLength(LINES + 2);
    },
  );
});

test('a GET handler cannot write: its connections refuse every change in PostgreSQL itself', () =>
  inWorld({}, async ({ api, platform }) => {
    await makeAffiliates(api, 1);
    const { reader } = platform.db;
    for (const statement of [
      sql`insert into affiliate_programs (account_id, name) select id, 'sneaky' from accounts`,
      sql`update affiliates set name_first = 'sneaky'`,
      sql`delete from affiliates`,
      sql`with gone as (delete from affiliates returning 1) select * from gone`,
      sql`create table sneaky (id int)`,
      sql`truncate commissions`,
      sql`select 1 from affiliates for update`,
    ]) {
      await expect(reader.rows(statement), statement.sql).rejects.toMatchObject({ code: '25006' });
    }
    const copied = platform.db.snapshot(async (snapshot) =>
      snapshot
        .copyOut('copy (with gone as (delete from affiliates returning 1) select * from gone) to stdout')
        .toArray(),
    );
    await expect(copied).rejects.toMatchObject({ code: '25006' });
  }));
