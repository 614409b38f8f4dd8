import { randomBytes } from 'node:crypto';
import type { LookupAddress } from 'node:dns';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type RunningServer, serve } from '../../src/app/serve.ts';
import { addressRules, LOOPBACK } from '../../src/kernel/addresses.ts';
import { type AccountId, nil } from '../../src/kernel/ids.ts';
import { createSender } from '../../src/webhooks/engine/send.ts';
import { memberOf, send } from '../access/support.ts';
import { register, signedIn, tokensFor } from '../oauth/support.ts';
import { type Answer, type Api, apiOf } from '../support/api.ts';
import { borrowWorld } from '../support/pool.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import type { World } from '../support/world.ts';
import { uuidOf } from './support.ts';

const ENDPOINTS = '/v2/webhook-endpoints';
const PUBLIC = 'https://shop.example.com/hooks';

let world: World;
let receiver: Receiver;
let operator: Api;
let commands: RunningServer;

async function made(api: Api, url: string, fields: object = {}): Promise<string> {
  const answer = await api.post(ENDPOINTS, { url, event_types: ['order.*'], ...fields });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.id;
}

async function changed(api: Api, id: string, fields: object): Promise<Answer> {
  const answer = await api.patch(`${ENDPOINTS}/${id}`, fields);
  expect(answer.status, answer.text).toBe(200);
  return answer;
}

/** Publishes an event; returns the result of its first attempt at an endpoint. */
async function attempted(api: Api, endpoint: string): Promise<{ status: string; last_error_code: string }> {
  const { status, text, body } = await api.post('/v2/events', { type: 'order.created', data: { number: 1 } });
  expect(status, text).toBe(201);
  return firstAttempt(api, endpoint, body.id);
}

function firstAttempt(api: Api, endpoint: string, event: string) {
  return until('an attempt', async () => {
    const { body } = await api.get(`${ENDPOINTS}/${endpoint}/events/${event}`);
    return body.attempt_count > 0 && body;
  });
}

const DELIVERED = { status: 'delivered', last_error_code: null, attempt_count: 1 };
const BLOCKED = { status: 'pending', last_error_code: 'address_blocked', last_response_status: null };

/** Endpoints stored as created by the operator. */
const chosen = () =>
  world.query<{ url: string }>('select url from webhook_endpoints where local_url is not null');

function refused(answer: Answer): void {
  expect([answer.status, answer.reason], answer.text).toEqual([400, 'invalid_url']);
  expect(answer.body.error.message).toMatch(/^url must name a public address .*payhook webhooks create/);
}

const spelled = (host: string) => receiver.url.replace('127.0.0.1', host);

