import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Example } from '../../src/http/examples.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { SECTIONS } from '../../src/screens/reference/sections.ts';
import { longRun } from '../support/depth.ts';
import { checkAgainstDescription } from '../support/description.ts';
import { borrowWorld } from '../support/pool.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import type { World } from '../support/world.ts';
import { ADDRESSES, type Call, callsOf, plain, shownOn } from './pages.ts';
import { addressOf, recorderAt } from './recorder.ts';
import {
  afterwards,
  completing,
  earning,
  listening,
  paying,
  publishing,
  pulling,
  settingUp,
} from './story.ts';
import { applications, approving, people } from './story-people.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LARGEST_PAGE = 360_000;

let world: World;
let receiver: Receiver;
let worker: { close(): Promise<void> };
let recorded: Record<string, Example>;
/** The stored examples, and thus the shown ones: the first test proves that they equal the recorded ones. */
const examples: Record<string, Example> = JSON.parse(
  readFileSync(join(ROOT, 'docs/examples.json'), { encoding: 'utf8', flag: 'a+' }) || '{}',
);

beforeAll(async () => {
  receiver = await startReceiver();
  // it counts from ids of its own, and its key is used for the first time
  world = await borrowWorld({ own: true });
  worker = await world.startWorker();
  // numbers that distinguish an affiliate from a program
  await world.query('alter table affiliates alter column id restart with 1815');
  await world.query('alter table affiliate_programs alter column id restart with 3');
  await world.api.get('/v2/account');
  await noted('api_keys');
  recorded = await record();
});
afterAll(async () => {
  await receiver.close();
  await world.close();
});

/** The first use of a credential is stored besides the request; it belongs to the current step. */
const noted = (table: 'api_keys' | 'oauth_grants') =>
  until('the use is written down', async () => {
    const [row] = await world.query(`select from ${table} where last_used_at is not null`);
    return row !== undefined;
  });

/** Nothing is due or in flight: all effects have finished. */
const settled = () =>
  until('quiet', async () => {
    const [row] = await world.query<{ busy: boolean }>(
      // a consumer decides for itself when it is done
      `select exists (select from queue q join webhook_endpoints e on e.id = q.endpoint_id
         where not e.pull and (lease_token is not null or due_at <= now() + interval '10 seconds')) as busy`,
    );
    return row?.busy === false;
  });

async function record(): Promise<Record<string, Example>> {
  const unworked = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await worker.close();
    const result = await work();
    worker = await world.startWorker();
    return result;
  };
  const scene = { world, receiver, unworked };
  const { host, origin } = new URL(receiver.url);
  const addresses = {
    [receiver.url]: 'https://shop.example.com/hooks/payhook',
    [origin]: 'https://shop.example.com',
    [host]: 'shop.example.com',
  };
  const recorder = recorderAt(world, { settled, addresses });
  const used = () => noted('oauth_grants');
  await settingUp(recorder, scene);
  await earning(recorder, scene);
  const endpoint = await listening(recorder, scene);
  const payout = await paying(recorder);
  await completing(recorder, scene, { payout, endpoint });
  await afterwards(recorder, scene, payout);
  await publishing(recorder, endpoint);
  await pulling(recorder, scene);
  const owner = await people(recorder, scene);
  await approving(recorder, scene, owner);
  await applications(recorder, scene, { owner, used });
  return recorder.examples();
}

