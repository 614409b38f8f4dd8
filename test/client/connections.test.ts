import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { ROOT } from '../cli/support.ts';
import { certificateFor } from '../support/certificate.ts';
import { plainEnvironment } from '../support/environment.ts';
import { type Answer, json, stub } from './support.ts';

/** Runs a program that uses the built client; returns what it printed once it has exited by itself. */
async function run(code: string, env: Record<string, string> = {}): Promise<string> {
  const from = JSON.stringify(join(ROOT, 'packages/client/dist/client/client.js'));
  const program = `import { createClient } from ${from};\n${code}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...plainEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return (await buffer(child.stdout)).toString();
}

const temporaryFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'payhook-client-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};

async function listen(server: Server, where: string | number): Promise<void> {
  server.listen(where);
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
}

test('successive requests share a connection', async () => {
  const ports = new Set<number | undefined>();
  const { client } = await stub((request, response) => {
    ports.add(request.socket.remotePort);
    json(200, { id: 'acc_1' })(request, response);
  });
  for (let call = 0; call < 3; call += 1) await client.account.get();
  expect(ports.size).toBe(1);
});

test('a program that never closes its client still exits', async () => {
  const server = createHttpServer((_, response) => response.end('{"name":"Northwind"}'));
  const socketPath = join(temporaryFolder(), 'api.sock');
  await listen(server, socketPath);
  const printed = await run(`
    const payhook = createClient({ socketPath: ${JSON.stringify(socketPath)}, apiKey: 'x' });
    console.log((await payhook.account.get()).name);
  `);
  expect(printed).toBe('Northwind\n');
});

test('over TLS, the certificate must be trusted', async () => {
  const { key, cert } = certificateFor('localhost');
  const server = createTlsServer({ key, cert }, (_, response) => response.end('{"name":"Northwind"}'));
  await listen(server, 0);
  const url = `https://localhost:${(server.address() as AddressInfo).port}`;
  const certificates = join(temporaryFolder(), 'trusted.pem');
  writeFileSync(certificates, cert);
  const program = `
    const payhook = createClient({ url: '${url}', apiKey: 'x', retries: 0 });
    console.log(await payhook.account.get().then(({ name }) => name, ({ message }) => message));
  `;
  expect(await run(program)).toBe(`no answer from ${url}: self-signed certificate\n`);
  expect(await run(program, { NODE_EXTRA_CA_CERTS: certificates })).toBe('Northwind\n');
});

test('an upload that the server refuses unread is stopped', async () => {
  const server = createHttpServer((request, response) => {
    request.once('data', () => {
      request.pause();
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end('{"error":{"code":"bad_request","message":"line 1 is no CSV"}}');
    });
  });
  server.keepAliveTimeout = 0; // so that only the client closes the connection
  await listen(server, 0);
  const endless = new Readable({ read: () => void endless.push(Buffer.alloc(64 * 1024)) });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = createClient({ url, apiKey: 'x' });
  onTestFinished(() => client.close());
  const file = { repeatable: false, open: () => endless };
  await expect(client.commissions.import(file)).rejects.toThrow('line 1 is no CSV');
  if (!endless.closed) await new Promise((resolve) => endless.once('close', resolve));
});

test('an unreadable file fails the upload with the reason', async () => {
  const { client } = await stub(json(200, {}));
  const broken = new Readable({ read: () => void broken.destroy(new Error('the disk is gone')) });
  const file = { repeatable: false, open: () => broken };
  await expect(client.commissions.import(file)).rejects.toThrow('the disk is gone');
});

test('the client gives up on a server that falls silent during its response', async () => {
  const half: Answer = (_, response) => void response.writeHead(200).write('{"id":');
  const { client } = await stub(half);
  const call = client.account.get({ timeoutMs: 100, retries: 0 });
  await expect(call).rejects.toThrow('the server sent nothing for 0.1 seconds');
});

test('a reader may pause longer than the server may be silent', async () => {
  const bytes = 4_000_000;
  const { client } = await stub((_, response) => void response.writeHead(200).end(Buffer.alloc(bytes)));
  const { stream } = await client.payouts.download('po_1', { timeoutMs: 100 });
  await delay(400);
  expect((await buffer(stream)).length).toBe(bytes);
});

test('closing aborts the calls in progress, which are not repeated, and later calls', async () => {
  const { client, seen } = await stub(() => void client.close());
  // a repeat would fail because the client is closed
  await expect(client.account.get()).rejects.toThrow('socket hang up');
  expect(seen).toHaveLength(1);
  await expect(client.account.get()).rejects.toThrow('the client is closed');
});
