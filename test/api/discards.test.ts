import { describe, expect, test } from 'vitest';
import { apiOf } from '../support/api.ts';
import { makeEndpoint, makeGrant } from '../support/seed.ts';
import { useWorld } from '../support/world.ts';
import { ENDPOINTS, expectRefusal, labelled, MISSING, nothingChanges } from './fixtures.ts';

const world = useWorld();
const { api } = world;
const SINCE = '2020-01-01T00:00:00.000Z';
const discard = (id: string, body: unknown = { since: SINCE }) =>
  api.post(`${ENDPOINTS}/${id}/discard`, body);
const preview = (id: string, body: object = {}) =>
  api.post(`${ENDPOINTS}/${id}/preview-recovery`, { since: SINCE, ...body });

describe('a discard', () => {
  test('is listed and ended like a recovery, also at a disabled endpoint, and is the only job of its endpoint', async () => {
    const id = await makeEndpoint(api);
    await api.patch(`${ENDPOINTS}/${id}`, { status: 'disabled' });
    const { status, body } = await discard(id, { since: SINCE, until: '2020-02-01', types: ['order.*'] });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      ...{ object: 'webhook_recovery', webhook_endpoint_id: id, action: 'discard', status: 'pending' },
      ...{ queued_count: 0, discarded_count: 0, skipped_count: 0 },
      filters: {
        since: SINCE,
        until: '2020-02-02T00:00:00.000Z',
        status: ['pending'],
        types: ['order.*'],
        missing: false,
      },
    });
    const at = `${ENDPOINTS}/${id}/recoveries/${body.id}`;
    expect((await api.get(at)).body).toEqual(body);
    expect((await api.get(`${ENDPOINTS}/${id}/recoveries`)).body.data).toEqual([body]);
    await api.patch(`${ENDPOINTS}/${id}`, { status: 'enabled' });
    for (const action of ['discard', 'recover']) {
      const second = await api.post(`${ENDPOINTS}/${id}/${action}`, { since: SINCE });
      expectRefusal(second, 409, 'recovery_in_progress', body.id);
      expect(second.headers.get('location')).toBe(at);
    }
    expect((await api.delete(at)).status).toBe(204);
    expect((await api.get(at)).body.status).toBe('cancelled');
  });

  test.each(
    labelled([
      [{}, 'invalid_body', 'since is required'],
      [{ since: '2999-01-01' }, 'invalid_body', 'since must be before until'],
      [{ since: SINCE, until: null }, 'invalid_body', 'until'],
      [{ since: SINCE, types: [] }, 'invalid_body', 'types'],
      [{ since: SINCE, types: ['payout.payed'] }, 'invalid_event_type', 'types[0]'],
      [{ since: SINCE, status: 'failed' }, 'unknown_field', 'status'],
      [{ since: SINCE, action: 'recover' }, 'unknown_field', 'action'],
    ]),
  )('with %s is refused by name and creates nothing', async (_, body, reason, part) => {
    const id = await makeEndpoint(api);
    await nothingChanges(world, async () => expectRefusal(await discard(id, body), 400, reason, part));
  });

  test('at an endpoint that is missing or deleted is refused', async () => {
    expectRefusal(await discard(String(MISSING.id)), 404, 'resource_missing');
    const id = await makeEndpoint(api);
    await api.delete(`${ENDPOINTS}/${id}`);
    await nothingChanges(world, async () => expectRefusal(await discard(id), 409, 'endpoint_deleted'));
  });

  test('by a token without the scope affiliates needs types that it may read', async () => {
    const id = await makeEndpoint(api);
    const { access_token } = await makeGrant(world, api, { scopes: ['webhooks'] });
    const token = apiOf(world.url, access_token);
    const ask = (body: object) => token.post(`${ENDPOINTS}/${id}/discard`, { since: SINCE, ...body });
    expectRefusal(await ask({}), 403, 'insufficient_scope', 'affiliates');
    expect((await ask({ types: ['order.*'] })).status).toBe(201);
  });
});

describe('a preview', () => {
  test('counts what a recovery or a discard would take, and stores nothing', async () => {
    const id = await makeEndpoint(api, { event_types: ['order.*', 'invoice.*'] });
    for (const type of ['order.created', 'order.paid', 'invoice.created'])
      await api.post('/v2/events', { type, data: {} });
    const count = async (body: object) => (await nothingChanges(world, () => preview(id, body))).body;
    expect(await count({ action: 'discard', until: '2999-01-01' })).toMatchObject({
      ...{ object: 'recovery_preview', webhook_endpoint_id: id, action: 'discard', matching_count: 3 },
      filters: { since: SINCE, status: ['pending'], types: null },
    });
    expect(await count({ action: 'discard', types: ['order.*'] })).toMatchObject({ matching_count: 2 });
    expect(await count({ action: 'discard', until: '2020-02-01' })).toMatchObject({ matching_count: 0 });
    expect(await count({})).toMatchObject({ action: 'recover', matching_count: 0 });
    expect(await count({ status: ['failed', 'pending'] })).toMatchObject({ matching_count: 3 });
  });

  test.each(
    labelled([
      [{ action: 'delete' }, 'invalid_body', 'action'],
      [{ action: 'discard', status: 'failed' }, 'invalid_body', 'status is for a recovery'],
      [{ action: 'discard', missing: true }, 'invalid_body', 'missing is for a recovery'],
      [{ missing: true, status: 'failed' }, 'invalid_body', 'status must not be given with missing'],
      [{ missing: true, since: '' }, 'invalid_body', 'since'],
      [{ since: '' }, 'invalid_body', 'since'],
      [{ types: ['*'] }, 'invalid_event_type', 'types[0]'],
    ]),
  )('with %s is refused by name', async (_, body, reason, part) => {
    expectRefusal(await preview(await makeEndpoint(api), body), 400, reason, part);
  });

  test('of a missing endpoint is a 404', async () => {
    expectRefusal(await preview(String(MISSING.id)), 404, 'resource_missing');
  });
});
