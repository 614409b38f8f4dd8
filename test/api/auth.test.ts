import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { newSecret } from '../../src/kernel/secrets.ts';
import { apiOf } from '../support/api.ts';
import { someOf } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import { AFFILIATES, expectRefusal, fill, nothingChanges, OPERATIONS, PAYOUTS } from './fixtures.ts';

const world = useWorld();

// test/access/matrix.test.ts sends every operation a request without a key
describe.each(someOf(OPERATIONS, 40))('$method $path', ({ method, path }) => {
  const at = fill(path);

  test('is refused without a key and with an unknown one, before any other error', async () => {
    await nothingChanges(world, async () => {
      const wrong = { body: '{"nonsense', headers: { 'content-type': 'application/json' } };
      const options = method === 'GET' ? {} : wrong;
      for (const [key, reason] of [
        ['', 'missing_credentials'],
        [newSecret('ph_', 0), 'invalid_credentials'],
      ] as const) {
        const answer = await apiOf(world.url, key).request(method, `${at}?nonsense=1`, options);
        expectRefusal(answer, 401, reason);
        expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
      }
    });
  });
});

describe('an Authorization header', () => {
  const send = (authorization?: string) =>
    apiOf(world.url, '').get(PAYOUTS, authorization === undefined ? {} : { headers: { authorization } });

  test.each([
    ['none', undefined, 'missing_credentials'],
    ['an empty one', '', 'missing_credentials'],
    ['the scheme alone', 'Bearer', 'missing_credentials'],
    ['the scheme and a space', 'Bearer ', 'missing_credentials'],
    ['another scheme', 'Basic YTpi', 'missing_credentials'],
    ['no scheme', newSecret('ph_', 0), 'missing_credentials'],
    ['two tokens', 'Bearer a b', 'missing_credentials'],
    ['a text that is not a key', 'Bearer nonsense', 'invalid_credentials'],
    ['an unknown key', `Bearer ${newSecret('ph_', 0)}`, 'invalid_credentials'],
    ['a token of 8 kB', `Bearer ${'x'.repeat(8000)}`, 'invalid_credentials'],
  ])('with %s is refused, and the response names the scheme', async (_, header, reason) => {
    const answer = await send(header);
    expectRefusal(answer, 401, reason);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
  });

  test('with a mistyped key is refused, and the scheme may be in any case', async () => {
    const { key } = world.api;
    const other = key.endsWith('0') ? '1' : '0';
    expectRefusal(await send(`Bearer ${key.slice(0, -1)}${other}`), 401, 'invalid_credentials');
    for (const scheme of ['Bearer', 'bearer', 'BEARER'])
      expect((await send(`${scheme} ${key}`)).status).toBe(200);
  });

  test('with a revoked key is refused at once, on every server', async () => {
    const made = await world.api.post('/v2/api-keys', { name: 'soon gone' });
    const second = await world.secondServer();
    const clients = [apiOf(world.url, made.body.key), apiOf(second.api.url, made.body.key)];
    for (const client of clients) expect((await client.get(PAYOUTS)).status).toBe(200);
    expect((await world.api.delete(`/v2/api-keys/${made.body.id}`)).status).toBe(204);
    for (const client of clients) expectRefusal(await client.get(PAYOUTS), 401, 'invalid_credentials');
    await second.close();
  });

  test('is never written to the log', async () => {
    await world.api.get(PAYOUTS);
    expect(JSON.stringify(world.log)).not.toContain(world.api.key.slice(3));
  });
});

test('a caller without a key gets a response before the body is read', async () => {
  const { port } = new URL(world.url);
  const socket = connect(Number(port), '127.0.0.1');
  // a million bytes are announced, none is sent
  socket.write(
    `POST ${AFFILIATES} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n`,
  );
  const answer = await new Promise<string>((resolve, reject) => {
    socket.once('data', (chunk) => resolve(chunk.toString()));
    socket.once('error', reject);
  });
  socket.destroy();
  expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  expect(answer).toContain('"code":"unauthorized"');
});

test('a caller without a key learns nothing about a body that is too large', async () => {
  const body = JSON.stringify({ email: 'x'.repeat(3 << 20) });
  const answer = await apiOf(world.url, '')
    .request('POST', AFFILIATES, { body, headers: { 'content-type': 'application/json' } })
    .catch((error: Error) => error);
  // the server may close the connection during the upload of the body
  if (!(answer instanceof Error)) expectRefusal(answer, 401, 'missing_credentials');
});

test('health needs no key and shows nothing of the data', async () => {
  const anyone = apiOf(world.url, '');
  for (const [path, body] of [
    ['/healthz', { status: 'ok' }],
    ['/readyz', { status: 'ready' }],
  ] as const) {
    const answer = await anyone.get(path);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(body);
  }
  const description = await anyone.get('/v2/openapi.json');
  expect(description.status).toBe(200);
  expect(description.body.openapi).toMatch(/^3\.1/);
  expect(description.body.info.version).toBe('2.0.0');
});
