import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALL_SCOPES } from '../../src/contract/scopes.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { OAUTH_ROUTES } from '../../src/oauth/routes.ts';
import { AUTHORIZATION_PARAMETERS } from '../../src/oauth/steps.ts';
import { PAGE_ROUTES } from '../../src/screens/routes.ts';
import { browserOf, register, signedIn, tokensFor } from '../oauth/support.ts';
import { makeUser, PASSWORD } from '../people/support.ts';
import { apiOf } from '../support/api.ts';
import { isLong } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';

// The example and the commands of the guide, run as a reader would.
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const PAGE = read('docs/oauth.md');
const SECURITY = read('docs/security.md');

const blocks = (page: string, fence: string) =>
  [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, language, code = '']) =>
    language === fence ? [code] : [],
  );

/** The rows of the tables under a heading, cell by cell. */
function rows(page: string, heading: string): string[][] {
  const section = page.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('| `'));
  return lines.map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')));
}

const world = useWorld();
let owner: { email: string };
let member: { email: string };
beforeAll(async () => {
  owner = await makeUser(world.api, 'owner');
  member = await makeUser(world.api, 'member');
});

async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return String(port);
}

describe('the example', () => {
  let port: string;
  beforeAll(async () => {
    port = await freePort();
  });

  async function run(...args: readonly string[]) {
    const child = spawn(process.execPath, ['examples/oauth-client', '--port', port, '--yes', ...args], {
      cwd: ROOT,
      env: { ...process.env, PAYHOOK_URL: world.url, PAYHOOK_API_KEY: world.api.key },
    });
    const [[code], out, err] = await Promise.all([
      once(child, 'close'),
      buffer(child.stdout),
      buffer(child.stderr),
    ]);
    return { code, stdout: out.toString(), stderr: err.toString() };
  }

  test.each([
    { kind: 'confidential', flags: [], refreshed: 'the refresh token stays' },
    { kind: 'public', flags: ['--public'], refreshed: 'the refresh token is a new one' },
  ])(
    'completes the flow as a $kind application, again with the same one',
    async ({ kind, flags, refreshed }) => {
      const first = await run(...flags, owner.email, PASSWORD);
      // in a short run only the public one runs again
      const isTwice = isLong || kind === 'public';
      const second = isTwice ? await run(...flags, owner.email, PASSWORD) : first;
      for (const { code, stdout, stderr } of [first, second]) {
        expect([code, stderr]).toEqual([0, '']);
        const lines = stdout
          .split('\n')
          .map((line) => line.trim().replaceAll(/ {2,}/g, ' '))
          .filter((line) => line !== '');
        const [application, , , address, ...rest] = lines;
        expect(application).toMatch(new RegExp(`^Application app_[0-9a-f]{32} \\(${kind}\\)$`));
        expect(address).toContain(`${world.url}/oauth/authorize?`);
        const noAccount = '403 GET /v2/account insufficient_scope: the token does not hold the scope account';
        const noKeys =
          '403 GET /v2/api-keys full_access_required: no application may manage users, sessions, API keys and applications: only owners who are signed in, and API keys, may';
        expect(rest).toEqual([
          `Came from ${world.url}`,
          'Granted affiliates webhooks, for 3600 s',
          '200 GET /v2/affiliates/payouts allowed',
          '200 GET /v2/webhook-endpoints allowed',
          noAccount,
          noKeys,
          `Refreshed affiliates webhooks; ${refreshed}`,
          'Narrowed affiliates',
          '200 GET /v2/affiliates/payouts allowed',
          '403 GET /v2/webhook-endpoints insufficient_scope: the token does not hold the scope webhooks',
          noAccount,
          noKeys,
          'Revoked',
          '401 invalid_credentials',
          '401 invalid_credentials',
          '401 invalid_credentials',
        ]);
      }
      expect(second.stdout.split('\n')[0]).toBe(first.stdout.split('\n')[0]);
      const { body } = await world.api.get(`/v2/oauth-applications?kind=${kind}`);
      expect(body.pagination.total).toBe(1);
      const { body: grants } = await world.api.get('/v2/oauth-grants?status=active');
      expect(grants.pagination.total).toBe(0);
    },
  );

  test.each([
    {
      what: 'a wrong password',
      args: () => [owner.email, 'nobody has this one'],
      says: /^signing in failed \(400\)/,
    },
    {
      what: 'a user who is no owner',
      args: () => [member.email, PASSWORD],
      says: /^there is no consent page \(403\)/,
    },
    {
      what: 'a scope that does not exist',
      args: () => ['--scope', 'nonsense', owner.email, PASSWORD],
      says: /^invalid_scope: /,
    },
  ])('explains the error in $what', async ({ args, says }) => {
    const { code, stdout, stderr } = await run(...args());
    expect(code).toBe(1);
    expect(stderr).toMatch(says);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(stdout).not.toContain('Granted');
  });
});

