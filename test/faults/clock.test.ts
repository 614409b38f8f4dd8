import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPlatform, type Platform } from '../../src/app/platform.ts';
import { type RunningServer, serve } from '../../src/app/serve.ts';
import { thisHost } from '../../src/db/embedded/host.ts';
import { type EmbeddedDatabase, openEmbeddedOn } from '../../src/db/embedded/open.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { type Api, apiOf } from '../support/api.ts';
import { putDataFolder } from '../support/data-folder.ts';
import { someOf } from '../support/depth.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';

const FAKETIME = [
  '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1',
  '/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1',
].find((path) => existsSync(path));

const ENDPOINTS = '/v2/webhook-endpoints';
const PATIENCE_MS = 45_000;

// without it the clock cannot be moved: .ci/run installs Debian's package
describe.skipIf(!FAKETIME)('PostgreSQL whose clock jumps (needs libfaketime)', () => {
  let folder: string;
  let clockFile = '';
  let embedded: EmbeddedDatabase;
  let platform: Platform;
  let server: RunningServer;
  let api: Api;
  let inspector: pg.Client;
  const receivers: Receiver[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'payhook-clock-'));
    const clock = mkdtempSync('/tmp/payhook-clock-file-');
    (await import('node:fs')).chmodSync(clock, 0o755);
    clockFile = join(clock, 'offset');
    setClock('+0');
    const preloads = {
      LD_PRELOAD: FAKETIME ?? '',
      FAKETIME_TIMESTAMP_FILE: clockFile,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    };
    const dataDir = join(folder, 'data');
    await putDataFolder(dataDir);
    embedded = await openEmbeddedOn(
      { ...thisHost(), preloads },
      { dataDir, purpose: 'serve', settings: { fsync: 'off' } },
    );
    const config = readConfig({
      DATA_DIR: join(folder, 'program'),
      SECRET_KEY: readFileSync(join(dataDir, 'secret-key'), 'utf8').trim(),
      DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
      DELIVERY_SCHEDULE: '0s 2s 24h',
      LOG_LEVEL: 'silent',
    });
    platform = await openPlatform(config, {
      purpose: 'command',
      target: embedded.connection,
      log: pino({ level: 'silent' }),
    });
    server = await serve(platform, { listen: { host: '127.0.0.1', port: 0 }, delivers: true });
    api = apiOf(server.address, readFileSync(join(dataDir, 'first-api-key'), 'utf8').trim());
    inspector = new pg.Client({ ...embedded.superuser, database: embedded.connection.database });
    await inspector.connect();
  });
  afterAll(async () => {
    setClock('+0');
    await Promise.all(receivers.map((receiver) => receiver.close()));
    await server?.close();
    await platform?.close();
    await inspector?.end();
    await embedded?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const setClock = (offset: string) => writeFileSync(clockFile, `${offset}\n`, { mode: 0o644 });
  const daysAhead = async () =>
    Number(
      (await inspector.query(`select extract(epoch from clock_timestamp()) * 1000 as now`)).rows[0].now -
        Date.now(),
    ) / 86_400_000;

  async function endpointOf(receiver: Receiver, fields: object = {}): Promise<string> {
    const { status, text, body } = await api.post(ENDPOINTS, {
      url: receiver.url,
      event_types: ['order.*'],
      ...fields,
    });
    expect(status, text).toBe(201);
    return body.id;
  }

  /** Publishes this many; a refused one is repeated, as a platform would. */
  async function publish(count: number): Promise<string[]> {
    const ids: string[] = [];
    await until(
      `${count} events to be taken`,
      async () => {
        const { status, body } = await api.post('/v2/events', { type: 'order.created', data: {} });
        if (status === 201) ids.push(body.id);
        return ids.length >= count;
      },
      PATIENCE_MS,
    );
    return ids;
  }

  test('forty days ahead, past all partitions, refuses no event', async () => {
    setClock('+40d');
    expect(await daysAhead()).toBeGreaterThan(39.9);
    const order = { type: 'order.created', data: {} };
    const answers = await Promise.all(Array.from({ length: 10 }, () => api.post('/v2/events', order)));
    expect(answers.map(({ status, text }) => `${status} ${text.slice(0, 60)}`)).toEqual(
      Array(10).fill(expect.stringMatching(/^201 /)),
    );
    setClock('+0');
  });

  test.each(
    someOf(
      [
        ['a year', '+365d', 365],
        ['a day', '+1d', 1],
      ] as const,
      1,
    ),
  )('%s ahead and back keeps no event from its receiver', async (_, offset, days) => {
    const steady = await startReceiver();
    const busy = await startReceiver();
    const failing = await startReceiver();
    receivers.push(steady, busy, failing);
    await endpointOf(steady);
    await endpointOf(busy, { rate_limit: 20 });
    await endpointOf(failing);
    const events = await publish(3);
    await steady.until((all) => all.length >= events.length);

    // idle, asked to wait, and waiting for the next attempt, all by the clock that is ahead
    busy.respond((_request, response) => response.writeHead(429, { 'retry-after': '3' }).end());
    failing.respond(500);
    setClock(offset);
    expect(await daysAhead()).toBeGreaterThan(days - 0.1);
    await until('a process to note the time', async () => {
      const { rows } = await inspector.query(
        `select value::timestamptz > clock_timestamp() - interval '1 hour' as noted from server_settings where key = 'latest_time'`,
      );
      return rows[0]?.noted;
    });
    events.push(...(await publish(10)));
    await steady.until((all) => new Set(idsOf(all)).size >= events.length);
    await failing.until((all) => all.length > 10);
    await busy.until((all) => all.length > 3);
    expect(
      (await api.post('/v2/affiliates/payouts', {}, { 'idempotency-key': `jumped ${days}` })).status,
    ).toBe(409);

    setClock('+0');
    expect(await daysAhead()).toBeLessThan(0.1);
    busy.respond(200);
    failing.respond(200);
    events.push(...(await publish(10)));
    const missing = () =>
      Object.fromEntries(
        Object.entries({ steady, busy, failing }).map(([name, receiver]) => {
          const good = new Set(idsOf(receiver.received));
          return [name, events.filter((id) => !good.has(id)).length];
        }),
      );
    await until(
      'every event at every receiver',
      () => Object.values(missing()).every((count) => count === 0),
      PATIENCE_MS,
    ).catch((error: Error) => {
      throw new Error(`${error.message}; missing: ${JSON.stringify(missing())}`);
    });
    // events that the receiver refused wait for their schedule by the right clock: nothing is due later than any rule
    // allows
    await until(
      'no time to lie further ahead than its rule allows',
      async () => {
        const { rows } = await inspector.query(
          `select (select count(*) from queue where due_at > now() + interval '27 hours')
                  + (select count(*) from endpoint_state where may_start_at > now() + interval '1 minute')
                  + (select count(*) from idempotency_keys where created_at > now() + interval '1 minute') as wrong`,
        );
        return Number(rows[0].wrong) === 0;
      },
      PATIENCE_MS,
    );
    // and new records have the right time again
    const [latest] = await publish(1);
    const { body } = await api.get(`/v2/webhook-events/?sort=-created_at&per_page=100`);
    const record = body.data.find(({ id }: { id: string }) => id === latest);
    const when = record?.created_at ?? (await createdAt(latest ?? ''));
    expect(Math.abs(Date.parse(when) - Date.now())).toBeLessThan(60_000);
  });

  const idsOf = (all: Receiver['received']) => all.map(({ headers }) => String(headers['webhook-id']));
  const createdAt = async (id: string) =>
    (await inspector.query(`select iso(id_time($1::uuid)) as at`, [id.replace('evt_', '')])).rows[0]
      .at as string;
});
