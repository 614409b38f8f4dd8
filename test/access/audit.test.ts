import sql, { raw } from 'sql-template-tag';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningServer, serve } from '../../src/app/serve.ts';
import { rows } from '../../src/db/database.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { type AccountId, nil } from '../../src/kernel/ids.ts';
import {
  authorizePath,
  browserOf,
  codeFor,
  exchange,
  postForm,
  register,
  signedIn,
  tokensFor,
} from '../oauth/support.ts';
import { makeUser, PASSWORD, signInAs } from '../people/support.ts';
import type { Answer, RequestOptions } from '../support/api.ts';
import { isOnNode } from '../support/cell-of-file.ts';
import { isLong, someOf } from '../support/depth.ts';
import { makeGrant } from '../support/seed.ts';
import { useWorld } from '../support/world.ts';
import { OPERATIONS, type Operation } from '../tenants/support.ts';
import { bearer, type Credentials, isUpload, memberOf, nonsense, send } from './support.ts';

interface Actor {
  readonly id: string;
  readonly url: string;
  readonly credentials: Credentials;
  /** The user who signed in, or who granted the application access. */
  readonly user: string | null;
  /** Whether the description allows it to call an operation. */
  may(operation: Operation): boolean;
}

const KINDS = ['key', 'user', 'application', 'operator'] as const;
type Kind = (typeof KINDS)[number];

// sign-in finds the users of another cell by a chore, which does not run here
const world = useWorld({ cell: 0 });
let server: RunningServer;
let actors: Record<Kind, Actor>;

beforeAll(async () => {
  const { api, url } = world;
  const [first] = await world.query<{ id: AccountId }>('select id from accounts order by id limit 1');
  const operator = { token: 'the-operator-of-one-process', account: first?.id ?? nil(), cell: world.db.cell };
  server = await serve(world.platform, { listen: { host: '127.0.0.1', port: 0 }, operator });
  // as if a process sent e-mails
  await world.query(`insert into server_settings (key, value) values ('chore e-mail', now()::text)`);
  const key = (await api.post('/v2/api-keys', { name: 'the actor' })).body;
  const owner = await memberOf(api, 'owner');
  const granted = await makeGrant(world, api, { scopes: ['affiliates', 'webhooks', 'account'] });
  actors = {
    key: { id: key.id, url, credentials: bearer(key.key), user: null, may: ({ access }) => access.key },
    user: {
      id: owner.id,
      url,
      credentials: owner.credentials,
      user: owner.id,
      may: () => true,
    },
    application: {
      id: granted.application_id,
      url,
      credentials: bearer(granted.access_token),
      user: granted.user_id,
      may: ({ access }) => access.scope !== null || access.anyToken,
    },
    operator: {
      id: 'operator',
      url: server.address,
      credentials: bearer(operator.token),
      user: null,
      may: ({ access }) => access.key,
    },
  };
});
afterAll(() => server.close());

interface Entry {
  readonly actor_kind: string;
  readonly actor_id: string;
  readonly user_id: string | null;
  readonly action: string;
  readonly target: string | null;
  readonly request_id: string | null;
}

/** Everything done after the entries that the log already had, oldest first. */
async function entriesAfter(count: number): Promise<Entry[]> {
  return world.query<Entry>(
    `select actor_kind, actor_id, public_id('usr', user_id) as user_id, action, target, request_id
     from audit_log order by id offset $1`,
    [count],
  );
}

async function countOfEntries(): Promise<number> {
  return (await world.query('select 1 from audit_log')).length;
}

/** Does the work; returns the entries it added to the log. */
async function added(work: () => Promise<unknown>): Promise<Entry[]> {
  const before = await countOfEntries();
  await work();
  return entriesAfter(before);
}

const requestId = ({ headers }: Pick<Answer, 'headers'>) => headers.get('payhook-request-id');
const WRITES = OPERATIONS.filter(({ method }) => method !== 'GET');
/** They are recorded as deleteSession in the account of each session (people/memberships). */
const isOwnSession = ({ path }: Operation) => path.startsWith('/v2/me/sessions');
const isUnaudited = (operationId: string) =>
  ROUTES.some((route) => route.kind === 'write' && route.operation === operationId && route.unaudited);

