import { expect, inject, test } from 'vitest';
import { latencyProxy } from '../support/latency.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import { dataFolder } from './support-server.ts';
import { sharedDatabase } from './support-shared.ts';

test('a server and a worker that start while PostgreSQL is unavailable keep trying, and work once it is back', async () => {
  const proxy = await latencyProxy(inject('postgres'), 0);
  const database = await sharedDatabase({ port: proxy.port });
  const folder = dataFolder({ database, settings: { DELIVERY_ALLOW_CIDRS: '127.0.0.0/8' } });
  const receiver = await startReceiver();
  try {
    proxy.refusing = true;
    const starting = folder.start({ DELIVERY_WORKER: 'off' });
    await until('the server has tried twice', () => proxy.refusals >= 2, 20_000);
    const first = proxy.refusals;
    const working = folder.startWorker();
    await until('both have tried', () => proxy.refusals >= first + 4, 20_000);
    proxy.refusing = false;
    const [server, worker] = await Promise.all([starting, working]);
    // a slow machine may have started the worker after all these attempts
    expect(server.log()).toContain('PostgreSQL cannot be reached');

    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    const made = await server.api.post('/v2/webhook-endpoints', {
      url: receiver.url,
      event_types: ['order.*'],
    });
    expect(made.status, made.text).toBe(201);
    expect((await server.api.post('/v2/events', { type: 'order.created', data: {} })).status).toBe(201);
    await receiver.until(1);
    const ends = await Promise.all([server.signal('SIGTERM'), worker.signal('SIGTERM')]);
    expect(ends.map(({ code }) => code)).toEqual([0, 0]);
  } finally {
    await folder.remove();
    await receiver.close();
    await proxy.close();
    await database.drop();
  }
}, 90_000);
