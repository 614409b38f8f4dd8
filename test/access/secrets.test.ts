import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { ROUTES } from '../../src/http/routes.ts';
import type { AccountId } from '../../src/kernel/ids.ts';
import {
  askTokens,
  authorizePath,
  browserOf,
  codeFor,
  exchange,
  pkce,
  postForm,
  refresh,
  register,
} from '../oauth/support.ts';
import { browserAt, signInAs, tokenIn } from '../people/support.ts';
import { type Answer, apiOf } from '../support/api.ts';
import { borrowWorld } from '../support/pool.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import type { World } from '../support/world.ts';
import { dump } from '../tenants/support.ts';
import { openLink, partsOf } from './portal-support.ts';
import { backupOf, type Collector, startCollector } from './secret-places.ts';
import { bearer, send } from './support.ts';

// One life of an installation in which every kind of secret is created, used, misused and ended; then everything that
// was stored, logged or answered is searched for the secrets.

let world: World;
let receiver: Receiver;
let collector: Collector;
/** Every raw secret of this life, by its kind. */
const secrets = new Map<string, string>();
/** Secrets that are stored in one column and are useless by themselves. */
const csrfTokens = new Map<string, string>();
/** Responses with a status of 400 or more: headers and body. */
const errors: string[] = [];
/** The operations that were called for a secret twice with one Idempotency-Key. */
const replayed = new Map<string, Answer>();

function keep(name: string, secret: unknown): string {
  if (typeof secret !== 'string' || secret.length < 16) throw new Error(`${name} is no secret: ${secret}`);
  secrets.set(name, secret);
  return secret;
}

/** Requests a secret twice with one Idempotency-Key; returns the record with the secret. */
async function obtain(
  operation: string,
  path: string,
  body: object | undefined,
  secretOf: (body: Answer['body']) => string,
  method: 'post' | 'patch' | 'put' = 'post',
): Promise<Answer['body']> {
  const once = { 'idempotency-key': `${operation} once` };
  const ask = () =>
    method === 'post' ? world.api.post(path, body, once) : world.api[method](path, body ?? {}, once);
  const first = await ask();
  expect([200, 201], first.text).toContain(first.status);
  keep(`what ${operation} answers`, secretOf(first.body));
  const again = await ask();
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  replayed.set(operation, again);
  return first.body;
}