/** The target of an entry, computed from the request and its response. */
function targetOf(path: string, pattern: string, answer: Answer): string | null {
  const words = path.split('?', 1)[0]?.split('/') ?? [];
  const ids = pattern.split('/').flatMap((word, index) => (word.startsWith('{') ? [words[index]] : []));
  if (ids.length > 0) return ids.join('/');
  return answer.body?.id === undefined ? null : String(answer.body.id);
}

let serial = 0;

/**
 * Calls every operation an actor may use, once and successfully, and repeats those that take an Idempotency-Key with
 * the same key; returns the entries each must have left in the log.
 */
async function liveAs(actor: Actor): Promise<{ done: string[]; expected: Partial<Entry>[] }> {
  const done: string[] = [];
  const expected: Partial<Entry>[] = [];
  const name = `life-${++serial}`;

  // biome-ignore lint/suspicious/noExplicitAny: records of every shape
  const act = async (operationId: string, path: string, options: RequestOptions = {}): Promise<any> => {
    const operation = WRITES.find((each) => each.operationId === operationId);
    if (!operation) throw new Error(`no operation ${operationId}`);
    if (!actor.may(operation)) return undefined;
    const { method } = operation;
    const once =
      method === 'POST' || method === 'PUT' ? { 'idempotency-key': `${name}-${done.length}` } : undefined;
    const request = { ...options, headers: { ...options.headers, ...once } };
    const answer = await send(actor, actor.credentials, [method, path, request]);
    expect([200, 201, 204], `${operationId} ${answer.text}`).toContain(answer.status);
    done.push(operationId);
    if (!isUnaudited(operationId)) {
      const target = targetOf(path, operation.path, answer);
      expected.push({ action: operationId, target, request_id: requestId(answer) });
    }
    // previewing a file has no replay, and an uploaded file is not stored
    const isLook = isUpload(operation) && isUnaudited(operationId);
    const isFile = answer.headers.get('content-type')?.startsWith('text/csv');
    // an answer that is worth waiting for is not stored
    const isWaitedFor = operationId === 'claimWebhookEvents';
    // one function records the replay of all writes: a short run repeats every third
    if (once && !isLook && !isFile && !isWaitedFor && (isLong || done.length % 3 === 0)) {
      const again = await send(actor, actor.credentials, [method, path, request]);
      expect(again.headers.get('idempotent-replayed'), operationId).toBe('true');
    }
    return answer.body;
  };
  const csv = (body: string) => ({ body, headers: { 'content-type': 'text/csv' } });

  await act('changeAccount', '/v2/account', { body: { name } });
  const affiliates = '/v2/affiliates';
  const affiliate = await act('createAffiliate', affiliates, { body: { email: `${name}@example.com` } });
  await act('changeAffiliate', `${affiliates}/${affiliate.id}`, { body: { name_first: 'Ada' } });
  await act('putAffiliateByExternalId', `${affiliates}/by-external-id/${name}`, {
    body: { email: `own-${name}@example.com` },
  });
  const destination = `${affiliates}/${affiliate.id}/destination`;
  await act('putAffiliateDestination', destination, { body: { type: 'other' } });
  const bank = { type: 'sepa', account_holder: 'A. Lovelace', iban: 'DE89370400440532013000' };
  await act('putAffiliateDestination', destination, { body: bank });
  // a CTE: Citus refuses an insert of rows of a table if a default calls a function
  await world.query(`with x as (select account_id, id, affiliate_id from affiliate_destinations
      where replaced_at is null and type = 'sepa' and account_holder = 'A. Lovelace')
    insert into payee_verifications (account_id, destination_id, affiliate_id, result, bank_name, payment_file)
    select account_id, id, affiliate_id, 'close_match', 'Ada Lovelace', 'P1-R1-F1' from x`);
  await act('useVerifiedName', `${destination}/verified-name`, { body: { name: 'Ada Lovelace' } });
  for (const [code, decision] of [
    ['C04', 'accept'],
    ['C01', 'dismiss'],
  ]) {
    const [made] = await world.query<{ id: string }>(
      `with x as (select account_id, id, affiliate_id from affiliate_destinations
         where replaced_at is null and type = 'sepa' and affiliate_id = $2)
       insert into destination_corrections (account_id, destination_id, affiliate_id, payout_id, code, account_holder, received_on, due_on)
       select account_id, id, affiliate_id, new_id(), $1, 'A. King', now(), now() from x returning public_id('cor', id) as id`,
      [code, affiliate.id],
    );
    const path = `${affiliates}/destination-corrections/${made?.id}/${decision}`;
    await act(`${decision}DestinationCorrection`, path);
  }
  await act('deleteAffiliateDestination', destination);
  const tax = `${affiliates}/${affiliate.id}/tax-profile`;
  const address = { line1: '1 Main St', city: 'Boston' };
  const signed = { legal_type: 'person', legal_name: 'Ada', country: 'US', address };
  await act('putAffiliateTaxProfile', tax, { body: signed });
  await act('deleteAffiliateTaxProfile', tax);
  await act('exportUsTaxReport', `${affiliates}/reports/us-tax/export`);
  await act('importAffiliates', `${affiliates}/import`, csv(`email\nfile-${name}@example.com\n`));
  const passing = await act('createAffiliate', affiliates, {
    body: { email: `passing-${name}@example.com` },
  });
  await act('eraseAffiliate', `${affiliates}/${passing.id}/erase`);
  const imports = '/v2/imports';
  const people = csv(`email\nimported-${name}@example.com\n`);
  await act('previewImport', `${imports}/preview?kind=affiliates`, people);
  await act('downloadBadLines', `${imports}/bad-lines?kind=affiliates`, people);
  const made = await act('createImport', `${imports}?kind=affiliates`, people);
  await act('undoImport', `${imports}/${made.import_id}/undo`);
  const program = await act('createProgram', `${affiliates}/programs`, { body: { name } });
  await act('changeProgram', `${affiliates}/programs/${program.id}`, { body: { name: `${name} too` } });
  const rhythm = { name, every: 'month', day: 1 };
  const schedule = await act('createPayoutSchedule', `${affiliates}/payout-schedules`, { body: rhythm });
  const atSchedule = `${affiliates}/payout-schedules/${schedule.id}`;
  await act('changePayoutSchedule', atSchedule, { body: { day: 2 } });
  await act('deletePayoutSchedule', atSchedule);
  const commissions = `${affiliates}/commissions`;
  const sale = (id: string) => ({
    external_id: `${name}-${id}`,
    affiliate_id: affiliate.id,
    amount: 1000,
    currency: 'usd',
    order_id: `order of ${name}-${id}`,
  });
  const one = await act('createCommission', commissions, { body: sale('one') });
  const two = await act('createCommission', commissions, { body: sale('two') });
  await act('createCommissionBatch', `${commissions}/batch`, {
    body: { commissions: [sale('three'), sale('four')] },
  });
  await act(
    'importCommissions',
    `${commissions}/import`,
    csv(`external_id,affiliate_id,amount,currency\n${name}-five,${affiliate.id},1.00,usd\n`),
  );
  await act('createAdjustment', `${affiliates}/${affiliate.id}/adjustments`, {
    body: { external_id: `${name}-adjustment`, amount: 300, currency: 'usd' },
  });
  await act('holdCommission', `${commissions}/${one.id}/hold`);
  await act('unholdCommission', `${commissions}/${one.id}/unhold`);
  await act('refundCommission', `${commissions}/${one.id}/refund`, {
    body: { external_id: `${name}-refund`, amount: 10 },
  });
  await act('refundOrder', `${affiliates}/refunds`, {
    body: { external_id: `${name}-order-refund`, order_id: `order of ${name}-three` },
  });
  await act('reverseRefund', `${affiliates}/refunds/${name}-order-refund/reverse`);
  await act('voidCommission', `${commissions}/${two.id}/void`);
  const payouts = `${affiliates}/payouts`;
  await act('previewPayout', `${payouts}/preview`);
  await act('previewPayoutAffiliates', `${payouts}/preview/affiliates`);
  await act('previewPayoutExclusions', `${payouts}/preview/excluded`);
  await act('previewPayoutSignals', `${payouts}/preview/signals`);
  const first = await act('createPayout', payouts);
  await act('deletePayout', `${payouts}/${first.id}`);
  const payout = await act('createPayout', payouts);
  await world.query(`update accounts set approval = 'second_person'`);
  await world.query('update payouts set created_by_user = null');
  for (const word of ['reject', 'approve']) {
    await act(`${word}Payout`, `${payouts}/${payout.id}/${word}`, { body: { revision: payout.revision } });
  }
  await world.query(`update accounts set approval = 'none'`);
  await act('reviewPayoutSignals', `${payouts}/${payout.id}/signals/review`, {
    body: { revision: payout.revision },
  });
  await act('takePayoutResult', `${payouts}/${payout.id}/results`, {
    body: `affiliate_id\n${affiliate.id}\n`,
    headers: { 'content-type': 'application/octet-stream' },
  });
  await act('completePayout', `${payouts}/${payout.id}`, {
    body: { commissions: [{ affiliate_id: affiliate.id, is_paid: true }] },
  });
  const place = { ...address, line2: null, postal_code: null, region: null };
  const own = { legal_name: 'Shop', country: 'US', address: place, vat_id: null, tax_number: null };
  await world.query('update accounts set invoicing = $1, tax_profile = $2', [
    JSON.stringify({ prefix: 'SB-', rules: [] }),
    JSON.stringify(own),
  ]);
  await act('issueInvoices', `${payouts}/${payout.id}/invoices`);
  await act('returnPayoutLine', `${payouts}/${payout.id}/affiliates/${affiliate.id}/returned`, {
    body: { reason: 'it bounced' },
  });
  const { body: back } = await world.api.get(`${payouts}/${payout.id}/affiliates/${affiliate.id}/returned`);
  await act(
    'deletePayoutReturn',
    `${payouts}/${payout.id}/affiliates/${affiliate.id}/returned/${back.data[0].id}`,
  );

  const endpoints = '/v2/webhook-endpoints';
  const endpoint = await act('createWebhookEndpoint', endpoints, {
    body: { url: 'http://127.0.0.1:9/hook', event_types: ['order.*'] },
  });
  await act('changeWebhookEndpoint', `${endpoints}/${endpoint.id}`, { body: { description: name } });
  await act('putWebhookEndpointByExternalId', `${endpoints}/by-external-id/${name}`, {
    body: { url: 'https://shop.example.com/own', event_types: ['order.created'] },
  });
  await act('rotateWebhookEndpointSecret', `${endpoints}/${endpoint.id}/rotate-secret`);
  await act('changeAccount', '/v2/account', { body: { contact_notices: {} } });
  await act('changeWebhookEndpoint', `${endpoints}/${endpoint.id}`, {
    body: { contact_email: `ops-${endpoint.id.slice(-12)}@example.com` },
  });
  await act('confirmWebhookEndpointContact', `${endpoints}/${endpoint.id}/confirm-contact`);
  const pull = await act('createWebhookEndpoint', endpoints, {
    body: { delivery: 'pull', event_types: ['order.*'] },
  });
  await act('createWebhookEndpointToken', `${endpoints}/${pull.id}/token`);
  await act('claimWebhookEvents', `${endpoints}/${pull.id}/claims`);
  const items = [{ id: 'evt_1', lease_id: 'lease_1' }];
  await act('extendWebhookLeases', `${endpoints}/${pull.id}/extensions`, {
    body: { items, lease_seconds: 9 },
  });
  await act('acknowledgeWebhookEvents', `${endpoints}/${pull.id}/acknowledgements`, {
    body: { items: items.map((item) => ({ ...item, status: 'delivered' })) },
  });
  await act('testWebhookEndpointFilter', `${endpoints}/${endpoint.id}/test-filter`, {
    body: { payload: { type: 'order.created' } },
  });
  const event = await act('testWebhookEndpoint', `${endpoints}/${endpoint.id}/test`);
  await act('retryEventOfWebhookEndpoint', `${endpoints}/${endpoint.id}/events/${event.id}/retry`);
  const since = { body: { since: '2020-01-01' } };
  await act('previewRecoveryOfWebhookEndpoint', `${endpoints}/${endpoint.id}/preview-recovery`, since);
  const recovery = await act('recoverWebhookEndpoint', `${endpoints}/${endpoint.id}/recover`, since);
  await act('deleteRecoveryOfWebhookEndpoint', `${endpoints}/${endpoint.id}/recoveries/${recovery.id}`);
  await act('discardEventsOfWebhookEndpoint', `${endpoints}/${endpoint.id}/discard`, since);
  const link = await act('createPortalLink', `${endpoints}/${endpoint.id}/portal-link`);
  await act('deletePortalLink', `/v2/portal-links/${link?.id}`);
  await act('putEventType', '/v2/event-types/order.created', { body: { description: 'an order' } });
  await act('deleteEventType', '/v2/event-types/order.created');
  await act('publishEvent', '/v2/events', { body: { type: 'order.created', data: {} } });
  await act('publishEventBatch', '/v2/events/batch', {
    body: { events: [{ type: 'order.created', data: {} }] },
  });
  await act('deleteWebhookEndpoint', `${endpoints}/${endpoint.id}`);

  const channels = '/v2/alert-channels';
  const channel = await act('createAlertChannel', channels, {
    body: { name, format: 'slack', url: 'https://hooks.example.com/x', kinds: [] },
  });
  await act('changeAlertChannel', `${channels}/${channel?.id}`, { body: { name: 'x' } });
  await act('testAlertChannel', `${channels}/${channel?.id}/test`);
  await act('deleteAlertChannel', `${channels}/${channel?.id}`);
  // a key and the operator name the user
  const of = actor.user === null ? `?user_id=${actors.user.id}` : '';
  await act('setAlertSettings', `/v2/alerts${of}`, { body: { kinds: [] } });
  await act('testAlertSettings', `/v2/alerts/test${of}`);

  const key = await act('createApiKey', '/v2/api-keys', { body: { name } });
  await act('deleteApiKey', `/v2/api-keys/${key?.id}`);
  const invited = { email: `user-${name}@example.com`, name, role: 'viewer' };
  const user = await act('createUser', '/v2/users', { body: invited });
  await act('changeUser', `/v2/users/${user?.id}`, { body: { name: `${name} too` } });
  await act('resetUserPassword', `/v2/users/${user?.id}/reset-password`);
  await act('deleteUser', `/v2/users/${user?.id}`);
  await act('eraseUser', `/v2/users/${user?.id}/erase`);
  const applications = '/v2/oauth-applications';
  const application = await act('createOAuthApplication', applications, {
    body: {
      name,
      kind: 'confidential',
      redirect_uris: ['https://app.example/callback'],
      scopes: ['affiliates'],
    },
  });
  await act('changeOAuthApplication', `${applications}/${application?.id}`, { body: { name: 'x' } });
  await act('rotateOAuthApplicationSecret', `${applications}/${application?.id}/rotate-secret`);
  await act('deleteOAuthApplication', `${applications}/${application?.id}`);
  // created by others
  const { grant_id, user_id } = await makeGrant(world, world.api);
  const { body: sessions } = await world.api.get(`/v2/sessions?user_id=${user_id}`);
  await act('deleteSession', `/v2/sessions/${sessions.data[0].id}`);
  await act('deleteOAuthGrant', `/v2/oauth-grants/${grant_id}`);
  return { done, expected };
}

