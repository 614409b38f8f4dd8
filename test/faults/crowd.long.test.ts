import { expect, test } from 'vitest';
import { startReceiver } from '../support/receiver.ts';
import { openWire, until } from '../support/wire.ts';
import { dataFolder } from './support-server.ts';

const OPEN_FILES = 400;
const CROWD = 450;

test('at a low limit of open files, hundreds of slow bodies block neither callers nor deliveries', async () => {
  const folder = dataFolder({
    openFiles: OPEN_FILES,
    settings: {
      DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
      DELIVERY_SCHEDULE: '0s 4s',
      REQUEST_TIMEOUT_MS: '15000',
      // the whole crowd comes from one address
      MAX_CONNECTIONS_PER_ADDRESS: String(OPEN_FILES),
    },
  });
  const receiver = await startReceiver();
  // deliveries during the crowd are second attempts, over their own connections
  receiver.respond((_request, response, count) =>
    response.writeHead(count === 1 ? 500 : 200, { connection: 'close' }).end(),
  );
  try {
    const { api, url, log } = await folder.start();
    const made = await api.post('/v2/webhook-endpoints', { url: receiver.url });
    expect((await api.post(`/v2/webhook-endpoints/${made.body.id}/test`)).status).toBe(201);
    await receiver.until(1);

    const head = { authorization: `Bearer ${api.key}`, 'content-type': 'application/json' };
    const wires = await Promise.all(
      Array.from({ length: CROWD }, () =>
        openWire(url, 'POST', '/v2/affiliates', { ...head, 'content-length': '900' }),
      ),
    );
    const dripping = setInterval(() => {
      for (const { socket } of wires) if (socket.writable) socket.write('a');
    }, 500);
    const held = () => wires.filter(({ socket }) => !socket.destroyed).length;
    await receiver.until(2);
    // as many as there is room for, and no others
    expect(held()).toBeGreaterThanOrEqual(OPEN_FILES / 4);
    expect(held()).toBeLessThan(OPEN_FILES);
    await until(
      'health is answered',
      () =>
        fetch(`${url}/healthz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      30_000,
    );
    await until('callers are answered', () =>
      api.get('/v2/account').then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    clearInterval(dripping);
    for (const wire of wires) wire.vanish();
    expect(log()).not.toMatch(/EMFILE|"level":50/);
  } finally {
    await folder.remove();
    await receiver.close();
  }
});