beforeAll(async () => {
  const { fetch } = globalThis;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (...request) => {
    const response = await fetch(...request);
    if (response.status >= 400) {
      const headers = [...response.headers].map((header) => header.join(': ')).join('\n');
      errors.push(`${headers}\n\n${await response.clone().text()}`);
    }
    return response;
  });
  receiver = await startReceiver();
  collector = await startCollector();
  world = await borrowWorld({ delivers: true, settings: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
  keep('SECRET_KEY', inject('postgres').secretKey);
  keep('the first key', world.api.key);
  const owner = await liveAsPeople();
  await liveWithKeys();
  await liveWithWebhooks();
  await liveWithConsumers();
  await liveWithApplications(owner);
  await liveWithBanks();
  await liveWithTaxIds();
  await mistakeSecrets();
});
afterAll(async () => {
  vi.restoreAllMocks();
  await world.close();
  await receiver.close();
  collector.close();
});

/** The first owner signs up by a set-up link, others by invitation and reset, with every mistake about passwords. */
async function liveAsPeople(): Promise<{ cookie: string; csrf: string; id: string }> {
  const [account] = await world.query<{ id: string }>('select id from accounts order by id limit 1');
  const link = await world.platform.accounts.setUpLink((account?.id ?? '') as AccountId);
  const token = keep('a set-up link', tokenIn(link ?? ''));
  const browser = browserAt(world.url);
  expect((await browser.get(`/set-up?token=${token}`)).status).toBe(200);
  const first = keep("the owner's password", 'nine purple submarines');
  const name = { token, account_name: 'Shop', email: 'ada@example.com' };
  const other = keep('a password typed wrongly', 'nine purple submarinez');
  expect((await browser.submit('/set-up', { ...name, account_name: ' ', password: other })).status).toBe(400);
  expect((await browser.submit('/set-up', { ...name, password: first })).status).toBe(303);
  expect((await browser.submit('/set-up', { ...name, password: first })).status).toBe(410);

  // a password in the e-mail field, a wrong one, and a change
  const { email } = name;
  expect((await signInAs(world.url, email, other)).answer.status).toBe(400);
  expect((await signInAs(world.url, `${other.replaceAll(' ', '')}@example.com`, first)).answer.status).toBe(
    400,
  );
  keep('a password typed as an e-mail address', other.replaceAll(' ', ''));
  const csrf = await browser.token();
  const second = keep("the owner's next password", 'ten yellow accordions');
  const change = { csrf, new: second, again: second };
  const results = [
    await browser.submit('/account/password', { ...change, current: other }),
    await browser.submit('/account/password', { ...change, current: first }),
  ];
  expect(results.map(({ location }) => location)).toEqual([
    '/settings/profile?password=wrong',
    '/settings/profile?password=changed',
  ]);

  const invited = { email: 'bob@example.com', name: 'Bob', role: 'member' };
  const user = await obtain('createUser', '/v2/users', invited, (body) => tokenIn(body.invitation_url));
  const chosen = keep("a member's password", 'eleven orange tractors');
  const member = browserAt(world.url);
  const choose = (secret: string, password: string, again = password) =>
    member.submit('/password', { token: secret, password, again });
  const invitation = tokenIn(user.invitation_url);
  expect((await choose(invitation, chosen, other)).status).toBe(400);
  expect((await choose(invitation, chosen)).status).toBe(303);
  expect((await choose(invitation, chosen)).status).toBe(410);
  keep("a member's session", member.cookie());
  csrfTokens.set('of the member', await member.token());
  const reset = await obtain('resetUserPassword', `/v2/users/${user.id}/reset-password`, undefined, (body) =>
    tokenIn(body.reset_url),
  );
  const before = member.cookie();
  expect(
    (await choose(tokenIn(reset.reset_url), keep('a new password', 'twelve silver lanterns'))).status,
  ).toBe(303);
  keep("a member's next session", member.cookie());
  expect((await browserAt(world.url, before).call('GET', '/v2/account', undefined, null)).status).toBe(401);

  const signedInAgain = await signInAs(world.url, email, second);
  const cookie = keep("the owner's session", signedInAgain.browser.cookie());
  const mine = { cookie, csrf: await signedInAgain.browser.token() };
  csrfTokens.set('of the owner', mine.csrf);
  const wrong = await signedInAgain.browser.call('POST', '/v2/affiliates/programs', { name: 'x' }, csrf);
  expect(wrong.reason).toBe('cross_site_request');
  const { body: users } = await world.api.get('/v2/users?role=owner');
  return { ...mine, id: users.data[0].id };
}

async function liveWithKeys(): Promise<void> {
  await obtain(
    'createAlertChannel',
    '/v2/alert-channels',
    { name: 'ops', format: 'webhook', url: 'https://ops.example.com/x', kinds: [] },
    ({ secret }) => secret,
  );
  const made = await obtain('createApiKey', '/v2/api-keys', { name: 'till' }, ({ key }) => key);
  const till = apiOf(world.url, made.key);
  expect((await till.get('/v2/account')).status).toBe(200);
  expect((await till.post('/v2/affiliates/programs', { name: 'By the till' })).status).toBe(201);
  expect((await world.api.delete(`/v2/api-keys/${made.id}`)).status).toBe(204);
  expect((await till.get('/v2/account')).status).toBe(401);
}

/** An endpoint with its own headers that delivers and fails, and whose receiver answers in its own words. */
async function liveWithWebhooks(): Promise<void> {
  const value = (name: string) => keep(name, `Bearer ${'receiver'.repeat(3)}-${name.replaceAll(' ', '-')}`);
  const endpoint = await obtain(
    'createWebhookEndpoint',
    '/v2/webhook-endpoints',
    {
      url: receiver.url,
      event_types: ['order.*'],
      headers: { authorization: value('a header of an endpoint') },
    },
    ({ secret }) => secret,
  );
  const path = `/v2/webhook-endpoints/${endpoint.id}`;
  const { body } = await world.api.get(`${path}/secret`);
  keep('the secret that is shown again', body.secret);
  const headers = { 'x-token': value('a header that came later') };
  expect((await world.api.patch(path, { headers })).status).toBe(200);
  const bad = { 'x-bad': `${value('a header that is refused')}\u0007` };
  expect((await world.api.patch(path, { headers: bad })).reason).toBe('invalid_header');
  const reserved = { host: value('a header that is reserved') };
  expect((await world.api.patch(path, { headers: reserved })).reason).toBe('invalid_header');
  await liveWithPortal(path);
  const named = '/v2/webhook-endpoints/by-external-id/shop-7';
  const unused = { url: 'https://shop.example.com/hooks', status: 'disabled' };
  await obtain('putWebhookEndpointByExternalId', named, unused, ({ secret }) => secret, 'put');
  await obtain('rotateWebhookEndpointSecret', `${path}/rotate-secret`, undefined, ({ secret }) => secret);
  const imported = {
    signing: 'github',
    secret: keep('a secret of another scheme', 'a-secret-of-another-scheme'),
  };
  expect((await world.api.patch(path, imported)).status).toBe(200);
  const standard = { signing: 'standard' };
  await obtain('changeWebhookEndpoint', path, standard, ({ secret }) => secret, 'patch');
  receiver.respond((_request, response, count) => response.writeHead(count === 1 ? 500 : 200).end('no'));
  for (const external_id of ['one', 'two'])
    await world.api.post('/v2/events', { type: 'order.created', data: {}, external_id });
  await receiver.until(2);
  expect(receiver.received[0]?.headers.authorization).toBe(secrets.get('a header of an endpoint'));
  await until('both attempts in the log', async () => {
    return (await world.query('select 1 from attempts')).length === 2;
  });
  for (const event of (await world.api.get(`${path}/events`)).body.data)
    expect((await world.api.get(`${path}/events/${event.id}`)).status).toBe(200);
}

/** A pull endpoint whose token claims. */
async function liveWithConsumers(): Promise<void> {
  const fields = { delivery: 'pull', event_types: ['invoice.*'] };
  const { body: endpoint } = await world.api.post('/v2/webhook-endpoints', fields);
  const path = `/v2/webhook-endpoints/${endpoint.id}`;
  const { token } = await obtain(
    'createWebhookEndpointToken',
    `${path}/token`,
    undefined,
    (made) => made.token,
  );
  const consumer = apiOf(world.url, token);
  await world.api.post('/v2/events', { type: 'invoice.created', data: {} });
  const [claimed] = (await consumer.post(`${path}/claims`)).body.items;
  expect(claimed.type).toBe('invoice.created');
  const items = [{ id: claimed.id, lease_id: claimed.lease_id, status: 'delivered' }];
  expect((await consumer.post(`${path}/acknowledgements`, { items })).status).toBe(200);
}

/** The payment file contains the IBAN; the stored record of the download must not. */
async function downloadBankFile(payout: string, iban: string): Promise<void> {
  const debtor = { name: 'Shop', iban: 'DE02120300000000202051' };
  expect((await world.api.patch('/v2/account', { debtor })).status).toBe(200);
  const file = await world.api.get(`/v2/affiliates/payouts/${payout}/payment-files/sepa?currency=eur`);
  expect(file.text).toContain(`<IBAN>${iban}</IBAN>`);
}

/** An import of affiliates with an ignored column, as another product exports it. */
async function importWithNumbers(iban: string): Promise<void> {
  const file = `email,Bank account\nimported@example.com,${iban}\n`;
  const query = 'kind=affiliates&accept_guesses=true&save_as=theirs';
  const imported = await world.api.upload(`/v2/imports?${query}`, file);
  expect(imported.status, imported.text).toBeLessThan(300);
}

/** Bank accounts of affiliates: sent, replaced, shared, and paid to. */
async function liveWithBanks(): Promise<void> {
  const { body: affiliate } = await world.api.post('/v2/affiliates', { email: 'bank@example.com' });
  const { body: twin } = await world.api.post('/v2/affiliates', { email: 'twin@example.com' });
  const iban = keep('an IBAN', 'DE89370400440532013000');
  const sepa = { type: 'sepa', account_holder: 'Bank Person', iban };
  const ach = {
    type: 'ach',
    account_holder: 'Bank Person',
    routing_number: '021000021',
    account_type: 'checking',
  };
  const bodies = [
    sepa,
    { ...sepa, iban: keep('an IBAN that replaced it', 'GB29NWBK60161331926819') },
    { ...ach, account_number: keep('an account number', '98765432109876543') },
    sepa,
  ];
  for (const [index, body] of bodies.entries()) {
    const path = `/v2/affiliates/${affiliate.id}/destination`;
    const answer = await world.api.put(path, body, {
      'idempotency-key': `destination ${index}`,
    });
    expect(answer.status, answer.text).toBe(200);
  }
  const shared = await world.api.put(`/v2/affiliates/${twin.id}/destination`, sepa);
  expect(shared.body.shared_with).toEqual([affiliate.id]);
  const wrong = keep('an IBAN with a wrong digit', 'DE89370400440532013001');
  expect(
    (await world.api.put(`/v2/affiliates/${twin.id}/destination`, { ...sepa, iban: wrong })).status,
  ).toBe(400);
  const sale = { external_id: 'of the bank', affiliate_id: affiliate.id, amount: 700, currency: 'eur' };
  await world.api.post('/v2/affiliates/commissions', { ...sale, occurred_at: '2025-01-01T00:00:00Z' });
  const { body: payout } = await world.api.post('/v2/affiliates/payouts', {});
  await downloadBankFile(payout.id, iban);
  await importWithNumbers(iban);
  expect((await world.api.put(`/v2/affiliates/${affiliate.id}/destination`, { type: 'other' })).status).toBe(
    200,
  );
  const commissions = [{ affiliate_id: affiliate.id, is_paid: true }];
  expect((await world.api.put(`/v2/affiliates/payouts/${payout.id}`, { commissions })).status).toBe(200);
}

/** An invoice with a tax id: the file contains it whole; the stored invoice must not. */
async function invoice(
  affiliate_id: number,
  taxId: string,
  change: (body: object) => Promise<Answer>,
): Promise<void> {
  const own = { legal_name: 'Shop', country: 'DE', address: { line1: 'Hauptstr. 1', city: 'Berlin' } };
  const invoicing = { rules: [{ category: 'S', rate: 1900 }] };
  expect((await world.api.patch('/v2/account', { tax_profile: own, invoicing })).status).toBe(200);
  const agreed = await change({ self_billing: { agreed_on: '2020-01-01', agreed_by: 'Tax Person' } });
  expect(agreed.status, agreed.text).toBe(200);
  const sale = { external_id: 'invoiced', affiliate_id, amount: 700, currency: 'eur' };
  await world.api.post('/v2/affiliates/commissions', { ...sale, occurred_at: '2025-01-01T00:00:00Z' });
  const { body: payout } = await world.api.post('/v2/affiliates/payouts');
  const path = `/v2/affiliates/payouts/${payout.id}`;
  await world.api.put(path, { commissions: [{ affiliate_id, is_paid: true }] });
  const issued = await world.api.post(`${path}/invoices`, undefined, { 'idempotency-key': 'invoices' });
  expect(issued.body.issued, issued.text).toBe(1);
  await world.api.post(`${path}/affiliates/${affiliate_id}/returned`, { reason: 'closed' });
  const { body: list } = await world.api.get('/v2/affiliates/invoices');
  expect(list.data).toHaveLength(2);
  expect(JSON.stringify(list)).not.toContain(taxId);
  for (const { id } of list.data) {
    const file = await world.api.get(`/v2/affiliates/invoices/${id}/download?format=xml`);
    expect(file.text).toContain(taxId);
  }
}

/** Tax ids of affiliates: sent, kept, replaced, shared and refused; long enough never to occur by chance. */
async function liveWithTaxIds(): Promise<void> {
  const { body: affiliate } = await world.api.post('/v2/affiliates', { email: 'tax@example.com' });
  const { body: twin } = await world.api.post('/v2/affiliates', { email: 'tax-twin@example.com' });
  const signed = {
    legal_type: 'person',
    legal_name: 'Tax Person',
    country: 'US',
    address: { line1: '1 Main St', city: 'Boston' },
  };
  const put = (id: number, body: object, headers = {}) =>
    world.api.put(`/v2/affiliates/${id}/tax-profile`, body, headers);
  const tin = keep('a tax id', 'TIN7Q2W9K4M55ZX1P');
  const ids = [
    { type: 'other', number: tin },
    undefined,
    { type: 'other', number: keep('a tax id that replaced it', 'TIN8R3X0L5N66AY2Q') },
    { type: 'other', number: tin },
  ];
  for (const [index, tax_id] of ids.entries()) {
    const answer = await put(affiliate.id, { ...signed, tax_id }, { 'idempotency-key': `tax id ${index}` });
    expect(answer.status, answer.text).toBe(200);
  }
  await invoice(affiliate.id, tin, (body) => put(affiliate.id, { ...signed, ...body }));
  const shared = await put(twin.id, { ...signed, tax_id: { type: 'other', number: tin } });
  expect(shared.body.tax_id.shared_with).toEqual([affiliate.id]);
  const wrong = keep('a VAT id that is too long', 'DE81190798111111111');
  expect((await put(twin.id, { ...signed, tax_id: { type: 'vat', number: wrong } })).status).toBe(400);
}

/** A link that opens a portal once; the portal sees its endpoint. */
async function liveWithPortal(path: string): Promise<void> {
  const link = await obtain('createPortalLink', `${path}/portal-link`, {}, ({ url }) => partsOf(url).secret);
  const opened = await openLink(world.url, partsOf(link.url));
  expect(opened.status).toBe(200);
  const portal = apiOf(world.url, keep('the token of a portal', opened.body.token));
  expect((await portal.get(path)).status).toBe(200);
  expect((await portal.get('/v2/account')).status).toBe(403);
  expect((await openLink(world.url, partsOf(link.url))).status).toBeGreaterThanOrEqual(400);
}

async function liveWithApplications(owner: { cookie: string; csrf: string; id: string }): Promise<void> {
  const application = await obtain(
    'createOAuthApplication',
    '/v2/oauth-applications',
    {
      name: 'Till',
      kind: 'confidential',
      redirect_uris: ['https://app.example/callback'],
      scopes: ['affiliates'],
    },
    (body) => body.client_secret,
  );
  const path = `/v2/oauth-applications/${application.id}/rotate-secret`;
  const rotated = await obtain('rotateOAuthApplicationSecret', path, undefined, (body) => body.client_secret);
  const open = await register(world.api, { kind: 'public', name: 'On a phone' });
  for (const [name, registered] of [
    ['a confidential application', rotated],
    ['a public application', open],
  ] as const) {
    const { verifier, challenge } = pkce();
    keep(`the verifier of ${name}`, verifier);
    const state = keep(`the state of ${name}`, `state-of-${name.replaceAll(' ', '-')}`);
    const request = { code_challenge: challenge, code_challenge_method: 'S256', scope: 'affiliates', state };
    const burnt = keep(`a burnt code of ${name}`, await codeFor(world, owner, registered, request));
    const wrong = keep(`a wrong verifier of ${name}`, pkce().verifier);
    expect((await exchange(world, registered, burnt, { code_verifier: wrong })).status).toBe(400);
    const code = keep(`a code of ${name}`, await codeFor(world, owner, registered, request));
    const { body: tokens } = await exchange(world, registered, code, { code_verifier: verifier });
    keep(`an access token of ${name}`, tokens.access_token);
    keep(`a refresh token of ${name}`, tokens.refresh_token);
    expect((await apiOf(world.url, tokens.access_token).get('/v2/affiliates')).status).toBe(200);
    expect((await apiOf(world.url, tokens.access_token).get('/v2/api-keys')).status).toBe(403);
    expect((await apiOf(world.url, tokens.refresh_token).get('/v2/affiliates')).status).toBe(401);
    const { body: next } = await refresh(world, registered, tokens.refresh_token);
    keep(`the next access token of ${name}`, next.access_token);
    keep(`the next refresh token of ${name}`, next.refresh_token);
    expect((await refresh(world, registered, next.refresh_token, { scope: 'account' })).status).toBe(400);
    await world.query(
      "update oauth_tokens set used_at = now() - interval '1 minute' where used_at is not null",
    );
    if (registered === open)
      expect((await refresh(world, registered, tokens.refresh_token)).status).toBe(400);
    expect((await exchange(world, registered, code, { code_verifier: verifier })).status).toBe(400);
    expect((await apiOf(world.url, next.access_token).get('/v2/affiliates')).status).toBe(401);
  }
  // the old client secret, in both places a client may send it
  const { client_secret, id } = application;
  const form = {
    grant_type: 'refresh_token',
    refresh_token: secrets.get('a refresh token of a public application'),
  };
  expect((await askTokens(world, application, form)).status).toBe(401);
  const basic = `Basic ${Buffer.from(`${id}:${client_secret}`).toString('base64')}`;
  expect((await postForm(world.url, '/oauth/token', form, { authorization: basic })).status).toBe(401);
  const denied = browserOf(world, owner);
  await denied.send(await denied.open(authorizePath(rotated)), { decision: 'deny' });
}

/** Every secret in the wrong place: in fields that are usually logged, and in refused requests. */
async function mistakeSecrets(): Promise<void> {
  for (const secret of secrets.values()) {
    const inQuery = new URLSearchParams({ access_token: secret });
    const token = secret.replaceAll(/[^\w.~+/=-]/g, '');
    await send(world, bearer(token), ['GET', '/v2/account']);
    await send(world, { cookie: `payhook_session=${token}` }, ['GET', '/v2/account']);
    await world.api.get(`/v2/affiliates?${inQuery}`);
    await world.api.get(`/v2/affiliates?${new URLSearchParams({ sort: secret })}`);
    await world.api.post('/v2/affiliates', { email: 1, name_first: secret });
    await world.api.post('/v2/api-keys', { name: 'x', unknown: secret });
    await world.api.request('POST', '/v2/api-keys', {
      body: `{"name": "${secret}`,
      headers: { 'content-type': 'application/json' },
    });
    for (const path of ['/oauth/token', '/oauth/revoke']) {
      await postForm(world.url, path, { client_id: secret, client_secret: secret });
      await postForm(world.url, path, { grant_type: secret, token: secret, code: secret, client_id: 'x' });
    }
    const page = browserAt(world.url);
    await page.get(`/oauth/authorize?${new URLSearchParams({ client_id: secret, redirect_uri: secret })}`);
    await page.get(`/password?token=${encodeURIComponent(secret)}`);
    await page.submit('/password', { token: secret, password: 'x', again: secret });
  }
}

/** Encodings in which a text remains readable. */
function formsOf(secret: string): string[] {
  // the middle, so that a hint or a truncated value is found too
  const part = secret.length > 40 ? secret.slice(10, -8) : secret;
  const bytes = Buffer.from(part);
  const base64 = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // characters that also depend on their neighbours
    return text.slice(Math.ceil((shift * 4) / 3), -2);
  });
  const hex = bytes.toString('hex');
  return [
    part,
    encodeURIComponent(part),
    new URLSearchParams({ '': part }).toString().slice(1),
    hex,
    hex.toUpperCase(),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    [...part].toReversed().join(''),
  ];
}