describe('an endpoint on the loopback', () => {
  beforeEach(async () => {
    // as installed: public networks only
    world = await borrowWorld({ delivers: true, settings: { DELIVERY_ALLOW_CIDRS: '' } });
    receiver = await startReceiver();
    const [account] = await world.query<{ id: AccountId }>('select id from accounts');
    const token = randomBytes(32).toString('base64url');
    commands = await serve(world.platform, {
      listen: { host: '127.0.0.1', port: 0 },
      operator: { token, account: account?.id ?? nil(), cell: world.db.cell },
    });
    operator = apiOf(commands.address, token);
  });
  afterEach(async () => {
    await commands.close();
    await receiver.close();
    await world.close();
  });

  test('can only be created by the operator: it receives with the settings of a new installation', async () => {
    const id = await made(operator, receiver.url);
    expect(await attempted(world.api, id)).toMatchObject(DELIVERED);
    expect(receiver.received).toHaveLength(1);
  });

  test('may be spelled in any way, but only by the operator', async () => {
    for (const host of ['localhost', 'LOCALHOST', '2130706433', '0x7f.1', '127.1', '[::ffff:127.0.0.1]']) {
      refused(await world.api.post(ENDPOINTS, { url: spelled(host) }));
      const id = await made(operator, spelled(host));
      expect(await attempted(world.api, id), host).toMatchObject(DELIVERED);
    }
  });

  test("is refused to an API key, an owner's session and the token of an application", async () => {
    const body = { url: receiver.url };
    refused(await world.api.post(ENDPOINTS, body));
    const { credentials } = await memberOf(world.api, 'owner');
    refused(await send(world, credentials, ['POST', ENDPOINTS, { body }]));
    const tokens = await tokensFor(world, await signedIn(world), await register(world.api), {
      scope: 'webhooks affiliates',
    });
    refused(await apiOf(world.url, tokens.access_token).post(ENDPOINTS, body));
    expect(await chosen()).toEqual([]);
  });

  test('opens nothing else: other private addresses are refused to the operator too', async () => {
    for (const host of [
      '0.0.0.0',
      '10.0.0.1',
      '192.168.1.1',
      '169.254.169.254',
      '[fd00::1]',
      '[::127.0.0.1]',
    ]) {
      const answer = await operator.post(ENDPOINTS, { url: `http://${host}/` });
      expect([answer.status, answer.reason], answer.text).toEqual([400, 'invalid_url']);
      expect(answer.body.error.message).not.toContain('payhook webhooks create');
    }
  });

  test('stays when the API changes other fields, sends tests and retries', async () => {
    const id = await made(operator, receiver.url);
    await changed(world.api, id, { description: 'mine', headers: { 'x-shop': '7' }, status: 'disabled' });
    await changed(world.api, id, { url: receiver.url, rate_limit: 50, status: 'enabled' });
    const sent = await world.api.post(`${ENDPOINTS}/${id}/test`);
    expect(await firstAttempt(world.api, id, sent.body.id)).toMatchObject(DELIVERED);
    expect((await world.api.post(`${ENDPOINTS}/${id}/events/${sent.body.id}/retry`)).status).toBe(200);
    await receiver.until(2);
    expect(receiver.received[0]?.headers['x-shop']).toBe('7');
  });

  test('cannot be moved to another port by an API key, and survives the attempt', async () => {
    const id = await made(operator, receiver.url);
    for (const url of ['http://127.0.0.1:1/', `${receiver.url}?other`, spelled('localhost')]) {
      refused(await world.api.patch(`${ENDPOINTS}/${id}`, { url }));
    }
    expect(await attempted(world.api, id)).toMatchObject(DELIVERED);
  });

  test('ends when an API key sets a public address: only the operator can go back', async () => {
    const id = await made(operator, receiver.url);
    await changed(world.api, id, { url: PUBLIC });
    expect(await chosen()).toEqual([]);
    refused(await world.api.patch(`${ENDPOINTS}/${id}`, { url: receiver.url }));
    await changed(operator, id, { url: receiver.url });
    expect(await attempted(world.api, id)).toMatchObject(DELIVERED);
  });

  test('is allowed for its URL only: any change of it restores the usual rules', async () => {
    const id = await made(operator, receiver.url);
    await world.query('update webhook_endpoints set url = $2 where id = $1', [
      uuidOf(id),
      `${receiver.url}?x`,
    ]);
    expect(await attempted(world.api, id)).toMatchObject(BLOCKED);
    expect(receiver.connections()).toBe(0);
  });

  test('of another machine is blocked here: its loopback is another computer', async () => {
    const id = await made(operator, receiver.url);
    await world.query(`update webhook_endpoints set local_machine = 'another' where id = $1`, [uuidOf(id)]);
    expect(await attempted(world.api, id)).toMatchObject(BLOCKED);
    expect(receiver.connections()).toBe(0);
    // created again, it belongs to this machine
    await changed(operator, id, { url: receiver.url });
    expect(await attempted(world.api, id)).toMatchObject(DELIVERED);
  });

  test("gives a neighbour's endpoint at the same origin no access, while a connection there is kept open", async () => {
    const neighbour = await world.otherAccount();
    const theirs = await made(neighbour, PUBLIC);
    // as stored when the settings allowed it
    await world.query('update webhook_endpoints set url = $2 where id = $1', [uuidOf(theirs), receiver.url]);
    const id = await made(operator, receiver.url);
    expect(await attempted(world.api, id)).toMatchObject(DELIVERED);
    expect(await attempted(neighbour, theirs)).toMatchObject(BLOCKED);
    expect(await attempted(world.api, id)).toMatchObject(DELIVERED);
    expect(receiver.received).toHaveLength(2);
  });

  test('is never left by a redirect', async () => {
    const other = await startReceiver();
    receiver.respond((_request, response) => response.writeHead(307, { location: other.url }).end());
    const id = await made(operator, receiver.url);
    expect(await attempted(world.api, id)).toMatchObject({ status: 'pending', last_error_code: 'redirect' });
    expect(other.connections()).toBe(0);
    await other.close();
  });
});

test.each<[string, readonly LookupAddress[]]>([
  ['the network of the office', [{ address: '10.0.0.1', family: 4 }]],
  ['the metadata of a cloud', [{ address: '169.254.169.254', family: 4 }]],
  ['a neighbour by IPv6', [{ address: 'fd00::1', family: 6 }]],
])('localhost that the hosts file maps to %s is blocked when dialled', async (_where, found) => {
  const sender = createSender({
    addresses: addressRules(LOOPBACK),
    timeoutMs: 1000,
    connectionsPerOrigin: 1,
    resolve: (_name, done) => done(null, found),
  });
  const outcome = await sender.send({ url: 'http://localhost:9000/', headers: {}, body: '{}' });
  expect(outcome.errorCode).toBe('address_blocked');
  await sender.close();
});