const page = async (address: string, headers: Record<string, string> = {}) => {
  const response = await fetch(world.url + address, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
};
/** The texts of all pages, by their addresses. */
const allPages = async () =>
  new Map(
    await Promise.all(ADDRESSES.map(async (address) => [address, (await page(address)).text] as const)),
  );

/** An address and its query, whose order has no meaning. */
const addressParts = (url: string) => {
  const { origin, pathname, searchParams } = new URL(url);
  return { url: origin + pathname, query: Object.fromEntries(searchParams) };
};
/** A file as a page shows it. */
const linesOf = (file: unknown) => String(file).replaceAll('\r\n', '\n').trimEnd();

describe('the examples', () => {
  test('are the responses of the server (`npx vitest run test/docs/reference.test.ts -u` rewrites them)', async () => {
    await expect(`${JSON.stringify(recorded, null, 2)}\n`).toMatchFileSnapshot('../../docs/examples.json');
  });

  test('exist for every operation', () => {
    const missing = ROUTES.map(({ operation }) => operation).filter((operation) => !(operation in recorded));
    expect(missing).toEqual([]);
  });

  test('match the schemas that describe them', () => {
    for (const { operation, method, path } of ROUTES) {
      const {
        request,
        response,
        refusals = [],
      } = recorded[operation] ?? { request: {}, response: { status: 0 } };
      for (const { status, headers = {}, body } of [response, ...refusals]) {
        checkAgainstDescription(method, addressOf(path, request), {
          status,
          reason: headers['Payhook-Reason'] ?? null,
          text: body === undefined ? '' : JSON.stringify(body),
          body,
          headers: new Headers(headers),
        });
      }
    }
  });

  test('have no real secret, and nothing of the machine that recorded them', () => {
    const text = JSON.stringify(recorded);
    expect(text.match(/\bph[a-z]{0,2}_(?!Not)\w+/g)).toBeNull();
    expect(text).not.toContain(new URL(world.url).host);
    expect(text).not.toContain(new URL(receiver.url).host);
  });

  test('are in the OpenAPI description: of parameters, bodies and responses', async () => {
    const { paths, components } = (await world.api.get('/v2/openapi.json')).body;
    const { put } = paths['/v2/affiliates/payouts/{payout_id}'];
    const { request, response, refusals } = examples.completePayout ?? { request: {}, response: {} };
    const names = Object.keys({ ...request.path, ...request.headers });
    const parameters = put.parameters.map((each: { $ref?: string }) =>
      each.$ref === undefined ? each : components.parameters[each.$ref.split('/').at(-1) ?? ''],
    );
    expect(parameters.map(({ name }: { name: string }) => name).toSorted()).toEqual(names.toSorted());
    expect(parameters.map(({ example }: { example?: string }) => example)).not.toContain(undefined);
    expect(put.requestBody.content['application/json'].example).toEqual(request.body);
    expect(put.responses['200'].content['application/json'].example).toEqual(response.body);
    expect(put.responses['200'].headers.ETag).toEqual({ $ref: '#/components/headers/ETag' });
    expect(components.headers.ETag.example).toMatch(/^"/);
    expect(put.responses['409'].content['application/json'].example).toEqual(refusals?.[0]?.body);
    expect(put.responses['409'].headers['Payhook-Reason'].schema.enum).toContain('payout_changed');
  });

  test('and every response with a body has one', async () => {
    const { paths, components } = (await world.api.get('/v2/openapi.json')).body;
    const responses = Object.values<Record<string, { operationId: string; responses: object }>>(paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ operationId, responses: own }) =>
        Object.entries(own).map(([status, each]) => [`${operationId} ${status}`, each]),
      );
    const lacking = [...responses, ...Object.entries(components.responses)].filter(
      ([, { content }]) =>
        content && !Object.values<object>(content).some((media) => 'example' in media || 'examples' in media),
    );
    expect(lacking.map(([name]) => name)).toEqual([]);
  });

  longRun.test('are optional: without the file only the description and the pages lack them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'payhook-docs-'));
    try {
      for (const name of ['src', 'package.json'])
        cpSync(join(ROOT, name), join(folder, name), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
      const script = `
        import { describeInline } from './src/http/openapi.ts';
        import { ROUTES } from './src/http/routes.ts';
        import { pagesOf } from './src/screens/reference/pages.ts';
        const description = describeInline(ROUTES);
        console.log(JSON.stringify({ description, pages: [...pagesOf(description).keys()] }));`;
      const output = execFileSync(
        process.execPath,
        ['--import', 'tsx', '--input-type=module', '-e', script],
        {
          cwd: folder,
          encoding: 'utf8',
          maxBuffer: 1 << 26,
        },
      );
      const { description, pages } = JSON.parse(output);
      expect(pages).toEqual(['overview', ...SECTIONS.map(({ slug }) => slug), 'missing']);
      expect(Object.keys(description.paths).length).toBeGreaterThan(40);
      expect(JSON.stringify(description.paths).includes('"example":')).toBe(false);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('the reference', () => {
  test('shows every operation once, and each tag has its section', async () => {
    const shown = [...(await allPages()).entries()]
      .filter(([address]) => address !== '/docs')
      .flatMap(([, text]) => shownOn(text).map(({ id }) => id));
    expect([...shown].sort()).toEqual(ROUTES.map(({ operation }) => operation).sort());
  });

  test('shows commands that a shell parses as exactly the recorded requests', async () => {
    for (const text of (await allPages()).values()) {
      const shown = shownOn(text);
      const calls = callsOf(shown.map(({ command }) => command));
      expect(calls.length).toBe(shown.length);
      for (const [index, { id, file }] of shown.entries()) {
        const route = ROUTES.find(({ operation }) => operation === id);
        const request = examples[id]?.request;
        if (!route || !request) continue;
        const isFile = typeof request.body === 'string';
        const call = calls[index] as Call;
        const sent = isFile ? file : call.body && JSON.parse(call.body);
        const type = (route.kind === 'write' && route.upload) || 'application/json';
        expect({ ...call, ...addressParts(call.url), body: sent }, id).toEqual({
          method: route.method,
          ...addressParts(world.url + addressOf(route.path, request)),
          headers: {
            Authorization: 'Bearer the-key',
            ...request.headers,
            ...(request.body === undefined ? {} : { 'Content-Type': type }),
          },
          body: isFile ? linesOf(request.body) : request.body,
        });
        if (isFile) expect(call.body).toMatch(/^@[\w-]+\.csv$/);
      }
    }
  });

  test('shows the recorded responses: status, headers and body', async () => {
    const here = (value: unknown) =>
      JSON.parse(JSON.stringify(value).replaceAll('https://payhook.example.com', world.url));
    for (const text of (await allPages()).values()) {
      for (const { id, status, answer } of shownOn(text)) {
        const response = examples[id]?.response;
        if (!response) continue;
        const headers = Object.entries(here(response.headers ?? {})).map(
          ([name, value]) => `${name}: ${value}`,
        );
        expect(status.split(' ')[1], id).toBe(String(response.status));
        if (headers.length > 0) expect(answer.startsWith(headers.join('\n')), id).toBe(true);
        const rest = headers.length > 0 ? answer.slice(headers.join('\n').length).trimStart() : answer;
        if (typeof response.body === 'string') expect(rest, id).toBe(linesOf(response.body));
        else if (response.body !== undefined) expect(JSON.parse(rest), id).toEqual(here(response.body));
      }
    }
  });

  test('names the parameters, fields, callers, responses and reasons of an operation', async () => {
    const { text } = await page('/docs/payouts');
    const shown = shownOn(text).find(({ id }) => id === 'completePayout')?.text ?? '';
    for (const words of [
      'PUT /v2/affiliates/payouts/{payout_id}',
      'token with affiliates',
      'signed-in owner, member or finance',
      'If-Match',
      'commissions list of objects required',
      'payment_reference string or null',
      '200: the CompletedPayout',
      '409payout_changed If-Match or revision names a revision of the payout that is not the current one.',
      'Response 409 Conflict',
    ])
      expect(shown).toContain(words);
    expect(plain(text)).toContain('As Payout, and with:unlisted_affiliate_count');
  });

  test('has no broken link', async () => {
    const pages = await allPages();
    const ids = new Map(
      [...pages].map(([address, text]) => [
        address,
        new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)),
      ]),
    );
    const broken = [...pages].flatMap(([address, text]) =>
      [...text.matchAll(/ href="([^"]+)"/g)]
        .map(([, href = '']) => href)
        .filter((href) => {
          if (href.startsWith('data:') || href === '/v2/openapi.json') return false;
          const [path = '', anchor] = href.split('#');
          const there = ids.get(path === '' ? address : path);
          return !there || (anchor !== undefined && !there.has(anchor));
        })
        .map((href) => `${address}: ${href}`),
    );
    expect(broken).toEqual([]);
  });

  test('is public, small, without scripts and external resources', async () => {
    for (const address of ADDRESSES) {
      const { status, headers, text } = await page(address);
      expect([address, status, headers.get('content-type')]).toEqual([
        address,
        200,
        'text/html; charset=utf-8',
      ]);
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; style-src 'unsafe-inline'; img/,
      );
      expect(text.length).toBeLessThan(LARGEST_PAGE);
      expect(text).not.toMatch(/<script|<link rel="stylesheet"|<img|\son\w+=|javascript:|@import\b|url\(/);
    }
  });

  test('may be cached and revalidated: the same page is a 304', async () => {
    const first = await page('/docs/payouts');
    const etag = first.headers.get('etag') ?? '';
    expect(first.headers.get('cache-control')).toBe('public, max-age=0, must-revalidate');
    expect(first.headers.get('pragma')).toBeNull();
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await page('/docs/payouts', { 'if-none-match': known });
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    }
    expect((await page('/docs/payouts', { 'if-none-match': '"other"' })).status).toBe(200);
    expect((await page('/docs')).headers.get('etag')).not.toBe(etag);
  });

  test('of an unknown section is a 404 that lists the existing ones, and is not cached', async () => {
    const { status, headers, text } = await page('/docs/payoutz');
    expect([status, headers.get('cache-control')]).toEqual([404, 'no-store']);
    for (const { title, slug } of SECTIONS) expect(text).toContain(`<a href="/docs/${slug}">${title}</a>`);
    for (const name of ['missing', 'overview', 'payouts/create', '..%2f..%2fpackage'])
      expect((await page(`/docs/${name}`)).status, name).toBe(404);
    const posted = await fetch(`${world.url}/docs/payouts`, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });
});
