import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { makeEndpoint } from '../support/seed.ts';
import { useWorld } from '../support/world.ts';
import { AFFILIATES, makeAffiliate, makeCommission, makePayout, PAYOUTS } from './fixtures.ts';

const world = useWorld();

interface Raw {
  readonly status: number | undefined;
  readonly coding: string | undefined;
  readonly etag: string | undefined;
  readonly vary: string | undefined;
  readonly bytes: Buffer;
}

/** A response as sent: `fetch` would decompress it. */
const ask = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
  new Promise<Raw>((resolve, reject) => {
    const { url, key } = world.api;
    const options = { method, agent: false, headers: { authorization: `Bearer ${key}`, ...headers } };
    request(url + path, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject).once('end', () =>
        resolve({
          status: response.statusCode,
          coding: response.headers['content-encoding'],
          etag: response.headers.etag,
          vary: response.headers.vary,
          bytes: Buffer.concat(chunks),
        }),
      );
    })
      .once('error', reject)
      .end();
  });
const accepting = (codings: string) => ({ 'accept-encoding': codings });

function opened({ coding, bytes }: Raw): string {
  if (coding === undefined) return bytes.toString();
  return (coding === 'br' ? brotliDecompressSync(bytes) : gunzipSync(bytes)).toString();
}

const LIST = `${AFFILIATES}?per_page=50`;
let payout: { readonly id: string };

beforeAll(async () => {
  for (let index = 0; index < 10; index += 1) {
    const { id } = await makeAffiliate(world.api, { payout_method: 'other' });
    await makeCommission(world.api, id, { amount: 1000 + index, currency: 'usd' });
  }
  payout = await makePayout(world.api);
});

test.each([
  ['gzip, deflate, br', 'br'],
  ['gzip', 'gzip'],
  ['GZIP;q=1.0', 'gzip'],
  ['br;q=0.5, gzip', 'gzip'],
  ['br;q=0, gzip;q=0.001', 'gzip'],
  ['*', 'br'],
  ['br;q=0, *', 'gzip'],
  ['identity;q=1, *;q=0.5', undefined],
  ['br;q=0, gzip;q=0', undefined],
  ['zstd, deflate', undefined],
  ['', undefined],
  ['br;q=2, ;;,gzip;q=x', 'br'],
])('to a client that accepts %s a list is sent in %s', async (accepted, coding) => {
  const whole = await ask(LIST);
  const answer = await ask(LIST, accepting(accepted));
  expect(answer).toMatchObject({ status: 200, coding });
  expect(opened(answer)).toBe(whole.bytes.toString());
  expect([whole.coding, whole.vary, answer.vary]).toEqual([undefined, 'Accept-Encoding', 'Accept-Encoding']);
  if (coding !== undefined) expect(answer.bytes.length).toBeLessThan(whole.bytes.length / 2);
});

test('a response shorter than 1 kB is not compressed', async () => {
  const answer = await ask(`${AFFILIATES}?per_page=1`, accepting('br'));
  expect(answer).toMatchObject({ status: 200, coding: undefined, vary: 'Accept-Encoding' });
  expect(answer.bytes.length).toBeLessThan(1024);
});

test('each coding has its own ETag, which If-None-Match accepts', async () => {
  const answers = await Promise.all(['identity', 'gzip', 'br'].map((coding) => ask(LIST, accepting(coding))));
  const etags = answers.map(({ etag }) => etag ?? '');
  expect(new Set(etags).size).toBe(3);
  for (const etag of etags) {
    for (const coding of ['identity', 'br']) {
      const answer = await ask(LIST, { ...accepting(coding), 'if-none-match': etag });
      expect({ ...answer, bytes: answer.bytes.length }).toMatchObject({
        status: 304,
        coding: undefined,
        bytes: 0,
      });
    }
  }
});

test('a file is compressed as a stream, and its ETag is the revision in every coding', async () => {
  const path = `${PAYOUTS}/${payout.id}/download`;
  const [whole, br, gzip] = await Promise.all(
    ['identity', 'br', 'gzip'].map((coding) => ask(path, accepting(coding))),
  );
  if (!whole || !br || !gzip) throw new Error('an answer is missing');
  expect([whole.coding, br.coding, gzip.coding]).toEqual([undefined, 'br', 'gzip']);
  expect([opened(br), opened(gzip)]).toEqual([whole.bytes.toString(), whole.bytes.toString()]);
  expect(new Set([whole.etag, br.etag, gzip.etag])).toEqual(new Set(['"1"']));
  const removed = await world.api.delete(`${PAYOUTS}/${payout.id}`, { 'if-match': br.etag ?? '' });
  expect(removed.status, removed.text).toBe(204);
});

test('HEAD has the headers of GET', async () => {
  const [head, get] = await Promise.all(['HEAD', 'GET'].map((method) => ask(LIST, accepting('br'), method)));
  expect({ ...head, bytes: null }).toEqual({ ...get, bytes: null });
  expect(head?.bytes.length).toBe(0);
});

test('a response with a secret is never compressed', async () => {
  const endpoint = await makeEndpoint(world.api);
  for (const path of [`/v2/webhook-endpoints/${endpoint}/secret`, '/v2/me']) {
    expect(await ask(path, accepting('br, gzip'))).toMatchObject({
      status: 200,
      coding: undefined,
      vary: undefined,
    });
  }
});

test('the description is small, and the same in every coding', async () => {
  const path = '/v2/openapi.json';
  const [whole, gzip, br] = await Promise.all(
    ['identity', 'gzip', 'br'].map((coding) => ask(path, accepting(coding))),
  );
  if (!whole || !gzip || !br) throw new Error('an answer is missing');
  expect([gzip.coding, br.coding]).toEqual(['gzip', 'br']);
  expect([opened(gzip), opened(br)]).toEqual([whole.bytes.toString(), whole.bytes.toString()]);
  expect(br.bytes.length).toBeLessThan(86_000);
  expect(await ask(path, { ...accepting('br'), 'if-none-match': whole.etag ?? '' })).toMatchObject({
    status: 304,
  });
});