describe('the commands of docs/oauth.md', () => {
  let folder: string;
  // ids and secrets by their prefix: a reader copies them from one response into the next command
  const seen = new Map<string, string>();
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'payhook-oauth-'));
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data/first-api-key'), `${world.api.key}\n`);
    writeFileSync(join(folder, 'state'), '');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const SECRETS = /\b(app|phs|phc|pha|phr|grant)_[0-9A-Za-z]{32,}/g;

  async function run(code: string): Promise<string> {
    const filled = code
      .replaceAll('http://127.0.0.1:8080', world.url)
      .replaceAll(/=(app|phs|phc|pha|phr|grant)_[\w…]+/g, (given, prefix) =>
        seen.has(prefix) ? `=${seen.get(prefix)}` : given,
      );
    const child = spawn('sh', ['-eu'], { cwd: folder });
    child.stdin.end(`. ./state\n${filled}\nexport -p > state\n`);
    const [[status], out, err] = await Promise.all([
      once(child, 'close'),
      buffer(child.stdout),
      buffer(child.stderr),
    ]);
    expect([status, err.toString()], filled).toEqual([0, '']);
    for (const [secret, prefix = ''] of out.toString().matchAll(SECRETS)) seen.set(prefix, secret);
    return out.toString();
  }

  test('work one after the other', async () => {
    const [registers, asks, exchanges, uses, refreshes, narrows, revokes, merchant, ...more] = blocks(
      PAGE,
      'sh',
    ) as [string, string, string, string, string, string, string, string];
    expect(more).toEqual([]);
    expect(await run(registers)).toContain('"name":"Till & Co"');

    const person = await signedIn(world);
    const browser = browserOf(world, person);
    const { location } = await browser.send(await browser.open((await run(asks)).trim()), {});
    expect(location?.origin).toBe('https://app.example.com');
    expect(location?.searchParams.get('iss')).toBe(world.url);
    expect(location?.searchParams.get('state')).toMatch(/^[0-9a-f]{32}$/);
    seen.set('phc', location?.searchParams.get('code') ?? '');

    const tokens = JSON.parse(await run(exchanges));
    const [shown = ''] = blocks(PAGE, 'json');
    const documented = JSON.parse(shown);
    for (const name of ['access_token', 'refresh_token']) {
      expect(tokens[name].slice(0, 4)).toBe(documented[name].slice(0, 4));
      documented[name] = tokens[name];
    }
    expect(tokens).toEqual(documented);
    expect(JSON.parse(await run(uses)).data).toEqual([]);
    expect(JSON.parse(await run(refreshes))).toMatchObject({
      refresh_token: tokens.refresh_token,
      scope: 'affiliates webhooks',
    });
    expect(JSON.parse(await run(narrows)).scope).toBe('webhooks');
    expect(await run(revokes)).toBe('200\n');
    expect((await apiOf(world.url, tokens.access_token).get('/v2/affiliates/payouts')).status).toBe(401);

    const application = await register(world.api);
    const again = await tokensFor(world, person, application);
    const { body } = await world.api.get('/v2/oauth-grants?status=active');
    expect(body.pagination.total).toBe(1);
    seen.set('grant', body.data[0].id);
    expect((await run(merchant)).trim().endsWith('204')).toBe(true);
    expect((await apiOf(world.url, again.access_token).get('/v2/affiliates/payouts')).status).toBe(401);
  });
});

