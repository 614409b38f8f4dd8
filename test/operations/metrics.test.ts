import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { writeSetting } from '../../src/db/settings.ts';
import { onStage, uuidOf } from '../delivery/support.ts';
import { rounds, someOf } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { until } from '../support/wire.ts';
import type { World } from '../support/world.ts';
import { hasPromtool, OPERATIONS_FOLDER, promtool, scrape, series, value } from './support.ts';

const MEASURED = { METRICS_PORT: '0' };
/** Figures are up to a second old, and counts are those since the start. */
const MEASURED_ALONE = { settings: MEASURED, own: true } as const;
const REQUESTS = 'http_server_request_duration_seconds_count';

/** Waits until the metrics contain a text; returns them. They are at most a second old. */
const untilScraped = (world: World, what: string, holds: (text: string) => boolean): Promise<string> =>
  until(what, async () => {
    const text = await scrape(world);
    return holds(text) ? text : null;
  });

/** A scrape with figures of the database: one that takes too long on a busy machine has none. */
const scrapeFigures = (world: World): Promise<string> =>
  untilScraped(world, 'the figures of the database', (text) => value(text, 'payhook_database_up') === 1);

describe.concurrent('the metrics of a server', () => {
  test('count requests, published events and deliveries, and name no customer', () =>
    onStage(MEASURED_ALONE, async ({ api, world, ...stage }) => {
      const receiver = await stage.receiver();
      const good = await stage.endpoint(receiver);
      const event = await stage.publish();
      await receiver.until(1);
      await stage.untilLog(good, event, { status: 'delivered' });
      receiver.respond(500);
      const failing = await stage.publish();
      await stage.untilLog(good, failing, { attempt_count: 1 });
      await api.get(`${good.path}/nothing-here`);
      await api.get('/v2/affiliates/99999999');
      await api.request('PROPFIND', '/secret-path');

      const text = await untilScraped(
        world,
        'the attempts',
        (now) =>
          value(now, 'payhook_delivery_attempt_duration_seconds_count') === 2 &&
          value(now, 'payhook_database_up') === 1,
      );
      expect(series(text, REQUESTS)).toMatchObject({
        [`${REQUESTS}{method="POST",route="/v2/events",status="201"}`]: 2,
        [`${REQUESTS}{method="GET",route="/v2/affiliates/:affiliate_id",status="404"}`]: 1,
        [`${REQUESTS}{method="GET",route="unknown",status="404"}`]: 1,
        [`${REQUESTS}{method="PROPFIND",route="unknown",status="404"}`]: 1,
      });
      expect(series(text, 'payhook_deliveries_total')).toEqual({
        'payhook_deliveries_total{outcome="delivered"}': 1,
        'payhook_deliveries_total{outcome="retrying"}': 1,
      });
      expect([
        value(text, 'payhook_events_published_total'),
        value(text, 'payhook_claims_total'),
        value(text, 'payhook_delivery_latency_seconds_count'),
        value(text, 'payhook_database_up'),
        value(text, 'payhook_workers'),
        value(text, 'payhook_partitions_ahead'),
      ]).toEqual([2, 2, 2, 1, 1, 4]);
      expect(series(text, 'payhook_database_pool_size')).toMatchObject({
        'payhook_database_pool_size{pool="reading"}': 4,
        'payhook_database_pool_size{pool="delivery"}': 4,
      });
      expect(text).toContain(`payhook_build_info{version="`);
      const [{ id }] = (await world.query<{ id: string }>('select id from accounts')) as [{ id: string }];
      for (const part of [
        id,
        id.replaceAll('-', ''),
        good.id,
        good.uuid,
        uuidOf(event),
        'secret-path',
        'nothing-here',
      ]) {
        expect(text).not.toContain(part);
      }
      expect(text).not.toContain(new URL(receiver.url).host);
    }));

  test('show the backlog: what is due at enabled endpoints, since when, what waited at one since it was enabled again, and the state of endpoints', () =>
    onStage({ ...MEASURED_ALONE, delivers: false }, async ({ world, ...stage }) => {
      const receiver = await stage.receiver();
      const due = await stage.endpoint(receiver);
      const off = await stage.endpoint(receiver);
      const waiting = await stage.endpoint(receiver);
      await stage.publishMany(3);
      await stage.change(off, { status: 'disabled' });
      const at = (endpoint: { uuid: string }, change: string) =>
        world.query(`update queue set ${change} where endpoint_id = '${endpoint.uuid}'`);
      await at(due, "due_at = now() - interval '90 seconds'");
      await at(waiting, "due_at = now() + interval '90 seconds', step = 1");
      await world.query(
        `update endpoint_state set failures = 1, failing_since = now() where endpoint_id = '${waiting.uuid}'`,
      );
      const text = await scrapeFigures(world);
      expect(value(text, 'payhook_queue_due')).toBe(3);
      const age = value(text, 'payhook_queue_oldest_due_age_seconds') ?? 0;
      expect(age).toBeGreaterThanOrEqual(90);
      expect(series(text, 'payhook_endpoints')).toEqual({
        'payhook_endpoints{status="enabled"}': 1,
        'payhook_endpoints{status="failing"}': 1,
        'payhook_endpoints{status="disabled"}': 1,
      });
      expect(value(text, 'payhook_workers')).toBe(0);
      // there was no backup yet
      expect(value(text, 'payhook_backup_last_success_timestamp_seconds')).toBeUndefined();
      expect(value(text, 'payhook_backup_failed')).toBe(0);
      expect(value(text, 'payhook_backup_interval_seconds')).toBeUndefined();

      await at(due, "due_at = now() + interval '90 seconds'");
      await at(off, "due_at = due_at - interval '3 days'");
      await stage.change(off, { status: 'enabled' });
      const later = await untilScraped(
        world,
        'the endpoint to be enabled',
        (now) => series(now, 'payhook_endpoints')['payhook_endpoints{status="disabled"}'] === 0,
      );
      expect(value(later, 'payhook_queue_due')).toBe(3);
      expect(value(later, 'payhook_queue_oldest_due_age_seconds')).toBeLessThan(86_400);
    }));

  test('a starting server shows the last backup, and a later failed one', () =>
    onStage({ ...MEASURED_ALONE, delivers: false }, async ({ world }) => {
      const made = { made_at: '2026-01-01T00:00:00.000Z', file: '/b', size_bytes: 1, duration_ms: 1 };
      const failed = { failed_at: '2026-01-02T00:00:00.000Z', message: 'the disk is full' };
      await world.db.transaction(async (tx) => {
        await writeSetting(tx, 'last_backup', JSON.stringify(made));
        await writeSetting(tx, 'last_backup_failure', JSON.stringify(failed));
      });
      const text = await scrapeFigures(world);
      expect(value(text, 'payhook_backup_last_success_timestamp_seconds')).toBe(1767225600);
      expect(value(text, 'payhook_backup_failed')).toBe(1);
    }));

  test('are only at /metrics, and are not served without METRICS_PORT', async () => {
    const world = await borrowWorld({ settings: MEASURED });
    const { origin } = new URL(world.metricsUrl);
    expect((await fetch(`${origin}/`)).status).toBe(404);
    expect((await fetch(`${origin}/metrics`, { method: 'POST' })).status).toBe(405);
    const head = await fetch(`${origin}/metrics?x=1`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(head.headers.get('content-type')).toContain('version=0.0.4');
    expect((await fetch(`${world.url}/metrics`)).status).toBe(404);
    await world.close();
    const plain = await borrowWorld();
    expect(plain.metricsUrl).toBe('');
    await plain.close();
  });
});

describe.concurrent('the load on the database', () => {
  test('of many scrapes is one query', async () => {
    const world = await borrowWorld({ own: true, settings: MEASURED, databaseLatencyMs: 0 });
    let queries = 0;
    world.latency!.before = (message) => {
      if (message.includes('figures\0')) queries += 1;
      return undefined;
    };
    await scrapeFigures(world);
    for (let round = 0; round < rounds(5, 50); round += 1) {
      const texts = await Promise.all(Array.from({ length: 20 }, () => scrape(world)));
      for (const text of texts) expect(value(text, 'payhook_queue_due')).toBe(0);
    }
    expect(queries).toBe(1);
    await world.close();
  });

  test.each(someOf(['is silent', 'refuses'], 1))(
    'is bounded: while it %s, a scrape shows the last figures and that it is down',
    async (how) => {
      const world = await borrowWorld({ own: true, settings: MEASURED, databaseLatencyMs: 0 });
      world.expectErrors();
      const { latency } = world;
      if (how === 'refuses') {
        latency!.refusing = true;
        latency!.cut();
      } else latency!.silent = true;
      const text = await scrape(world);
      expect(value(text, 'payhook_database_up')).toBe(0);
      // nothing was known before, and nothing is invented
      expect(value(text, 'payhook_queue_due')).toBeUndefined();
      expect(value(text, 'payhook_database_pool_size{pool="reading"}')).toBe(4);
      latency!.refusing = false;
      latency!.silent = false;
      latency!.cut();
      await world.close();
    },
  );
});

describe('the rules and the board', () => {
  const rules = readFileSync(`${OPERATIONS_FOLDER}/prometheus/alerts.yml`, 'utf8');
  const board = JSON.parse(readFileSync(`${OPERATIONS_FOLDER}/grafana/payhook.json`, 'utf8')) as {
    panels: { targets?: { expr: string }[] }[];
  };

  /** The metrics that an expression reads, without the suffixes of histograms. */
  const metricsIn = (expression: string) =>
    (expression.match(/\b(payhook|http_server|nodejs|process)_\w+/g) ?? []).map((name) =>
      name.replace(/_seconds_(bucket|sum|count)$/, '_seconds'),
    );

  test('read only metrics that a server reports', () =>
    onStage({ settings: MEASURED }, async ({ world }) => {
      const reported = new Set(
        [...(await scrape(world)).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name),
      );
      const expressions = board.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
      const read = new Set([...expressions, rules].flatMap(metricsIn));
      expect(read.size).toBeGreaterThan(15);
      expect([...read].filter((name) => !reported.has(name))).toEqual([]);
    }));

  test('each alert has its remedy in docs/operations.md', () => {
    const page = readFileSync(`${OPERATIONS_FOLDER}/../docs/operations.md`, 'utf8');
    const alerts = [...rules.matchAll(/- alert: (\w+)[\s\S]*?remedy: docs\/operations\.md#(\w+)/g)];
    expect(alerts.length).toBe(rules.match(/- alert:/g)?.length);
    for (const [, name = '', anchor] of alerts) {
      expect(anchor).toBe(name.toLowerCase());
      expect(page).toContain(`#### ${name}\n`);
    }
  });

  describe.skipIf(!hasPromtool)('promtool finds nothing wrong (skipped without promtool)', () => {
    test('with the metrics', () =>
      onStage({ settings: MEASURED }, async ({ world, ...stage }) => {
        const receiver = await stage.receiver();
        await stage.endpoint(receiver);
        await stage.publish();
        await receiver.until(1);
        const text = await untilScraped(world, 'the attempt', (now) => now.includes('outcome="delivered"'));
        expect(promtool(['check', 'metrics'], text)).toEqual({ code: 0, output: '' });
      }));

    test('with the rules, including their own tests', () => {
      expect(promtool(['check', 'rules', 'alerts.yml'])).toMatchObject({ code: 0 });
      expect(promtool(['test', 'rules', 'alerts.test.yml'])).toMatchObject({ code: 0 });
    });
  });
});