describe.each(someOf(KINDS, 1))('what a %s does', (kind) => {
  test('leaves one entry per success with actor, action, target and request id; a replay leaves none', async () => {
    const actor = actors[kind];
    const before = await countOfEntries();
    const { done, expected } = await liveAs(actor);
    // a new audited write must be called here
    const open = WRITES.filter((operation) => actor.may(operation) && !isOwnSession(operation)).map(
      ({ operationId }) => operationId,
    );
    expect([...new Set(done)].toSorted()).toEqual(open.toSorted());
    const found = await entriesAfter(before);
    const who = { actor_kind: kind, actor_id: actor.id, user_id: actor.user };
    expect(found.filter(({ actor_id }) => actor_id === actor.id)).toEqual(
      expected.map((entry) => ({ ...who, ...entry })),
    );
  });

  test('leaves no entry when it is refused, for its shape or for an unknown id', async () => {
    const actor = actors[kind];
    const entries = await added(async () => {
      for (const operation of WRITES) {
        const { status } = await send(actor, actor.credentials, nonsense(operation));
        expect(status, operation.operationId).toBeGreaterThanOrEqual(400);
      }
    });
    expect(entries).toEqual([]);
  });

  test('leaves no entry when the work was done but its last step was refused', async () => {
    const { url, credentials } = actors[kind];
    const post = (path: string, body: object) => send({ url }, credentials, ['POST', path, { body }]);
    const name = `twice by ${kind}`;
    expect((await post('/v2/affiliates/programs', { name })).status).toBe(201);
    const entries = await added(async () => {
      expect((await post('/v2/affiliates/programs', { name })).reason).toBe('duplicate_name');
      const nobodys = `/v2/affiliates/refunds/${'nobody refunded this'.replaceAll(' ', '-')}/reverse`;
      expect((await post(nobodys, {})).status).toBe(404);
    });
    expect(entries).toEqual([]);
  });

  test('leaves no entry when it reads', async () => {
    const actor = actors[kind];
    const entries = await added(async () => {
      const reads = OPERATIONS.filter(({ method }) => method === 'GET');
      for (const operation of someOf(reads, 25)) await send(actor, actor.credentials, nonsense(operation));
    });
    expect(entries).toEqual([]);
  });
});

