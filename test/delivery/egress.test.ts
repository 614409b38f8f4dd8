import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { addressRules } from '../../src/kernel/addresses.ts';
import type { ClientCredentials } from '../../src/webhooks/egress/record.ts';
import { type EgressRoute, egressRouteOf } from '../../src/webhooks/engine/egress-routes.ts';
import type { Outcome } from '../../src/webhooks/engine/outcome.ts';
import { createSender, type Sender } from '../../src/webhooks/engine/send.ts';
import { createTokens } from '../../src/webhooks/engine/tokens.ts';
import { type Certificate, certificateFor } from '../support/certificate.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const server = certificateFor('localhost');
const routeWith = ({ cert, key }: Certificate) => egressRouteOf({ certificate: { certificate: cert, key } });

function openSender(): Sender {
  const sender = createSender({
    addresses: addressRules(['127.0.0.0/8', '::1/128']),
    timeoutMs: 5000,
    connectionsPerOrigin: 64,
    authorities: server.cert,
    clock: Date.now,
  });
  cleanups.push(() => sender.close());
  return sender;
}

/** A receiver that accepts only clients with one of these certificates, and records the certificate of each request. */
async function openMutual(...clients: Certificate[]) {
  const ca = clients.map(({ cert }) => cert);
  const receiver = await startReceiver({
    tls: { ...server, ca, requestCert: true, rejectUnauthorized: true },
  });
  cleanups.push(() => receiver.close());
  receiver.respond(({ peer }, response) => response.end(peer));
  return receiver;
}

const post = (sender: Sender, url: string, route?: EgressRoute): Promise<Outcome> =>
  sender.send({ url, headers: {}, body: '{}', route });

describe('a receiver that requests a client certificate', () => {
  test('gets that of the endpoint, and refuses any other and none', async () => {
    const [known, other] = [certificateFor('known'), certificateFor('other')];
    const receiver = await openMutual(known);
    const sender = openSender();
    expect(await post(sender, receiver.url, routeWith(known))).toMatchObject({
      errorCode: null,
      responseBody: 'known',
    });
    // Node closes the connection without an alert when it does not know the certificate
    expect((await post(sender, receiver.url, routeWith(other))).errorCode).toBe('connection_reset');
    expect(await post(sender, receiver.url)).toMatchObject({
      errorCode: 'certificate_refused',
      errorMessage: expect.stringMatching(/^the receiver requires a client certificate \(ERR_SSL_/),
    });
    expect(receiver.received).toHaveLength(1);
  });

  test('never gets a request of one endpoint on the connection or the session of another', async () => {
    const [one, two] = [certificateFor('one'), certificateFor('two')];
    const receiver = await openMutual(one, two);
    const sender = openSender();
    const seen: (string | null)[] = [];
    for (let round = 0; round < 3; round += 1) {
      for (const certificate of [one, two]) {
        seen.push((await post(sender, receiver.url, routeWith(certificate))).responseBody);
      }
    }
    expect(seen).toEqual(['one', 'two', 'one', 'two', 'one', 'two']);
    // each has kept its connection
    expect(receiver.connections()).toBe(2);
  });

  test('refuses an expired one; the log says that it has expired', async () => {
    const ended = certificateFor('ended', { ends: '200102000000Z' });
    const receiver = await openMutual(ended);
    const why = '; the client certificate expired at 2020-01-02T00:00:00.000Z';
    expect(await post(openSender(), receiver.url, routeWith(ended))).toMatchObject({
      errorCode: 'connection_reset',
      errorMessage: expect.stringContaining(why),
    });
    const tokens = createTokens(openSender());
    const credentials: ClientCredentials = {
      token_url: receiver.url,
      client_id: 'payhook',
      client_secret: 'secret',
      scope: null,
      audience: null,
      authentication: 'basic',
    };
    expect(await tokens({ credentials, route: routeWith(ended) })).toMatchObject({
      failure: { errorCode: 'token_unreachable', errorMessage: expect.stringContaining(why) },
    });
    expect(receiver.received).toHaveLength(0);
    // a valid one is not the cause
    const refused = await post(openSender(), receiver.url, routeWith(certificateFor('other')));
    expect(refused.errorMessage).not.toContain('ended');
  });
});

// the server of OpenSSL sends the same alerts as nginx and Apache
const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

describe.skipIf(!hasOpenssl)(
  "the receiver's alert about the client certificate is stored (needs openssl)",
  () => {
    /** Starts a server of OpenSSL that trusts a certificate and requests it. */
    async function openVerifying(trusted: Certificate, version: string): Promise<string> {
      const folder = mkdtempSync(join(tmpdir(), 'payhook-openssl-'));
      const file = (name: string, text: string) => {
        writeFileSync(join(folder, name), text);
        return join(folder, name);
      };
      const own = ['-cert', file('server.pem', server.cert), '-key', file('server.key', server.key)];
      const child = spawn('openssl', [
        ...['s_server', '-accept', '127.0.0.1:0', ...own, version, '-Verify', '1', '-verify_return_error'],
        ...['-CAfile', file('trusted.pem', trusted.cert)],
      ]);
      cleanups.push(async () => {
        child.kill('SIGKILL');
        await once(child, 'close');
        rmSync(folder, { recursive: true, force: true });
      });
      let output = '';
      child.stdout.on('data', (bytes) => {
        output += bytes;
      });
      await until('openssl to listen', () => /ACCEPT .*:(\d+)/.test(output));
      return `https://localhost:${/ACCEPT .*:(\d+)/.exec(output)?.[1]}/`;
    }

    const trusted = certificateFor('trusted');
    const ended = certificateFor('ended', { ends: '200102000000Z' });
    const early = certificateFor('early', { begins: '480101000000Z' });
    const cases: [string, Certificate, Certificate, RegExp][] = [
      [
        'one of an unknown authority',
        trusted,
        certificateFor('other'),
        /^the receiver does not know the authority/,
      ],
      [
        'one that has ended',
        ended,
        ended,
        /^the receiver says that .* has expired \(.*\); the client certificate expired at/,
      ],
      ['one that is not valid yet', early, early, /^the receiver refused the client certificate \(/],
    ];
    const versions = ['-tls1_3', '-tls1_2'];

    test.each(cases.flatMap((each) => versions.map((version) => [...each, version] as const)))(
      '%s',
      async (_, known, shown, message, version) => {
        const url = await openVerifying(known, version);
        const sender = openSender();
        // a large body is still being sent when the response arrives
        for (const body of ['{}', `{"text":"${'x'.repeat(200_000)}"}`]) {
          const outcome = await sender.send({ url, headers: {}, body, route: routeWith(shown) });
          expect(outcome).toMatchObject({
            responseStatus: null,
            errorCode: 'certificate_refused',
            errorMessage: expect.stringMatching(message),
          });
        }
      },
    );

    test('none, with TLS 1.3; TLS 1.2 has no alert for that', async () => {
      const sender = openSender();
      expect(await post(sender, await openVerifying(trusted, '-tls1_3'))).toMatchObject({
        errorCode: 'certificate_refused',
        errorMessage: expect.stringContaining('the receiver requires a client certificate'),
      });
      expect((await post(sender, await openVerifying(trusted, '-tls1_2'))).errorCode).toBe('tls_error');
    });
  },
);