const isIn = (haystack: string, secret: string) => formsOf(secret).some((form) => haystack.includes(form));

/** Every stored row as text, bytes both as PostgreSQL writes them and read as text. */
async function stored(): Promise<string> {
  const text = await dump(world);
  const bytes = [...text.matchAll(/\\x([0-9a-f]+)/g)].map(([, hex = '']) => Buffer.from(hex, 'hex'));
  expect(bytes.length).toBeGreaterThan(20);
  return `${text}\n${bytes.map((each) => each.toString('latin1')).join('\n')}`;
}

const namesIn = (haystack: string, searched: ReadonlyMap<string, string> = secrets) =>
  [...searched].filter(([, secret]) => isIn(haystack, secret)).map(([name]) => name);

describe('no secret that was ever shown, typed or sent is', () => {
  test('in any row of any table', async () => {
    expect(secrets.size).toBeGreaterThan(40);
    expect(namesIn(await stored())).toEqual([]);
  });

  test('in a backup', async () => {
    const parts = await backupOf(world);
    const rows = (table: string) =>
      parts.get([...parts.keys()].find((name) => name.startsWith(`tables/${table}/`)) ?? '');
    const files = ['payment_file_downloads', 'payment_file_sets', 'payment_files'];
    const searched = ['affiliate_destinations', ...files, 'imports', 'import_mappings'];
    for (const table of [...searched, 'invoices', 'invoice_tax_ids'])
      expect(rows(table)?.length, table).toBeGreaterThan(10);
    const text = Buffer.concat([...parts.values()]).toString('latin1');
    const bytes = [...text.matchAll(/\\\\x([0-9a-f]+)/g)].map(([, hex = '']) =>
      Buffer.from(hex, 'hex').toString('latin1'),
    );
    expect(bytes.length).toBeGreaterThan(20);
    expect(namesIn(`${text}\n${bytes.join('\n')}`)).toEqual([]);
  });

  test('in what a trace collector receives', async () => {
    const spans = () => collector.received.join('\n');
    await until('the spans of the last life', async () => spans().includes('/destination'));
    expect(namesIn(spans())).toEqual([]);
  });

  test("in the program's log", () => {
    const log = world.log.map((line) => JSON.stringify(line)).join('\n');
    expect(world.log.length).toBeGreaterThan(500);
    expect(namesIn(log)).toEqual([]);
    expect(namesIn(log, csrfTokens)).toEqual([]);
  });

  test('in an error, not even in the error of the request that carried it', () => {
    expect(errors.length).toBeGreaterThan(300);
    // a form that is shown again contains its link, the typed e-mail address and its session's token
    const carried = /<input[^>]* name="(token|email|csrf)"[^>]*>/g;
    const all = errors.map((text) => text.replaceAll(carried, '')).join('\n\n');
    expect(namesIn(all)).toEqual([]);
    expect(namesIn(all, csrfTokens)).toEqual([]);
  });
});

