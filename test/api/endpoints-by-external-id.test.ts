import { describe, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { eventsOf, expectRefusal, nothingChanges, onlyAudited } from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);

const ENDPOINTS = '/v2/webhook-endpoints';
const at = (externalId: string) => `${ENDPOINTS}/by-external-id/${encodeURIComponent(externalId)}`;
const url = 'https://shop.example.com/payhook';
const WHOLE = {
  url,
  description: 'the shop',
  event_types: ['order.*', 'payout.paid'],
  filter: { 'data.currency': 'usd' },
  ordered: true,
  batch: { max_events: 50 },
  rate_limit: 20,
  max_age: 3600,
  headers: { 'X-Shop': '7', 'x-key': 'of the shop' },
  payload: 'cloudevents',
  signing: 'ed25519',
  proxy: 'http://payhook:password@proxy.example.com:3128',
  client_credentials: {
    ...{ token_url: 'https://id.example.com/token', client_id: 'payhook', client_secret: 'of payhook' },
    ...{ authentication: 'body' },
  },
  metadata: { team: 'till' },
} as const;
const secretOf = async ({ get }: Api, id: string) => (await get(`${ENDPOINTS}/${id}/secret`)).body.secret;

describe('PUT of an endpoint by your own id', () => {
  test('creates a missing one with the secret, as POST does', async () => {
    const made = await api.put(at('shop/7 ä'), WHOLE);
    expect(made.status, made.text).toBe(201);
    expect(made.headers.get('location')).toBe(`${ENDPOINTS}/${made.body.id}`);
    const { headers: _, proxy: __, batch: ___, client_credentials: ____, ...plain } = WHOLE;
    expect(made.body).toMatchObject({ ...plain, external_id: 'shop/7 ä', headers: ['x-shop', 'x-key'] });
    expect(made.body.secret).toBe(await secretOf(api, made.body.id));
    const { secret: _____, ...record } = made.body;
    for (const path of [`${ENDPOINTS}/${record.id}`, at('shop/7 ä')])
      expect((await api.get(path)).body).toEqual(record);
    for (const [name, count] of [
      ['shop/7 ä', 1],
      ['shop', 0],
    ] as const) {
      const list = await api.get(`${ENDPOINTS}?external_id=${encodeURIComponent(name)}`);
      expect(list.body.pagination.total).toBe(count);
    }
  });

  test('with the same body changes nothing: no field, no secret, no event', async () => {
    for (const [name, body] of [
      ['whole', WHOLE],
      ['least', { url }],
    ] as const) {
      const { secret, ...made } = (await api.put(at(name), body)).body;
      await onlyAudited(world, async () => {
        const again = await api.put(at(name), body);
        expect([again.status, again.body]).toEqual([200, made]);
      });
      expect(await secretOf(api, made.id)).toBe(secret);
    }
    expect(await eventsOf(world, api)).toEqual([]);
  });

  test('gives it exactly this configuration: what is left out gets the value of a new endpoint', async () => {
    const { body: plain } = await api.post(ENDPOINTS, { url });
    const { body: made } = await api.put(at('shop'), WHOLE);
    const second = await api.put(at('shop'), { url, headers: { 'x-key': 'another', 'X-New': '1' } });
    expect(second.status, second.text).toBe(200);
    const { id, external_id, created_at, updated_at, second_signature, secret, ...configured } = second.body;
    expect([id, external_id, created_at]).toEqual([made.id, 'shop', made.created_at]);
    expect(updated_at > made.updated_at).toBe(true);
    expect(configured).toEqual({
      ...Object.fromEntries(Object.keys(configured).map((name) => [name, plain[name]])),
      headers: ['x-key', 'x-new'],
    });
    // back from a key pair: the scheme needs a new secret, and the previous signature is sent for a day
    expect(secret).toMatch(/^whsec_/);
    expect(second_signature.signing).toBe('ed25519');
    expect((await api.put(at('shop'), WHOLE)).body).toMatchObject({ rate_limit: 20, signing: 'ed25519' });
  });

  test('keeps the status, the secret and the second signature, unless they are sent', async () => {
    const { body: made } = await api.put(at('shop'), { url });
    const path = `${ENDPOINTS}/${made.id}`;
    const { body: rotated } = await api.post(`${path}/rotate-secret`, {});
    await api.patch(path, { status: 'disabled' });
    const kept = (await api.put(at('shop'), { url })).body;
    expect(kept).toMatchObject({ status: 'disabled', second_signature: { signing: 'standard' } });
    expect(await secretOf(api, made.id)).toBe(rotated.secret);
    const set = { url, status: 'enabled', secret: made.secret, second_signature: null };
    expect((await api.put(at('shop'), set)).body).toMatchObject({
      status: 'enabled',
      second_signature: null,
    });
    expect(await secretOf(api, made.id)).toBe(made.secret);
  });

  test('an id belongs to one endpoint of the account, and is free when that is deleted', async () => {
    const { body: one } = await api.put(at('shop'), { url });
    const { body: other } = await api.post(ENDPOINTS, { url, external_id: 'store' });
    const taken = { reason: 'duplicate_external_id', status: 409 };
    await nothingChanges(world, async () => {
      expect(await api.post(ENDPOINTS, { url, external_id: 'shop' })).toMatchObject(taken);
      expect(await api.patch(`${ENDPOINTS}/${other.id}`, { external_id: 'shop' })).toMatchObject(taken);
    });
    expect((await api.patch(`${ENDPOINTS}/${other.id}`, { external_id: 'store' })).status).toBe(200);
    expect((await api.patch(`${ENDPOINTS}/${other.id}`, { external_id: null })).body.external_id).toBeNull();
    expect((await api.put(at('store'), { url })).status).toBe(201);
    await api.delete(`${ENDPOINTS}/${one.id}`);
    expect((await api.get(at('shop'))).status).toBe(404);
    const again = await api.put(at('shop'), { url });
    expect([again.status, again.body.id === one.id]).toEqual([201, false]);
    // another account has its own
    const stranger = await world.otherAccount();
    expect((await stranger.get(at('shop'))).status).toBe(404);
    expect((await stranger.put(at('shop'), { url })).status).toBe(201);
    expect((await api.get(at('shop'))).body.id).toBe(again.body.id);
  });

  test('an owner is a part of the configuration that an endpoint keeps, and the limits count', async () => {
    await api.patch('/v2/account', { endpoints_per_owner: 1 });
    const { body: made } = await api.put(at('shop'), { url, owner: 'shop-7' });
    expect((await api.put(at('shop'), { url, owner: 'shop-7' })).body).toMatchObject({
      id: made.id,
      owner: 'shop-7',
    });
    await nothingChanges(world, async () => {
      expect((await api.put(at('shop'), { url })).reason).toBe('endpoint_owner_fixed');
      expect((await api.put(at('second'), { url, owner: 'shop-7' })).reason).toBe('too_many_endpoints');
    });
  });

  test('a wrong id or field is refused, and changes nothing', async () => {
    await api.put(at('shop'), { url });
    await nothingChanges(world, async () => {
      expectRefusal(await api.put(at('new'), {}), 400, 'invalid_body', 'url');
      expectRefusal(
        await api.put(at('shop'), { url, external_id: 'x' }),
        400,
        'unknown_field',
        'external_id',
      );
      expectRefusal(await api.put(at('shop'), { url, held: 'send' }), 400, 'unknown_field', 'held');
      expectRefusal(
        await api.put(at('x'.repeat(256)), { url }),
        400,
        'invalid_body',
        'external_id must have at most 255',
      );
      expectRefusal(await api.put(at('a\u0000b'), { url }), 400, 'invalid_body', 'external_id');
      expect((await api.get(at('a\u0000b'))).status).toBe(404);
      expect((await api.put(at('shop'), { url: 'http://10.0.0.7/x' })).reason).toBe('invalid_url');
      expect((await api.put(at('shop'), { url, signing: 'custom' })).reason).toBe('invalid_signing');
    });
  });
});