test('of all writes only new commissions and events, claims of events, previews and the trial of a filter leave no entry', () => {
  const out = WRITES.filter((operation) => !isOwnSession(operation))
    .map(({ operationId }) => operationId)
    .filter(isUnaudited);
  expect(out.toSorted()).toEqual([
    'acknowledgeWebhookEvents',
    'claimWebhookEvents',
    'createCommission',
    'createCommissionBatch',
    'downloadBadLines',
    'extendWebhookLeases',
    'previewImport',
    'previewPayout',
    'previewPayoutAffiliates',
    'previewPayoutExclusions',
    'previewPayoutSignals',
    'previewRecoveryOfWebhookEndpoint',
    'publishEvent',
    'publishEventBatch',
    'testWebhookEndpointFilter',
  ]);
});

test('a dry run of an import changes nothing and leaves no entry', async () => {
  const entries = await added(async () => {
    for (const [path, file] of [
      ['/v2/affiliates/import', 'email\ndry@example.com\n'],
      ['/v2/affiliates/commissions/import', 'external_id,affiliate_id,amount\n'],
    ] as const)
      expect((await world.api.upload(`${path}?dry_run=true`, file)).status).toBe(200);
  });
  expect(entries).toEqual([]);
});

test('two concurrent requests with one Idempotency-Key leave one entry', async () => {
  const entries = await added(() =>
    Promise.all(
      [1, 2, 3, 4].map(() =>
        world.api.post('/v2/affiliates/programs', { name: 'at once' }, { 'idempotency-key': 'at once' }),
      ),
    ),
  );
  expect(entries.map(({ action }) => action)).toEqual(['createProgram']);
});

