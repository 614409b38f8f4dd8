import { createPrivateKey, X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { portalAt } from '../access/portal-support.ts';
import { certificateFor } from '../support/certificate.ts';
import { borrowWorld } from '../support/pool.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { dump, ENDPOINTS, expectRefusal, type Json, nothingChanges } from './fixtures.ts';

const URL = 'https://shop.example.com/hooks';

const world = useWorld();
const api = useAccount(world);

async function create(fields: object = {}): Promise<Json> {
  const made = await api.post(ENDPOINTS, { url: URL, ...fields });
  expect(made.status, made.text).toBe(201);
  return made.body;
}

/** Checks that none of the texts is in the database or the log, in any spelling. */
async function expectSealed(...texts: readonly string[]): Promise<void> {
  const all = [...(await dump(world)), JSON.stringify(world.log)];
  for (const text of texts) {
    const spellings = [text, Buffer.from(text).toString('hex'), Buffer.from(text).toString('base64')];
    expect(all.filter((row) => spellings.some((spelling) => row.includes(spelling)))).toEqual([]);
  }
}

/** The text of a PEM without its frame. */
const bodyOf = (pem: string) => pem.split('\n')[1] ?? '';

describe('a client certificate', () => {
  const one = certificateFor('payhook');
  const given = { certificate: one.cert, key: one.key };

  test('is shown by its subject and expiry, and its key nowhere', async () => {
    const { id, client_certificate } = await create({ client_certificate: given });
    expect(client_certificate).toEqual({
      subject: 'CN=payhook',
      issuer: 'CN=payhook',
      fingerprint: new X509Certificate(one.cert).fingerprint256.replaceAll(':', '').toLowerCase(),
      expires_at: '2049-12-31T23:59:59.000Z',
    });
    const path = `${ENDPOINTS}/${id}`;
    expect((await api.get(path)).body.client_certificate).toEqual(client_certificate);
    expect((await api.get(ENDPOINTS)).body.data[0].client_certificate).toEqual(client_certificate);
    // other fields do not change it
    const described = await api.patch(path, { description: 'the shop', url: 'https://other.example.com/' });
    expect(described.body.client_certificate).toEqual(client_certificate);
    await expectSealed(bodyOf(one.key));
    expect((await api.patch(path, { client_certificate: null })).body.client_certificate).toBeNull();
    const [row] = await world.query(
      'select egress, egress_sealed from webhook_endpoints order by id desc limit 1',
    );
    expect(row).toEqual({ egress: null, egress_sealed: null });
  });

  test('is replaced by the next one, and deleted with its endpoint', async () => {
    const { id } = await create({ client_certificate: given });
    const next = certificateFor('next');
    const changed = await api.patch(`${ENDPOINTS}/${id}`, {
      client_certificate: { certificate: next.cert, key: next.key },
    });
    expect(changed.body.client_certificate.subject).toBe('CN=next');
    await api.delete(`${ENDPOINTS}/${id}`);
    const [row] = await world.query(
      'select egress, egress_sealed from webhook_endpoints order by id desc limit 1',
    );
    expect(row).toEqual({ egress: null, egress_sealed: null });
  });

  const other = certificateFor('other');
  const ended = certificateFor('ended', { ends: '200102000000Z' });
  const encrypted = (type: 'pkcs8') =>
    createPrivateKey(one.key).export({ type, format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' });
  const refused: Readonly<Record<string, [object, string]>> = {
    'no PEM': [{ ...given, certificate: 'MIIB' }, 'certificate must be 1 to 10 certificates in PEM'],
    'a broken certificate': [
      { ...given, certificate: one.cert.replace('MII', 'AAA') },
      'certificate must be in PEM; one of its certificates cannot be read',
    ],
    'certificates of another chain': [
      { ...given, certificate: one.cert + other.cert },
      'certificate must have the certificate first',
    ],
    'an expired certificate': [
      { certificate: ended.cert, key: ended.key },
      'certificate must not have expired; it expired at 2020-01-02T00:00:00.000Z',
    ],
    'the key of another certificate': [
      { ...given, key: other.key },
      'key must be the private key of the certificate',
    ],
    'no key': [{ ...given, key: one.cert }, 'key must be one private key in PEM'],
    'a broken key': [{ ...given, key: one.key.replace('MI', 'AA') }, 'key must be a private key in PEM'],
    'a key with a passphrase': [{ ...given, key: encrypted('pkcs8') }, 'key must have no passphrase'],
  };
  test.each(Object.entries(refused))('is refused: %s', async (_, [certificate, rule]) => {
    const { id } = await create();
    await nothingChanges(world, async () => {
      const answer = await api.patch(`${ENDPOINTS}/${id}`, { client_certificate: certificate });
      expectRefusal(answer, 400, 'invalid_client_certificate', `client_certificate.${rule}`);
    });
  });
});

test('only the account sets how requests leave: a portal neither sees nor sets it', async () => {
  const one = certificateFor('payhook');
  const client_certificate = { certificate: one.cert, key: one.key };
  const { id } = await create({ owner: 'shop-7', client_certificate });
  const portal = await portalAt(api, id, { all_of_owner: true });
  const path = `${ENDPOINTS}/${id}`;
  expect((await portal.get(path)).body.client_certificate).toBeNull();
  for (const change of [client_certificate, null]) {
    expectRefusal(await portal.patch(path, { client_certificate: change }), 403, 'not_in_portal');
  }
  expectRefusal(await portal.post(ENDPOINTS, { url: URL, client_certificate }), 403, 'not_in_portal');
  // changes by the portal keep it
  expect((await portal.patch(path, { description: 'ours' })).status).toBe(200);
  expect((await api.get(path)).body.client_certificate.subject).toBe('CN=payhook');
});

describe('a proxy', () => {
  const proxy = 'http://payhook:proxy%20password@proxy.example.com:3128';
  const shown = 'http://payhook@proxy.example.com:3128';

  test('is shown without its password, which is stored encrypted', async () => {
    const { id, ...made } = await create({ proxy });
    expect(made.proxy).toBe(shown);
    const path = `${ENDPOINTS}/${id}`;
    // a proxy sent back as shown stays the same
    const same = await api.patch(path, { proxy: shown, description: 'the shop' });
    expect(same.body.proxy).toBe(shown);
    await expectSealed('proxy%20password', 'proxy password', 'payhook:proxy password');
    const other = certificateFor('payhook');
    const both = await api.patch(path, { client_certificate: { certificate: other.cert, key: other.key } });
    expect(both.body).toMatchObject({ proxy: shown, client_certificate: { subject: 'CN=payhook' } });
    expect((await api.patch(path, { proxy: null })).body).toMatchObject({
      proxy: null,
      client_certificate: { subject: 'CN=payhook' },
    });
  });

  test('that could read the requests drops the header values, unless they are given again', async () => {
    const plain = await create({
      url: 'http://shop.example.com/',
      headers: { 'x-key': 'one', 'x-shop': '7' },
    });
    const answer = await api.patch(`${ENDPOINTS}/${plain.id}`, { proxy, headers: { 'x-shop': '7' } });
    expect([answer.body.headers, answer.headers.get('payhook-dropped-headers')]).toEqual([
      ['x-shop'],
      'x-key',
    ]);
    const kept = await api.patch(`${ENDPOINTS}/${plain.id}`, { proxy: shown });
    expect(kept.body.headers).toEqual(['x-shop']);
    const secure = await create({ headers: { 'x-key': 'one' } });
    const through = await api.patch(`${ENDPOINTS}/${secure.id}`, { proxy });
    expect(through.body.headers).toEqual(['x-key']);
  });

  const refused = {
    'no URL': ['proxy', 'must be an http or https URL'],
    'another scheme': ['socks5://proxy.example.com:1080', 'must be an http or https URL'],
    'a path': ['http://proxy.example.com:3128/path', 'must be an http or https URL'],
    'a broken password': ['http://user:%zz@proxy.example.com', 'must be an http or https URL'],
    'a private address': ['http://user:password@10.0.0.1:3128', 'must name a public address'],
    'the metadata of a cloud': ['http://169.254.169.254', 'must name a public address'],
  } as const;
  test.each(Object.entries(refused))('is refused: %s', async (_, [given, rule]) => {
    const { id } = await create();
    await nothingChanges(world, async () => {
      const answer = await api.patch(`${ENDPOINTS}/${id}`, { proxy: given });
      expectRefusal(answer, 400, 'invalid_proxy', `proxy ${rule}`);
    });
  });

  test('of an account is not on the loopback of the server, and no portal sets one', async () => {
    const strict = await borrowWorld({ settings: { DELIVERY_ALLOW_CIDRS: '' } });
    for (const url of ['http://127.0.0.1:3128', 'http://localhost:3128', 'http://[::1]:3128']) {
      const answer = await strict.api.post(ENDPOINTS, { url: URL, proxy: url });
      expectRefusal(answer, 400, 'invalid_proxy', 'proxy must name a public address');
    }
    await strict.close();
    const { id } = await create({ owner: 'shop-7', proxy });
    const portal = await portalAt(api, id);
    expect((await portal.get(`${ENDPOINTS}/${id}`)).body.proxy).toBeNull();
    expectRefusal(await portal.patch(`${ENDPOINTS}/${id}`, { proxy }), 403, 'not_in_portal');
  });
});

describe('client credentials', () => {
  const given = {
    token_url: 'https://id.example.com/oauth/token',
    client_id: 'payhook',
    client_secret: 'secret-of-the-client',
    scope: 'events:write events:read',
  };
  const { client_secret: _, ...asShown } = { ...given, audience: null, authentication: 'basic' };
  const dropped = (answer: { headers: Headers }) => answer.headers.get('payhook-dropped-headers');

  test('are shown without their secret, which is encrypted and kept while they stay the same', async () => {
    const { id, client_credentials } = await create({ client_credentials: given });
    expect(client_credentials).toEqual(asShown);
    const path = `${ENDPOINTS}/${id}`;
    // sent back as shown, with another scope, they keep their secret
    const scoped = { ...asShown, scope: null, audience: 'https://shop.example.com/', authentication: 'body' };
    for (const change of [asShown, scoped]) {
      const answer = await api.patch(path, { client_credentials: change, description: 'the shop' });
      expect(answer.body.client_credentials).toEqual(change);
    }
    expect((await api.get(ENDPOINTS)).body.data[0].client_credentials).toEqual(scoped);
    await expectSealed(given.client_secret);
    const { cert, key } = certificateFor('payhook');
    const both = await api.patch(path, { client_certificate: { certificate: cert, key } });
    expect(both.body).toMatchObject({
      client_credentials: scoped,
      client_certificate: { subject: 'CN=payhook' },
    });
    expect((await api.patch(path, { client_credentials: null })).body).toMatchObject({
      client_credentials: null,
      client_certificate: { subject: 'CN=payhook' },
    });
  });

  test('with another token endpoint or client need a secret', async () => {
    const { id } = await create({ client_credentials: given });
    for (const other of [{ token_url: 'https://id.example.com/other' }, { client_id: 'other' }]) {
      await nothingChanges(world, async () => {
        const answer = await api.patch(`${ENDPOINTS}/${id}`, {
          client_credentials: { ...asShown, ...other },
        });
        expectRefusal(
          answer,
          400,
          'invalid_client_credentials',
          'client_credentials.client_secret is required',
        );
      });
    }
  });

  test('do not move with a URL to another origin, nor to where a proxy could read them', async () => {
    const url = 'https://other.example.com/';
    const proxy = 'http://proxy.example.com:3128';
    const http = { ...given, token_url: 'http://id.example.com/token' };
    const moves = [
      [{ client_credentials: given }, { url }],
      [{ client_credentials: given, url: 'http://shop.example.com/' }, { proxy }],
      [{ client_credentials: http }, { proxy }],
    ] as const;
    for (const [made, move] of moves) {
      const { id } = await create(made);
      const path = `${ENDPOINTS}/${id}`;
      const shown = (await api.get(path)).body.client_credentials;
      const answer = await api.patch(path, { ...move, client_credentials: shown });
      expectRefusal(
        answer,
        400,
        'invalid_client_credentials',
        'client_credentials.client_secret is required',
      );
      const moved = await api.patch(path, move);
      expect([moved.body.client_credentials, dropped(moved)]).toEqual([null, 'authorization']);
    }
    const { id } = await create({ client_credentials: given });
    const stays = await api.patch(`${ENDPOINTS}/${id}`, { proxy, url: 'https://shop.example.com/other' });
    expect([stays.body.client_credentials, dropped(stays)]).toEqual([asShown, null]);
    const again = await api.patch(`${ENDPOINTS}/${id}`, { url, client_credentials: given });
    expect([again.body.client_credentials, dropped(again)]).toEqual([asShown, null]);
  });

  test('exclude a header Authorization of the endpoint', async () => {
    const headers = { Authorization: 'Bearer mine' };
    const signing = {
      signing: 'custom',
      custom_signing: { header: 'authorization', content: '{body}', encoding: 'hex' },
    };
    for (const [other, reason] of [
      [{ headers }, 'invalid_header'],
      [signing, 'invalid_signing'],
    ] as const) {
      const fields = { url: URL, client_credentials: given };
      expectRefusal(await api.post(ENDPOINTS, { ...fields, ...other }), 400, reason, 'access token');
      const { id } = await create(other);
      const answer = await api.patch(`${ENDPOINTS}/${id}`, { client_credentials: given });
      expectRefusal(answer, 400, reason, 'access token');
      const held = await create({ client_credentials: given });
      expectRefusal(await api.patch(`${ENDPOINTS}/${held.id}`, other), 400, reason, 'access token');
    }
  });

  const refused = {
    'no URL': [{ token_url: 'id.example.com' }, 'token_url must begin with http:// or https://'],
    'a URL with a password': [
      { token_url: 'https://me:secret@id.example.com/' },
      'token_url must not contain a user name or password',
    ],
    'a private address': [{ token_url: 'https://10.0.0.1/token' }, 'token_url must name a public address'],
    'the metadata of a cloud': [
      { token_url: 'http://169.254.169.254/' },
      'token_url must name a public address',
    ],
    'a client of two lines': [{ client_id: 'a\nb' }, 'client_id must be printable ASCII characters'],
    'a secret in another script': [
      { client_secret: 'ключ' },
      'client_secret must be printable ASCII characters',
    ],
    'an audience with a tab': [{ audience: 'a\tb' }, 'audience must be printable ASCII characters'],
    'scopes with two spaces': [{ scope: 'a  b' }, 'scope must be names of ASCII characters'],
    'a quoted scope': [{ scope: '"a"' }, 'scope must be names of ASCII characters'],
  } as const;
  test.each(Object.entries(refused))('are refused: %s', async (_name, [other, rule]) => {
    const { id } = await create();
    await nothingChanges(world, async () => {
      const answer = await api.patch(`${ENDPOINTS}/${id}`, { client_credentials: { ...given, ...other } });
      expectRefusal(answer, 400, 'invalid_client_credentials', `client_credentials.${rule}`);
    });
  });

  test('are set by the account: a portal neither sees nor sets them, and loses them with the origin', async () => {
    const { id } = await create({ owner: 'shop-7', client_credentials: given });
    const portal = await portalAt(api, id);
    const path = `${ENDPOINTS}/${id}`;
    expect((await portal.get(path)).body.client_credentials).toBeNull();
    for (const change of [given, null]) {
      expectRefusal(await portal.patch(path, { client_credentials: change }), 403, 'not_in_portal');
    }
    expect((await api.get(path)).body.client_credentials).toEqual(asShown);
    expect((await portal.patch(path, { url: 'https://other.example.com/' })).status).toBe(200);
    expect((await api.get(path)).body.client_credentials).toBeNull();
  });
});
