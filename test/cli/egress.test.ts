import { expect, test } from 'vitest';
import { certificateFor } from '../support/certificate.ts';
import { longRun } from '../support/depth.ts';
import { startReceiver } from '../support/receiver.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { commandsOf } from './here.ts';
import { startMachine, startServer, useMachine } from './support.ts';

const world = useWorld();
const api = useAccount(world);
const machine = useMachine();
const { runJson, run } = commandsOf(world, api, machine);

test('webhooks change --client-certificate takes PEM from one file or two, and none removes it', async () => {
  const url = 'https://shop.example.com/mutual';
  const { cert, key } = certificateFor('payhook');
  await runJson('webhooks', 'create', url);
  const files = [
    '--client-certificate',
    machine.write('client.pem', cert),
    '--client-key',
    machine.write('client.key', key),
  ];
  const changed = await run('webhooks', 'change', url, ...files);
  expect(changed).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/Client certificate +CN=payhook, until 2049-12-31/),
  });
  const none = await runJson('webhooks', 'change', url, '--client-certificate', 'none');
  expect(none.client_certificate).toBeNull();
  const both = machine.write('both.pem', key + cert);
  const again = await runJson('webhooks', 'change', url, '--client-certificate', both);
  expect(again.client_certificate.subject).toBe('CN=payhook');
  const alone = await run('webhooks', 'change', url, '--client-key', both);
  expect(alone).toMatchObject({ code: 2, stderr: expect.stringContaining('--client-certificate <file>') });
  const missing = await run('webhooks', 'change', url, '--client-certificate', '/no/such.pem');
  const option = 'payhook: --client-certificate: ';
  expect(missing).toMatchObject({ code: 2, stderr: `${option}/no/such.pem: there is no such file\n` });
  const folder = await run('webhooks', 'change', url, '--client-certificate', machine.folder);
  expect(folder.stderr).toBe(`${option}${machine.folder} is a folder, not a file\n`);
});

test('webhooks change --proxy shows it without its password, and none removes it', async () => {
  const url = 'https://shop.example.com/proxied';
  await runJson('webhooks', 'create', url);
  const changed = await run('webhooks', 'change', url, '--proxy', 'http://me:secret@proxy.example.com:3128');
  expect(changed).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/Proxy +http:\/\/me@proxy.example.com:3128\n/),
  });
  expect(changed.stdout).not.toContain('secret');
  expect((await runJson('webhooks', 'change', url, '--proxy', 'none')).proxy).toBeNull();
});

test('webhooks change --token-url shows the client without its secret, and none removes it', async () => {
  const url = 'https://shop.example.com/with-token';
  await runJson('webhooks', 'create', url);
  const client = ['--token-url', 'https://id.example.com/token', '--client-id', 'payhook'];
  const scope = ['--token-scope', 'events:write', '--token-authentication', 'body'];
  const words = [...client, '--client-secret', 'secret-of-the-client', ...scope];
  const changed = await run('webhooks', 'change', url, ...words);
  expect(changed).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/Access token +for payhook, from https:\/\/id.example.com\/token\n/),
  });
  expect(changed.stdout).not.toContain('secret-of-the-client');
  const again = await runJson('webhooks', 'change', url, ...client, '--token-audience', 'shop');
  expect(again.client_credentials).toMatchObject({ scope: null, audience: 'shop', authentication: 'basic' });
  const moved = await run('webhooks', 'change', url, '--url', 'https://other.example.com/with-token');
  expect(moved.stderr).toContain('client credentials of the previous origin were dropped');
  const other = 'https://other.example.com/with-token';
  await runJson('webhooks', 'change', other, ...words);
  const none = await runJson('webhooks', 'change', other, '--token-url', 'none');
  expect(none.client_credentials).toBeNull();
  const alone = await run('webhooks', 'change', other, '--client-id', 'payhook');
  expect(alone).toMatchObject({ code: 2, stderr: expect.stringContaining('--token-url <url>') });
  const half = await run('webhooks', 'change', other, '--token-url', 'https://id.example.com/token');
  expect(half).toMatchObject({ code: 2, stderr: expect.stringContaining('--client-id <id>') });
});

longRun.test(
  'a server shows its certificate to a receiver that requests it, and doctor warns before one expires',
  async () => {
    const here = startMachine();
    const server = certificateFor('localhost');
    const ends = new Date(Date.now() + 20 * 86_400_000).toISOString();
    const client = certificateFor('payhook', { ends: `${ends.replace(/[-:T]/g, '').slice(2, 14)}Z` });
    const tls = { ...server, ca: [client.cert], requestCert: true, rejectUnauthorized: true };
    const receiver = await startReceiver({ tls });
    try {
      await here.init();
      const env = {
        DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
        NODE_EXTRA_CA_CERTS: here.write('authority.pem', server.cert),
      };
      const running = await startServer(here, { env });
      const pem = here.write('server-client.pem', client.cert + client.key);
      const command = (...words: string[]) => here.run([...words], { env });
      expect((await command('webhooks', 'create', receiver.url, '--client-certificate', pem)).code).toBe(0);
      expect((await command('webhooks', 'test', receiver.url)).code).toBe(0);
      const [request] = await receiver.until(1);
      expect(request?.peer).toBe('payhook');
      const doctor = await command('doctor');
      expect(doctor.stdout).toMatch(
        /client certificates +1 expired or expiring within 30 days, first that of we_/,
      );
      running.child.kill('SIGTERM');
      await running.ended;
    } finally {
      await receiver.close();
      await here.close();
    }
  },
);