test('what people do on the pages is logged, and their failed attempts are not', async () => {
  const { api } = world;
  const user = await makeUser(api, 'owner');
  const as = { actor_kind: 'user', actor_id: user.id, user_id: user.id };
  const failed = await added(async () => {
    expect((await signInAs(world.url, user.email, 'a wrong password')).answer.status).toBe(400);
    const fields = {
      current: 'a wrong password',
      new: 'eight unusual kettles',
      again: 'eight unusual kettles',
    };
    const csrf = await user.browser.token();
    const wrong = await user.browser.submit('/account/password', { csrf, ...fields });
    expect(wrong.location).toBe('/settings/profile?password=wrong');
    expect((await user.browser.submit('/account/password', { ...fields, current: PASSWORD })).status).toBe(
      403,
    );
    expect((await user.browser.submit('/sign-out', {})).status).toBe(403);
  });
  expect(failed).toEqual([]);

  const requestIds: (string | null)[] = [];
  const entries = await added(async () => {
    const { browser, answer } = await signInAs(world.url, user.email);
    requestIds.push(requestId(answer));
    const csrf = await browser.token();
    const next = 'eight unusual kettles';
    requestIds.push(
      requestId(
        await browser.submit('/account/password', { csrf, current: PASSWORD, new: next, again: next }),
      ),
    );
    // a new password begins a new session with its own token
    requestIds.push(requestId(await browser.submit('/sign-out', { csrf: await browser.token() })));
  });
  expect(entries.map(({ action, request_id, target, ...rest }) => [action, request_id, rest])).toEqual(
    ['signIn', 'changePassword', 'signOut'].map((action, index) => [action, requestIds[index], as]),
  );
});

