import { once } from 'node:events';
import { createServer } from 'node:net';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { addressRules } from '../../src/kernel/addresses.ts';
import { createSender } from '../../src/webhooks/engine/send.ts';

const TIMEOUT_MS = 1000;

const senderOf = (more: object = {}) =>
  createSender({
    addresses: addressRules(['127.0.0.0/8']),
    timeoutMs: TIMEOUT_MS,
    connectionsPerOrigin: 8,
    ...more,
  });

test.each([
  ['000 X', 'response_error'],
  ['099 X', 'response_error'],
  ['101 Switching Protocols', 'response_error'],
  ['103 Early Hints', 'timeout'],
  ['204 No Content', null],
  ['204 No Content\r\ncontent-length: 5', null],
  ['200 OK\r\ncontent-length: 5', null],
  ['304 Not Modified', 'redirect'],
  ['304 Not Modified\r\ncontent-length: 5', 'redirect'],
  ['999 X\r\ncontent-length: 0', 'response_error'],
])('a response %j is %s, as documented', async (line, expected) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write(`HTTP/1.1 ${line}\r\nx-some: header\r\n\r\n`));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const sender = senderOf();
  const outcome = await sender.send({ url: `http://127.0.0.1:${port}/`, headers: {}, body: '{}' });
  expect([outcome.errorCode, outcome.lack]).toEqual([expected, null]);
  expect(outcome.errorMessage ?? '').not.toContain('ERR_');
  await sender.close();
  server.close();
});

test('an event loop that is blocked longer than the time limit causes no time-out', async () => {
  // a separate thread, which answers meanwhile
  const receiver = new Worker(
    `const { parentPort } = require('node:worker_threads');
     const server = require('node:http').createServer((request, response) => request.resume().on('end', () => response.end('ok')));
     server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
    { eval: true },
  );
  const [port] = (await once(receiver, 'message')) as [number];
  const sender = senderOf();
  const url = `http://127.0.0.1:${port}/`;
  expect((await sender.send({ url, headers: {}, body: '{}' })).errorCode).toBeNull();
  const answers = Array.from({ length: 4 }, () => sender.send({ url, headers: {}, body: '{}' }));
  await new Promise((resolve) => setImmediate(resolve));
  const until = performance.now() + 2 * TIMEOUT_MS;
  while (performance.now() < until);
  // a response in time counts; a failure to dial is our own fault
  const codes = (await Promise.all(answers)).map(({ errorCode }) => errorCode);
  expect(codes[0]).toBeNull();
  for (const code of codes) expect([null, 'lost']).toContain(code);
  await sender.close();
  await receiver.terminate();
});

describe('a lack of this machine', () => {
  test.each(['EMFILE', 'ENFILE', 'ENOMEM'])('%s is reported as its own fault', async (code) => {
    const sender = senderOf({
      resolve: (_name: string, done: (error: Error, found: []) => void) =>
        done(Object.assign(new Error(code), { code }), []),
    });
    const outcome = await sender.send({ url: 'http://shop.example.com/', headers: {}, body: '{}' });
    expect(outcome).toMatchObject({ errorCode: 'lost', lack: code, responseStatus: null });
    await sender.close();
  });
});
