import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openPlatform } from '../../src/app/platform.ts';
import { serve } from '../../src/app/serve.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { apiOf } from '../support/api.ts';
import { longRun, rounds } from '../support/depth.ts';
import { startReceiver } from '../support/receiver.ts';
import { startPair } from '../support/replica.ts';
import { until } from '../support/wire.ts';

/** How often each is repeated; with more than one round the figures are printed. */
const ROUNDS = rounds(1, 6);
const CALLERS = 4;
const BEFORE = 40;
const AFTER = 20;

test('when the primary dies and its replica takes over, every accepted event is delivered', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { accepted, delivered } = await failOver({ synchronous: true });
    const lost = accepted.filter((id) => !delivered.has(id));
    print(`with synchronous commit: accepted ${accepted.length}, lost ${lost.length}`);
    expect(lost).toEqual([]);
  }
});

longRun.test(
  'without synchronous commit events missing from the replica are lost, and all others are delivered',
  async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { accepted, delivered, stored } = await failOver({ synchronous: false });
      const lost = accepted.filter((id) => !delivered.has(id));
      print(`without synchronous commit: accepted ${accepted.length}, lost ${lost.length}`);
      expect(lost.filter((id) => stored.has(id))).toEqual([]);
      expect(lost.length).toBeLessThan(accepted.length);
    }
  },
);

function print(figure: string): void {
  if (ROUNDS > 1) process.stderr.write(`${figure}\n`);
}

/** Kills the primary while events are published, and promotes its replica. */
async function failOver({ synchronous }: { synchronous: boolean }): Promise<{
  /** Ids of the events that were answered with a 201. */
  accepted: readonly string[];
  /** Ids of those that reached their receiver, once all existing ones have arrived. */
  delivered: ReadonlySet<string>;
  /** Ids of those that the new primary has. */
  stored: ReadonlySet<string>;
}> {
  const folder = mkdtempSync(join(tmpdir(), 'payhook-failover-'));
  const pair = await startPair({ synchronous });
  const receiver = await startReceiver();
  const config = readConfig({
    DATA_DIR: folder,
    SECRET_KEY: 'a secret key for tests, long enough for the rule',
    LOG_LEVEL: 'silent',
    DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
    DELIVERY_SCHEDULE: '0s 1s 1s 1s 1s 1s 1s 1s 1s 1s',
  });
  const target = [pair.replica.connection, pair.primary.connection];
  const platform = await openPlatform(config, { purpose: 'command', target, log: pino({ level: 'silent' }) });
  const listen = { host: '127.0.0.1', port: 0 };
  const server = await serve(platform, { listen, delivers: true, keepsHouse: false });
  let isOver = false;
  try {
    const api = apiOf(server.address, platform.firstKey?.secret ?? '');
    const endpoint = await api.post('/v2/webhook-endpoints', {
      url: receiver.url,
      event_types: ['order.created'],
    });
    expect(endpoint.status).toBe(201);
    const accepted: string[] = [];
    const refused: number[] = [];
    const call = async () => {
      while (!isOver) {
        const { status, body } = await api.post('/v2/events', { type: 'order.created', data: {} });
        if (status === 201) accepted.push(body.id);
        else refused.push(status);
      }
    };
    const callers = Array.from({ length: CALLERS }, call);
    await until('events are accepted', () => accepted.length > BEFORE);
    await pair.killPrimary();
    const lastOfOld = accepted.length;
    await until('requests are refused', () => refused.length > 0);
    await pair.promote();
    await until('events are accepted again', () => accepted.length > lastOfOld + AFTER);
    isOver = true;
    await Promise.all(callers);
    expect(new Set(refused)).toEqual(new Set([500]));
    const delivered = () => new Set(receiver.received.map(({ headers }) => String(headers['webhook-id'])));
    const stored = new Set<string>();
    for (let after: string | null = ''; after !== null; ) {
      const { body } = await api.get(`/v2/events?per_page=100${after && `&after=${after}`}`);
      for (const { id } of body.data) stored.add(id);
      after = body.pagination.next;
    }
    await until('everything that is stored has arrived', () =>
      [...stored].every((id) => delivered().has(id)),
    );
    return { accepted, delivered: delivered(), stored };
  } finally {
    isOver = true;
    await server.close();
    await platform.close();
    await receiver.close();
    await pair.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