test('the log records when an application is granted access, loses it, and uses a code twice', async () => {
  const owner = await signedIn(world);
  const application = await register(world.api);
  const { id: client_id, client_secret } = application;
  const granted = await added(() => tokensFor(world, owner, application));
  const target = expect.stringMatching(/^grant_/);
  const request_id = expect.stringMatching(/^req_/);
  const user = { user_id: owner.id, target, request_id };
  expect(granted).toEqual([
    { actor_kind: 'user', actor_id: owner.id, action: 'grantOAuthApplication', ...user },
  ]);
  const ended = { actor_kind: 'application', actor_id: client_id, action: 'deleteOAuthGrant', ...user };
  const { refresh_token: token } = await tokensFor(world, owner, application);
  const give = () => postForm(world.url, '/oauth/revoke', { client_id, client_secret, token });
  expect(await added(give)).toEqual([ended]);
  expect(await added(give)).toEqual([]);
  const code = await codeFor(world, owner, application);
  const use = () => exchange(world, application, code);
  expect(await added(use)).toEqual([]);
  expect(await added(use)).toEqual([ended]);
  expect(await added(use)).toEqual([]);
  const browser = browserOf(world, owner);
  const denied = async () =>
    browser.send(await browser.open(authorizePath(application)), { decision: 'deny' });
  expect(await added(denied)).toEqual([]);
});