test('the CSRF token is stored in the row of its session, and nowhere else', async () => {
  const kept = await world.query<{ csrf_token: string }>('select csrf_token from sessions');
  const tokens = new Set(kept.map(({ csrf_token }) => csrf_token));
  for (const [name, token] of csrfTokens) expect(tokens.has(token), name).toBe(true);
  const elsewhere = await dump(world, { without: ['sessions'] });
  expect(namesIn(elsewhere, csrfTokens)).toEqual([]);
});

test('a stored response with a secret is replayed with null in its place, for every operation', () => {
  const bearing = ROUTES.flatMap((route) =>
    route.kind === 'write' && typeof route.secret === 'string'
      ? [[route.operation, route.secret] as const]
      : [],
  );
  // a new operation that answers with a secret must be called in this life
  expect([...replayed.keys()].toSorted()).toEqual(bearing.map(([operation]) => operation).toSorted());
  for (const [operation, field] of bearing)
    expect(replayed.get(operation)?.body[field], operation).toBeNull();
});

test('the search finds a value as it is, encoded, within other bytes, and cut', async () => {
  const secret = `ph_${'aB3dE6gH9jK'.repeat(4)}`;
  for (const shift of ['', 'x', 'xx', 'xxx']) {
    const within = Buffer.from(`${shift}{"key":"${secret}"}`);
    for (const form of [
      within.toString(),
      within.toString('hex'),
      within.toString('base64'),
      within.toString('base64url'),
    ])
      expect(isIn(form, secret), form).toBe(true);
  }
  expect(isIn(secret.slice(4, -4), secret)).toBe(true);
  expect(isIn(`${secret.slice(0, 7)}…${secret.slice(-4)}`, secret)).toBe(false);
  expect(namesIn(await stored(), csrfTokens)).toEqual([...csrfTokens.keys()]);
});
