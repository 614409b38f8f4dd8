import { expect, test } from 'vitest';
import { describeInline } from '../../src/http/openapi.ts';
import { ROUTES } from '../../src/http/routes.ts';
import type { Answer } from '../support/api.ts';
import { useAccount, useWorld } from '../support/world.ts';

const api = useAccount(useWorld());

/** Records that cannot be read one by one: a result file, a portal link, an API key. */
const WITHOUT_A_GET = ['createApiKey', 'createPortalLink', 'createWebhookEndpointToken', 'takePayoutResult'];

interface Described {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<string, { operationId: string; responses: Record<string, { headers: object } | undefined> }>
      >
    >
  >;
}

/** The operations that create a record, and whether their 201 has a Location. */
const CREATING = Object.values((describeInline(ROUTES) as unknown as Described).paths)
  .flatMap((methods) => Object.values(methods))
  .flatMap(({ operationId, responses: { 201: made } }) =>
    made ? [{ operationId, isLocated: 'Location' in made.headers }] : [],
  );

test('the description has a Location for each 201 whose record can be read', () => {
  expect(CREATING.length).toBeGreaterThan(15);
  const without = CREATING.filter(({ isLocated }) => !isLocated).map(({ operationId }) => operationId);
  expect(without.toSorted()).toEqual(WITHOUT_A_GET);
});

test('every operation that creates a record returns its address, where GET returns the record', async () => {
  const located: string[] = [];
  const make = async (operation: string, answer: Promise<Answer>): Promise<Answer> => {
    const made = await answer;
    expect([operation, made.status, made.reason]).toEqual([operation, 201, null]);
    const found = await api.get(made.headers.get('location') ?? 'nowhere');
    expect([operation, found.status, found.body.id]).toEqual([operation, 200, made.body.id]);
    located.push(operation);
    return made;
  };
  const { id } = (await make('createAffiliate', api.post('/v2/affiliates', { email: 'ada@example.com' })))
    .body;
  const external = { email: 'mary@example.com' };
  await make('putAffiliateByExternalId', api.put('/v2/affiliates/by-external-id/partner-7', external));
  await make('createProgram', api.post('/v2/affiliates/programs', { name: 'Partners' }));
  const sale = { external_id: 'sale-1', affiliate_id: id, amount: 5000, order_id: 'order-1' };
  const { body: commission } = await make('createCommission', api.post('/v2/affiliates/commissions', sale));
  const credit = { external_id: 'credit-1', amount: 500 };
  await make('createAdjustment', api.post(`/v2/affiliates/${id}/adjustments`, credit));
  const refunding = `/v2/affiliates/commissions/${commission.id}/refund`;
  await make('refundCommission', api.post(refunding, { external_id: 'refund-1', amount: 100 }));
  const order = { external_id: 'refund-2', order_id: 'order-1', amount: 100 };
  await make('refundOrder', api.post('/v2/affiliates/refunds', order));
  await make('createPayout', api.post('/v2/affiliates/payouts'));
  const rhythm = { name: 'monthly', every: 'month', day: 1 };
  await make('createPayoutSchedule', api.post('/v2/affiliates/payout-schedules', rhythm));
  const endpoint = { url: 'http://127.0.0.1:9/events' };
  const { body: created } = await make('createWebhookEndpoint', api.post('/v2/webhook-endpoints', endpoint));
  const own = api.put('/v2/webhook-endpoints/by-external-id/shop-7', endpoint);
  await make('putWebhookEndpointByExternalId', own);
  const at = `/v2/webhook-endpoints/${created.id}`;
  await make('testWebhookEndpoint', api.post(`${at}/test`));
  const job = await make('recoverWebhookEndpoint', api.post(`${at}/recover`, { since: '2020-01-01' }));
  await api.delete(`${at}/recoveries/${job.body.id}`);
  await make('discardEventsOfWebhookEndpoint', api.post(`${at}/discard`, { since: '2020-01-01' }));
  await make('publishEvent', api.post('/v2/events', { type: 'order.created', data: {} }));
  const channel = { name: 'ops', format: 'slack', url: 'http://127.0.0.1:9/alerts', kinds: [] };
  await make('createAlertChannel', api.post('/v2/alert-channels', channel));
  const user = { email: 'eve@example.com', name: 'Eve', role: 'viewer' };
  await make('createUser', api.post('/v2/users', user));
  const application = {
    name: 'Till',
    kind: 'confidential',
    redirect_uris: ['https://till.example.com/callback'],
    scopes: ['affiliates'],
  };
  await make('createOAuthApplication', api.post('/v2/oauth-applications', application));
  const expected = CREATING.filter(({ isLocated }) => isLocated).map(({ operationId }) => operationId);
  expect(located.toSorted()).toEqual(expected.toSorted());
});

test('a repeated request with the same Idempotency-Key returns the same address', async () => {
  const ask = () => api.post('/v2/affiliates/programs', { name: 'Friends' }, { 'idempotency-key': 'once' });
  const [first, again] = [await ask(), await ask()];
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.headers.get('location')).toBe(first.headers.get('location'));
});