test('the list shows the entries as written, newest first', async () => {
  const made = await world.api.post('/v2/affiliates/programs', { name: 'to be seen in the log' });
  const { body } = await world.api.get('/v2/audit-log?per_page=1');
  const [keys] = (await world.api.get('/v2/api-keys?sort=created_at&per_page=1')).body.data;
  expect(body.data).toEqual([
    {
      id: expect.stringMatching(/^aud_[0-9a-f]{32}$/),
      object: 'audit_entry',
      actor: { kind: 'key', id: keys.id },
      user_id: null,
      action: 'createProgram',
      target: String(made.body.id),
      request_id: requestId(made),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    },
  ]);
});

describe('nobody changes the log:', () => {
  const statements = [
    "update audit_log set actor_id = 'somebody else'",
    'update audit_log set target = null where false',
    'delete from audit_log',
    'delete from audit_log where false',
    'truncate audit_log',
    'truncate accounts cascade',
    `insert into audit_log select * from audit_log on conflict (account_id, id) do update set action = 'nothing'`,
    // which Citus refuses itself
    ...(isOnNode() ? [] : ['merge into audit_log l using (select 1) x on true when matched then delete']),
  ];

  test.each(statements)('%s is refused to the program and to the superuser', async (statement) => {
    const entries = await added(async () => {
      const asProgram = world.db.transaction((tx) => rows(tx, sql`${raw(statement)}`));
      await expect(asProgram).rejects.toThrow('append-only');
      await expect(world.query(statement)).rejects.toThrow('append-only');
    });
    expect(entries).toEqual([]);
    expect(await countOfEntries()).toBeGreaterThan(0);
  });
});

test("reading an endpoint's signing secret is recorded with the reader; a request that shows no secret is not", async () => {
  const { body } = await world.api.post('/v2/webhook-endpoints', { url: 'https://shop.example.com/read' });
  const path = `/v2/webhook-endpoints/${body.id}/secret`;
  for (const kind of KINDS) {
    const actor = actors[kind];
    let answer: Answer | undefined;
    const entries = await added(async () => {
      answer = await send(actor, actor.credentials, ['GET', path, {}]);
    });
    expect(answer?.body.secret).toBe(body.secret);
    expect(entries).toEqual([
      {
        actor_kind: kind,
        actor_id: actor.id,
        user_id: actor.user,
        action: 'getWebhookEndpointSecret',
        target: body.id,
        request_id: answer && requestId(answer),
      },
    ]);
  }
  const viewer = await memberOf(world.api, 'viewer');
  const { user, key } = actors;
  const shown = await added(async () => {
    const head = await send(key, key.credentials, ['HEAD', path, {}]);
    const missing = await send(key, key.credentials, ['GET', path.replace(/we_.{8}/, 'we_00000000'), {}]);
    const refused = await send(user, viewer.credentials, ['GET', path, {}]);
    const headers = { 'sec-fetch-site': 'cross-site' };
    const led = await send(user, user.credentials, ['GET', path, { headers }]);
    expect([head, missing, refused, led].map(({ status }) => status)).toEqual([200, 404, 403, 403]);
  });
  expect(shown).toEqual([]);
});
