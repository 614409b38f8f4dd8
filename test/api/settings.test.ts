import { describe, expect, test } from 'vitest';
import { DEFAULT_SIGNALS } from '../../src/terms/payout-signals.ts';
import { apiOf } from '../support/api.ts';
import { useAccount, useWorld } from '../support/world.ts';
import {
  dump,
  expectRefusal,
  makeAffiliate,
  makeCommission,
  nothingChanges,
  onlyAudited,
  PAYOUTS,
  PROGRAMS,
  TIMESTAMP,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world, 'Shop');

describe('a program', () => {
  test('shows exactly the fields of the record', async () => {
    const made = await api.post(PROGRAMS, { name: 'Partners', hold_days: 14 });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.any(Number),
      object: 'affiliate_program',
      name: 'Partners',
      hold_days: 14,
      metadata: {},
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: expect.stringMatching(TIMESTAMP),
    });
    expect((await api.get(`${PROGRAMS}/${made.body.id}`)).text).toBe(made.text);
    expect((await api.get(PROGRAMS)).body.data).toEqual([made.body]);
    expect((await api.post(PROGRAMS, { name: 'Plain' })).body.hold_days).toBeNull();
  });

  test("is changed in the named fields; null sets the hold back to the account's", async () => {
    const { body: made } = await api.post(PROGRAMS, { name: 'Partners', hold_days: 14 });
    const one = `${PROGRAMS}/${made.id}`;
    expect((await api.patch(one, { name: 'Friends' })).body).toMatchObject({
      name: 'Friends',
      hold_days: 14,
    });
    expect((await api.patch(one, { hold_days: null })).body).toMatchObject({
      name: 'Friends',
      hold_days: null,
    });
    await onlyAudited(world, async () => expect((await api.patch(one, {})).body.name).toBe('Friends'));
  });

  test('has a name that no other program of the account has, in any case', async () => {
    const { body: made } = await api.post(PROGRAMS, { name: 'Partners' });
    const second = (await api.post(PROGRAMS, { name: 'Friends' })).body;
    await nothingChanges(world, async () => {
      expectRefusal(await api.post(PROGRAMS, { name: 'partners' }), 409, 'duplicate_name', 'name');
      expectRefusal(
        await api.patch(`${PROGRAMS}/${second.id}`, { name: 'PARTNERS' }),
        409,
        'duplicate_name',
        'name',
      );
    });
    const other = await world.otherAccount();
    expect((await other.post(PROGRAMS, { name: 'Partners' })).status).toBe(201);
    expect((await api.patch(`${PROGRAMS}/${made.id}`, { name: 'Partners' })).status).toBe(200);
  });

  test.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ name: 'P', hold_days: -1 }, 'hold_days'],
    [{ name: 'P', hold_days: 3651 }, 'hold_days'],
    [{ name: 'P', hold_days: 1.5 }, 'hold_days'],
  ])('is refused as %j by name', async (body, field) => {
    await nothingChanges(world, async () =>
      expectRefusal(await api.post(PROGRAMS, body), 400, 'invalid_body', field),
    );
  });
});

describe('the account', () => {
  const get = async () => (await api.get('/v2/account')).body;

  test('shows exactly the fields of the record', async () => {
    expect(await get()).toEqual({
      id: expect.stringMatching(/^acc_[0-9a-f]{32}$/),
      object: 'account',
      name: 'Shop',
      default_currency: 'usd',
      hold_days: 0,
      minimum_payout: {},
      time_zone: 'UTC',
      paypal_payment_limit: { usd: 2_000_000 },
      portal_origins: [],
      event_owner: 'optional',
      event_validation: 'off',
      endpoints_per_owner: null,
      approval: 'none',
      destination_wait_hours: 0,
      payout_form: 'none',
      backup_withholding: 'none',
      commissions_are: 'gross',
      payout_signals: DEFAULT_SIGNALS,
      state_thresholds: {},
      affiliate_notices: null,
      contact_notices: null,
      debtor: null,
      originator: null,
      tax_profile: null,
      invoicing: null,
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: expect.stringMatching(TIMESTAMP),
    });
  });

  test('changes the named fields, and keeps the rest', async () => {
    const before = await get();
    const changed = await api.patch('/v2/account', {
      default_currency: 'EUR',
      minimum_payout: { USD: 5000, kwd: 1 },
    });
    expect(changed.body).toEqual({
      ...before,
      default_currency: 'eur',
      minimum_payout: { usd: 5000, kwd: 1 },
      updated_at: expect.stringMatching(TIMESTAMP),
    });
    expect(await get()).toEqual(changed.body);
    expect((await api.patch('/v2/account', { name: 'Store', hold_days: 30 })).body).toMatchObject({
      name: 'Store',
      hold_days: 30,
      default_currency: 'eur',
    });
    await onlyAudited(world, async () => expect((await api.patch('/v2/account', {})).status).toBe(200));
    expect((await api.patch('/v2/account', { minimum_payout: {} })).body.minimum_payout).toEqual({});
  });

  test.each([
    [{ name: '' }, 'name'],
    [{ name: null }, 'name'],
    [{ default_currency: 'xyz' }, 'default_currency'],
    [{ default_currency: null }, 'default_currency'],
    [{ hold_days: -1 }, 'hold_days'],
    [{ hold_days: 3651 }, 'hold_days'],
    [{ hold_days: null }, 'hold_days'],
    [{ hold_days: '30' }, 'hold_days'],
    [{ minimum_payout: null }, 'minimum_payout'],
    [{ minimum_payout: 5000 }, 'minimum_payout'],
    [{ minimum_payout: { usd: '5000' } }, 'minimum_payout'],
    [{ minimum_payout: { dollars: 1 } }, 'minimum_payout'],
    [{ minimum_payout: { usd: 1, USD: 1 } }, 'minimum_payout'],
    [{ portal_origins: null }, 'portal_origins'],
    [{ portal_origins: Array(21).fill('https://shop.example.com') }, 'portal_origins'],
  ])('refuses %j by name', async (body, field) => {
    await nothingChanges(world, async () =>
      expectRefusal(await api.patch('/v2/account', { name: 'New', ...body }), 400, 'invalid_body', field),
    );
  });

  test.each([
    'http://shop.example.com',
    'https://shop.example.com/webhooks',
    'https://shop.example.com/?',
    'https://ada@shop.example.com',
    'https://*.example.com',
    'https:shop.example.com',
    'https://shop.example.com; script-src *',
    'https://[::1]',
    'https://shop.example.com.',
    'javascript:alert(1)',
    'shop.example.com',
    '*',
    "'self'",
  ])('refuses %s as an origin of portals', async (origin) => {
    await nothingChanges(world, async () => {
      const refused = await api.patch('/v2/account', {
        portal_origins: ['https://shop.example.com', origin],
      });
      expectRefusal(refused, 400, 'invalid_body', 'portal_origins[1] must be an origin such as https://');
    });
  });

  test('stores origins of portals as browsers write them, each once', async () => {
    const portal_origins = [
      'HTTPS://Shop.Example.com:443/',
      'https://shop.example.com',
      'https://bücher.example:8443',
      'http://localhost:3000',
      'http://127.0.0.1',
    ];
    expect((await api.patch('/v2/account', { portal_origins })).body.portal_origins).toEqual([
      'https://shop.example.com',
      'https://xn--bcher-kva.example:8443',
      'http://localhost:3000',
      'http://127.0.0.1',
    ]);
    expect((await api.patch('/v2/account', { portal_origins: [] })).body.portal_origins).toEqual([]);
  });

  test.each(['id', 'object', 'created_at', 'currency'])('cannot set %s', async (name) => {
    await nothingChanges(world, async () =>
      expectRefusal(await api.patch('/v2/account', { [name]: 'x' }), 400, 'unknown_field', name),
    );
  });

  test('with new settings does not change other accounts', async () => {
    const other = await world.otherAccount();
    const before = (await other.get('/v2/account')).text;
    await api.patch('/v2/account', { hold_days: 9, minimum_payout: { usd: 1 } });
    expect((await other.get('/v2/account')).text).toBe(before);
  });
});

