import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createMailer } from '../../src/alerts/sender/mail.ts';
import { mailServerOf } from '../../src/kernel/mail-server.ts';
import { certificateFor } from '../support/certificate.ts';
import { startMailReceiver } from '../support/smtp.ts';

const MAIL = { subject: 'Test', text: 'text', html: '<p>text</p>', settings: null };
const TO = { email: 'ada@example.com', name: 'Ada' };
const OURS = certificateFor('localhost');

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** Sends an e-mail by the setting SMTP_URL; `authority` is trusted instead of those of Node. */
function send(url: string, authority?: string) {
  const server = mailServerOf(url);
  if (!server) throw new Error(`${url} is no SMTP_URL`);
  return createMailer(server, 'pay@example.com', authority).send(TO, MAIL, 'id-1');
}

type Options = Parameters<typeof startMailReceiver>[0];
async function receiver(options: Options) {
  const started = await startMailReceiver(options);
  cleanups.push(() => started.close());
  return started;
}

const WITH_TLS = { disabledCommands: [], ...OURS };

test('smtp:// sends nothing before STARTTLS, and the password only after it', async () => {
  const seen: string[] = [];
  const mail = await receiver({
    ...WITH_TLS,
    authOptional: false,
    onAuth({ username, password }, { secure }, done) {
      seen.push(`${username} ${password} ${secure ? 'behind TLS' : 'in the clear'}`);
      done(null, { user: username });
    },
  });
  expect(await send(`smtp://payhook:p%40ss@localhost:${mail.port}`, OURS.cert)).toBeNull();
  expect(mail.taken.map(({ to }) => to)).toEqual([['ada@example.com']]);
  expect(seen).toEqual(['payhook p@ss behind TLS']);
});

test('smtps:// uses TLS from the first byte', async () => {
  const mail = await receiver({ ...WITH_TLS, secure: true });
  expect(await send(`smtps://localhost:${mail.port}`, OURS.cert)).toBeNull();
  expect(mail.taken).toHaveLength(1);
});

test('a server without STARTTLS gets neither the password nor the message, and sending is retried', async () => {
  const seen: string[] = [];
  const mail = await receiver({
    authMethods: ['PLAIN', 'LOGIN'],
    allowInsecureAuth: true,
    onAuth({ username }, _session, done) {
      seen.push(username ?? '');
      done(null, { user: username });
    },
  });
  const unsent = await send(`smtp://payhook:secret@localhost:${mail.port}`);
  expect(unsent).toMatchObject({ isFinal: false, error: expect.stringMatching(/STARTTLS/i) });
  expect([mail.recipients, seen]).toEqual([[], []]);
  // unless the operator says that it has none
  expect(await send(`smtp://localhost:${mail.port}?tls=off`)).toBeNull();
});

test.each([
  ['of an untrusted authority', OURS, undefined, /self-signed certificate/],
  ['of another host', certificateFor('mail.example.com'), 'its own', /does not match certificate/],
] as const)(
  'a certificate %s ends the connection, with STARTTLS and without',
  async (_, certificate, trust, says) => {
    const authority = trust && certificate.cert;
    for (const secure of [false, true]) {
      const mail = await receiver({ ...WITH_TLS, ...certificate, secure });
      const unsent = await send(`${secure ? 'smtps' : 'smtp'}://localhost:${mail.port}`, authority);
      expect(unsent).toMatchObject({ isFinal: false, error: expect.stringMatching(says) });
      expect(mail.recipients).toEqual([]);
    }
  },
);

test('a server that accepts the connection and stays silent is given up after ten seconds', async () => {
  const silent = createServer();
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  cleanups.push(() => silent.close());
  const { port } = silent.address() as AddressInfo;
  expect(await send(`smtp://127.0.0.1:${port}?tls=off`)).toMatchObject({
    isFinal: false,
    error: expect.stringMatching(/greeting|timeout/i),
  });
});
