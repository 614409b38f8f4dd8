import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Machine, postgresPid, startMachine, startServer } from '../cli/support.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { isRunning, untilGone } from '../support/processes.ts';
import { until } from '../support/wire.ts';

// On the embedded PostgreSQL; only the worker delivers.
let machine: Machine;
beforeEach(() => {
  machine = startMachine();
});
afterEach(() => machine.close());

/** Starts `payhook worker`; `delivers` counts how often it began. */
function startWorker() {
  const started = machine.start(['worker']);
  let output = '';
  let logged = '';
  started.child.stdout?.on('data', (chunk: string) => {
    output += chunk;
  });
  started.child.stderr?.on('data', (chunk: string) => {
    logged += chunk;
  });
  return {
    ...started,
    log: () => logged,
    begun: (times: number) =>
      until(`the worker delivers for time ${times}`, () => output.split('is delivering').length > times),
    waits: () => until('the worker waits', () => logged.includes('waiting for the server')),
  };
}

const serve = () => startServer(machine, { env: { DELIVERY_WORKER: 'off' } });

test('a worker that starts first waits for the server, and for the next one after each end', async () => {
  await machine.init();
  const worker = startWorker();
  await worker.waits();

  const first = await serve();
  await worker.begun(1);
  const receiver = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  await machine.run(['webhooks', 'create', `http://127.0.0.1:${port}/hook`]);
  const arrives = async () => {
    const arrived = once(receiver, 'request', { signal: AbortSignal.timeout(PATIENCE_MS) });
    expect((await machine.run(['events', 'publish', 'order.created', '--data', '{}'])).code).toBe(0);
    await arrived;
  };
  await arrives();

  first.child.kill('SIGTERM');
  expect((await first.ended).code).toBe(0);
  const second = await serve();
  await worker.begun(2);
  await arrives();

  second.child.kill('SIGKILL');
  await second.ended;
  const third = await serve();
  await worker.begun(3);
  await arrives();

  worker.child.kill('SIGTERM');
  expect((await worker.ended).code).toBe(0);
  third.child.kill('SIGTERM');
  expect((await third.ended).code).toBe(0);
  receiver.close();
});

test('a worker that is killed, or killed while it waits, holds nothing', async () => {
  await machine.init();
  const waiting = startWorker();
  await waiting.waits();
  waiting.child.kill('SIGKILL');
  await waiting.ended;
  const server = await serve();
  const worker = startWorker();
  await worker.begun(1);
  worker.child.kill('SIGKILL');
  await worker.ended;
  const postgres = postgresPid(machine.dataDir);
  server.child.kill('SIGTERM');
  expect((await server.ended).code).toBe(0);
  await untilGone(postgres);
  expect(isRunning(postgres)).toBe(false);
  const again = startWorker();
  await again.waits();
  again.child.kill('SIGTERM');
  expect((await again.ended).code).toBe(0);
});