describe('API keys', () => {
  const make = async (name: string) => (await api.post('/v2/api-keys', { name })).body;

  test('are several, named, shown once, and each gives full access', async () => {
    const [mine] = (await api.get('/v2/api-keys')).body.data;
    const made = await api.post('/v2/api-keys', { name: 'ci' });
    expect(made.status).toBe(201);
    const { key, ...record } = made.body;
    expect(key).toMatch(/^ph_(1_)?[0-9A-Za-z]{49}$/);
    expect(record).toEqual({
      id: expect.stringMatching(/^key_[0-9a-f]{32}$/),
      object: 'api_key',
      name: 'ci',
      hint: `${key.slice(0, 6)}…${key.slice(-4)}`,
      created_by: mine.id,
      last_used_at: null,
      revoked_at: null,
      created_at: expect.stringMatching(TIMESTAMP),
    });
    const client = apiOf(world.url, key);
    const affiliate = await makeAffiliate(client);
    await makeCommission(client, affiliate.id);
    expect((await client.post(PAYOUTS)).body.created_by).toBe(record.id);
    const listed = await api.get('/v2/api-keys');
    expect(listed.text).not.toContain(key);
    expect(listed.body.data.map(({ name }: { name: string }) => name)).toEqual(['ci', 'key']);
    expect(JSON.stringify(await dump(world))).not.toContain(key);
  });

  test('have names that no other live key of the account has', async () => {
    const first = await make('ci');
    await nothingChanges(world, async () =>
      expectRefusal(await api.post('/v2/api-keys', { name: 'ci' }), 409, 'duplicate_name', 'name'),
    );
    expect((await api.delete(`/v2/api-keys/${first.id}`)).status).toBe(204);
    expect((await make('ci')).id).not.toBe(first.id);
  });

  test('show when they were last used', async () => {
    const made = await make('used');
    expect((await apiOf(world.url, made.key).get('/v2/account')).status).toBe(200);
    const used = async () => {
      const { data } = (await api.get('/v2/api-keys?sort=-created_at')).body;
      return data.find(({ id }: { id: string }) => id === made.id).last_used_at;
    };
    // stored besides the request, so a moment later
    await expect.poll(used).toMatch(TIMESTAMP);
  });

  test('are revoked once; their past actions stay attributed', async () => {
    const made = await make('gone');
    const one = `/v2/api-keys/${made.id}`;
    const removed = await api.delete(one);
    expect([removed.status, removed.text]).toEqual([204, '']);
    expectRefusal(await apiOf(world.url, made.key).get('/v2/account'), 401, 'invalid_credentials');
    await nothingChanges(world, async () => expectRefusal(await api.delete(one), 404, 'resource_missing'));
    const names = async (status: string) =>
      (await api.get(`/v2/api-keys?status=${status}`)).body.data.map(({ name }: { name: string }) => name);
    expect(await names('active')).toEqual(['key']);
    expect(await names('revoked')).toEqual(['gone']);
  });

  test.each([[{}], [{ name: '' }], [{ name: 7 }], [{ name: null }], [{ name: 'x'.repeat(101) }]])(
    'are refused as %j',
    async (body) => {
      await nothingChanges(world, async () =>
        expectRefusal(await api.post('/v2/api-keys', body), 400, 'invalid_body', 'name'),
      );
    },
  );
});
