import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { savedTables } from '../../src/db/saved-tables.ts';
import { fingerprintOf, vaultOf } from '../../src/kernel/vault.ts';
import {
  AFFILIATES,
  expectRefusal,
  makeAffiliate,
  makeCommission,
  makePayout,
  PAYOUTS,
} from '../api/fixtures.ts';
import { keepHouse } from '../support/chores.ts';
import { useAccount, useWorld } from '../support/world.ts';

const world = useWorld();
const api = useAccount(world);

const sha256 = (...parts: (string | Buffer)[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

const NUMBER = '536-90-4399';
const PROFILE = {
  address: { city: 'Boston', line1: '1 Main St', postal_code: '02108', region: 'MA' },
  country: 'US',
  form: { signed_on: '2026-01-15', type: 'w9' },
  legal_name: 'Ada Lovelace',
  legal_type: 'person',
  tax_id: { number: NUMBER, type: 'us_ssn' },
};
const IMPORT =
  'email,legal_type,legal_name,tax_country,address_line1,address_city,tax_id_type,tax_id\n' +
  `ada@example.com,person,Ada,US,1 Main St,Boston,us_ssn,${NUMBER}\n`;

/** Every row of the database, as text. */
async function dump(): Promise<string> {
  const all = await Promise.all(
    (await savedTables(world.db.reader)).map(({ name }) =>
      world.query<{ line: string }>(`select t::text as line from ${name} t`),
    ),
  );
  return all.flatMap((lines) => lines.map(({ line }) => line)).join('\n');
}

/** The digests that can be computed from the parts of a request. */
const digestsOf = (method: string, url: string, body: string) => [
  sha256(body),
  sha256(`${method} ${url}\n`, body),
  sha256(`${method} ${url}\n`, sha256(body)),
];

async function expectNowhere(digests: readonly Buffer[]): Promise<void> {
  const text = await dump();
  for (const digest of digests) {
    expect(text).not.toContain(digest.toString('hex'));
    expect(text).not.toContain(digest.toString('base64'));
  }
}

test('no table has a digest that reveals a body or a file', async () => {
  const { id } = await makeAffiliate(api);
  const url = `${AFFILIATES}/${id}/tax-profile`;
  const body = JSON.stringify(PROFILE); // its keys are sorted: the canonical text
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'tax' };
  const put = await api.request('PUT', url, { body, headers });
  expect(put.status, put.text).toBe(200);

  const imports = '/v2/imports?kind=affiliates&accept_guesses=true';
  const imported = await api.request('POST', imports, {
    body: IMPORT,
    headers: { 'content-type': 'text/csv', 'idempotency-key': 'import' },
  });
  expect(imported.status, imported.text).toBe(200);

  const { id: payee } = await makeAffiliate(api, { paypal_email: 'zoe@example.com' });
  await makeCommission(api, payee);
  const payout = await makePayout(api);
  const file = await api.get(`${PAYOUTS}/${payout.id}/payment-files/paypal`);
  expect(file.status, file.text).toBe(200);
  const result = `reference,is_paid\nP${payout.number}-A${payee},true\n`;
  const results = `${PAYOUTS}/${payout.id}/results`;
  const taken = await api.request('POST', results, {
    body: result,
    headers: { 'content-type': 'text/csv', 'idempotency-key': 'result' },
  });
  expect(taken.status, taken.text).toBe(201);

  await expectNowhere([
    ...digestsOf('PUT', url, body),
    ...digestsOf('POST', imports, IMPORT),
    ...digestsOf('POST', results, result),
    sha256(file.text),
  ]);
});

test('a repeated request is recognized by its keyed digest, and another request with its key is refused', async () => {
  const { id } = await makeAffiliate(api);
  const key = { 'idempotency-key': 'again' };
  const url = `${AFFILIATES}/${id}/tax-profile`;
  const first = await api.put(url, PROFILE, key);
  expect(first.status, first.text).toBe(200);
  const again = await api.put(url, PROFILE, key);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.text).toBe(first.text);
  const other = await api.put(url, { ...PROFILE, legal_name: 'Ada Byron' }, key);
  expectRefusal(other, 409, 'idempotency_key_reused', 'another body');
});

test('a digest of the previous version is compared, and replaced by a keyed one', async () => {
  const { id } = await makeAffiliate(api);
  const key = { 'idempotency-key': 'from before' };
  const url = `${AFFILIATES}/${id}`;
  const body = { name_first: 'Ada' };
  expect((await api.patch(url, body, key)).status).toBe(200);
  const plain = sha256(`PATCH ${url}\n`, JSON.stringify(body));
  await world.query(`update idempotency_keys set request_hash = $1 where key = 'from before'`, [plain]);
  expect((await api.patch(url, body, key)).headers.get('idempotent-replayed')).toBe('true');
  expectRefusal(await api.patch(url, { name_first: 'Eve' }, key), 409, 'idempotency_key_reused');
  await keepHouse(world, 'request digests');
  await expectNowhere([plain]);
  expect((await api.patch(url, body, key)).headers.get('idempotent-replayed')).toBe('true');
  expectRefusal(await api.patch(url, { name_first: 'Eve' }, key), 409, 'idempotency_key_reused');
});

test('a digest under a lost secret key does not match any request', async () => {
  const { id } = await makeAffiliate(api);
  const key = { 'idempotency-key': 'gone' };
  const url = `${AFFILIATES}/${id}`;
  expect((await api.patch(url, { name_first: 'Ada' }, key)).status).toBe(200);
  const secret = randomBytes(32).toString('base64');
  const foreign = vaultOf(() => [secret]).digest(Buffer.alloc(32), 'x', fingerprintOf(secret));
  await world.query(`update idempotency_keys set request_hash = $1 where key = 'gone'`, [foreign]);
  const refused = await api.patch(url, { name_first: 'Ada' }, key);
  expectRefusal(refused, 409, 'idempotency_key_reused', 'secret key', 'check whether it was carried out');
});

test('a server of the previous version stores no plain digest of a file', async () => {
  const digest = sha256(IMPORT).toString('hex');
  const { account_id } = (
    await world.query<{ account_id: string }>('select id as account_id from accounts limit 1')
  )[0]!;
  await world.query(
    `insert into imports (account_id, kind, file_bytes, file_sha256, dialect, mapping, created_by)
     values ($1, 'affiliates', 1, $2, '{}', '{}', 'x')`,
    [account_id, digest],
  );
  await expectNowhere([Buffer.from(digest, 'hex')]);
});
