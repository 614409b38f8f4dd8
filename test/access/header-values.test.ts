import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Received, type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import { useWorld } from '../support/world.ts';

const SECRET = 'Bearer of the receiver';

const world = useWorld({ delivers: true, settings: { MAX_WEBHOOK_ENDPOINTS: '12' } });
let receiver: Receiver;
let other: Receiver;
beforeAll(async () => {
  [receiver, other] = await Promise.all([startReceiver(), startReceiver()]);
});
afterAll(async () => {
  await Promise.all([receiver.close(), other.close()]);
});

async function makeEndpoint(): Promise<string> {
  const made = await world.api.post('/v2/webhook-endpoints', {
    url: receiver.url,
    headers: { Authorization: SECRET, 'X-Tenant': 'seven' },
  });
  return `/v2/webhook-endpoints/${made.body.id}`;
}

/** The headers that the receiver gets with the endpoint's test event. */
async function testOf(path: string, at: Receiver) {
  const before = at.received.length;
  expect((await world.api.post(`${path}/test`)).status).toBe(201);
  return (await at.until(before + 1))[before]?.headers ?? {};
}

test('header values do not move to another origin, and the response and the audit log say so', async () => {
  const path = await makeEndpoint();
  expect(await testOf(path, receiver)).toMatchObject({ authorization: SECRET, 'x-tenant': 'seven' });
  const answer = await world.api.patch(path, { url: other.url });
  expect(answer.status).toBe(200);
  expect(answer.body.headers).toEqual([]);
  expect(answer.headers.get('payhook-dropped-headers')).toBe('authorization, x-tenant');
  const carried = await testOf(path, other);
  expect(carried).not.toHaveProperty('authorization');
  expect(carried).not.toHaveProperty('x-tenant');
  // deleted, not hidden
  await world.api.patch(path, { url: receiver.url });
  expect(await testOf(path, receiver)).not.toHaveProperty('authorization');
  const log = await world.api.get('/v2/audit-log?action=dropWebhookEndpointHeaders');
  expect(log.body.data).toHaveLength(1);
  expect(log.body.data[0]).toMatchObject({
    target: path.split('/').at(-1),
    request_id: answer.headers.get('payhook-request-id'),
  });
});

test('values sent again in the same request move too, and only the others are dropped', async () => {
  const path = await makeEndpoint();
  const answer = await world.api.patch(path, { url: other.url, headers: { authorization: 'for the other' } });
  expect(answer.headers.get('payhook-dropped-headers')).toBe('x-tenant');
  expect(answer.body.headers).toEqual(['authorization']);
  const carried = await testOf(path, other);
  expect(carried.authorization).toBe('for the other');
  expect(carried).not.toHaveProperty('x-tenant');
});

describe('deliveries that failed before the move go to the new origin without them,', () => {
  /** An endpoint with a failed delivery, moved to the other receiver. */
  async function moved(): Promise<{ path: string; event: string }> {
    const path = await makeEndpoint();
    receiver.respond(410);
    expect(await testOf(path, receiver)).toMatchObject({ authorization: SECRET });
    const event = await until('the delivery failed', async () => {
      const { body } = await world.api.get(`${path}/events?status=failed`);
      return body.data[0]?.id as string | undefined;
    });
    receiver.respond(200);
    const answer = await world.api.patch(path, { url: other.url, status: 'enabled' });
    expect(answer.headers.get('payhook-dropped-headers')).toBe('authorization, x-tenant');
    return { path, event };
  }

  async function expectWithout(event: string): Promise<void> {
    const isIt = ({ headers }: Received) => headers['webhook-id'] === event;
    const arrived = (await other.until((all) => all.some(isIt))).filter(isIt);
    expect(arrived).toHaveLength(1);
    expect(arrived[0]?.headers).not.toHaveProperty('authorization');
    expect(arrived[0]?.headers).not.toHaveProperty('x-tenant');
  }

  test('by a retry', async () => {
    const { path, event } = await moved();
    expect((await world.api.post(`${path}/events/${event}/retry`)).status).toBeLessThan(300);
    await expectWithout(event);
  });

  test('and by a recovery', async () => {
    const { path, event } = await moved();
    const recovery = await world.api.post(`${path}/recover`, { since: '2020-01-01T00:00:00Z' });
    expect(recovery.status).toBe(201);
    await expectWithout(event);
  });
});

test.each([
  ['another path', (url: string) => `${url}/deeper?x=1`],
  ['another spelling', (url: string) => url.replace('http://127.0.0.1', 'HTTP://0x7f.1')],
  ['the same URL', (url: string) => url],
])('%s of the same origin keeps them', async (_, change) => {
  const path = await makeEndpoint();
  const answer = await world.api.patch(path, { url: change(receiver.url) });
  expect(answer.status).toBe(200);
  expect(answer.headers.has('payhook-dropped-headers')).toBe(false);
  expect(answer.body.headers).toEqual(['authorization', 'x-tenant']);
});

test('a refused change drops nothing', async () => {
  const path = await makeEndpoint();
  expect((await world.api.patch(path, { url: 'http://10.0.0.1/hook' })).reason).toBe('invalid_url');
  expect((await world.api.get(path)).body.headers).toEqual(['authorization', 'x-tenant']);
});

test('an account has at most as many webhook endpoints as the setting allows, also when several are created at once', async () => {
  const api = await world.otherAccount();
  const make = () => api.post('/v2/webhook-endpoints', { url: 'https://example.com/hook' });
  for (let made = 0; made < 11; made++) await make();
  const answers = await Promise.all([make(), make(), make()]);
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  const refused = answers.find(({ status }) => status === 409);
  expect([refused?.reason, refused?.body.error.message]).toEqual([
    'too_many_endpoints',
    'the account has 12 webhook endpoints, and MAX_WEBHOOK_ENDPOINTS allows 12: delete one first',
  ]);
  const made = answers.find(({ status }) => status === 201)?.body.id;
  await api.delete(`/v2/webhook-endpoints/${made}`);
  expect((await make()).status).toBe(201);
});