describe('docs/oauth.md names', () => {
  test('the parameters of the authorization request', () => {
    const named = rows(PAGE, 'Send the merchant').map(([, name]) => name);
    expect(named.sort()).toEqual([...AUTHORIZATION_PARAMETERS].sort());
  });

  test('every scope, and opens with it what it opens', () => {
    const table = rows(PAGE, 'Scopes');
    expect(table.map(([, scope]) => scope).sort()).toEqual([...ALL_SCOPES].sort());
    for (const [, scope, opens = ''] of table) {
      const paths = ROUTES.filter((route) => route.scope === scope).map(({ path }) => path);
      const named = opens.match(/\/v2[\w/-]+/g) ?? [];
      const isUnder = (path: string) => named.some((each) => path.startsWith(each));
      expect(
        paths.filter((path) => !isUnder(path)),
        scope,
      ).toEqual([]);
      expect(
        named.filter((each) => !paths.some((path) => path.startsWith(each))),
        scope,
      ).toEqual([]);
      expect(opens.includes('nothing yet'), scope).toBe(paths.length === 0);
    }
  });

  test('every error', () => {
    const folder = join(ROOT, 'src/oauth');
    const source = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    const thrown = [...source.join('\n').matchAll(/refuse\(\s*'(\w+)'/g)].map(([, word]) => word);
    const named = rows(PAGE, 'Errors').map(([, word]) => word);
    // any route may answer with these
    const always = ['server_error', 'temporarily_unavailable'];
    expect([...new Set(named)].sort()).toEqual([...new Set([...thrown, ...always])].sort());
  });
});

describe.each([
  ['docs/oauth.md', PAGE],
  ['docs/security.md', SECURITY],
])('%s', (_, page) => {
  test('names only existing addresses', () => {
    const known = [...ROUTES, ...OAUTH_ROUTES, ...PAGE_ROUTES].map(({ path }) => path.replace(/\/$/, ''));
    const named =
      page.match(/(?<![\w.:])\/(v2|oauth|\.well-known|sign-in|set-up|password|account)\b[\w{}/-]*/g) ?? [];
    expect(named.length).toBeGreaterThan(5);
    const isKnown = (path: string) => known.some((each) => each === path || each.startsWith(`${path}/`));
    const bare = named.map((path) => path.replace(/\/$/, '')).filter((path) => path !== '/v2');
    expect(bare.filter((path) => !isKnown(path))).toEqual([]);
    const ofApi = [...page.matchAll(/\$API(\/v2)?(\/[a-z-]+)/g)].map(([, , path]) => path);
    expect(ofApi.filter((path) => !isKnown(`/v2${path}`) && !isKnown(String(path)))).toEqual([]);
  });

  test('has commands that the shell can read and links that lead somewhere', () => {
    for (const code of blocks(page, 'sh')) {
      expect(spawnSync('sh', ['-n'], { input: code, encoding: 'utf8' }).stderr).toBe('');
    }
    for (const [, target = ''] of page.matchAll(/\]\((?!http)([^)#]+)/g)) {
      expect(() => readFileSync(join(ROOT, 'docs', target)), target).not.toThrow();
    }
  });
});

test('docs/security.md names only existing settings', () => {
  const configuration = read('docs/configuration.md');
  const named = SECURITY.match(/\b[A-Z]+_[A-Z_]+\b/g) ?? [];
  const own = ['USER_ID'];
  const unknown = [...new Set(named)]
    .map((name) => name.replace(/_FILE$/, ''))
    .filter((name) => !own.includes(name) && !configuration.includes(`\`${name}\``));
  expect(unknown).toEqual([]);
});
