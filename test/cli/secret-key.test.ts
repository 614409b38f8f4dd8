import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { openEmbedded } from '../../src/db/embedded/open.ts';
import { digestPrefix, fingerprintOf, sealPrefix, vaultOf } from '../../src/kernel/vault.ts';
import { type Api, apiOf } from '../support/api.ts';
import { certificateFor } from '../support/certificate.ts';
import { isLong, longRun, someOf } from '../support/depth.ts';
import { agree, letInvoice, VAT_ID } from '../support/invoicing.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startMailReceiver } from '../support/smtp.ts';
import { until } from '../support/wire.ts';
import { runOn } from './here.ts';
import { type Machine, type RunOptions, type Started, startMachine, startServer } from './support.ts';

const NEW = 'the new secret key, long enough for the rule';
const client = certificateFor('payhook');
const MORE = 190; // endpoints, so that a rotation takes several batches

const cleanups: (() => Promise<unknown>)[] = [];
let machine: Machine;
const run = (args: readonly string[], options: Pick<RunOptions, 'env'>) => runOn(machine)(args, options);
beforeEach(() => {
  machine = startMachine();
  cleanups.push(() => machine.close());
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** The environment of a test: settings of the processes, the API key, and a superuser's connection. */
interface Installation {
  readonly env: Readonly<Record<string, string>>;
  apiKey(): string;
  superuser(): Promise<pg.Client>;
}

const DELIVERY = { DELIVERY_ALLOW_CIDRS: '127.0.0.0/8', DELIVERY_SCHEDULE: '0s 1s 1s 1s 1s 1s 1s 1s' };

async function onEmbedded(): Promise<Installation> {
  await machine.init();
  return {
    env: DELIVERY,
    apiKey: () => readFileSync(join(machine.dataDir, 'first-api-key'), 'utf8').trim(),
    async superuser() {
      const database = await openEmbedded({ dataDir: machine.dataDir, purpose: 'command' });
      await database.close(); // without a process group: the server launched it
      return connected({ ...database.superuser, database: database.connection.database });
    },
  };
}

/** A database on the PostgreSQL of the run. */
async function onOwnPostgres(): Promise<Installation & { readonly key: string }> {
  const { host, port, user, password, superuser, superuserPassword, ...postgres } = inject('postgres');
  const name = `payhook_key_${randomBytes(8).toString('hex')}`;
  const asAdmin = async (statement: string) => {
    const admin = await connected({
      host,
      port,
      user: superuser,
      password: superuserPassword,
      database: 'postgres',
    });
    await admin.query(statement);
  };
  await asAdmin(`create database ${name} template ${postgres.templates[0].name} owner ${user}`);
  const credentials = [user, ...(password ? [password] : [])].map(encodeURIComponent).join(':');
  return {
    env: {
      ...DELIVERY,
      DATABASE_URL: `postgres://${credentials}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
    },
    key: postgres.secretKey,
    apiKey: () => postgres.templates[0].key,
    superuser: () => connected({ host, port, user: superuser, password: superuserPassword, database: name }),
  };
}

async function connected(config: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(config);
  client.on('error', () => undefined);
  await client.connect();
  cleanups.push(() => client.end().catch(() => undefined));
  return client;
}

interface Endpoint {
  readonly id: string;
  readonly secret: string;
  readonly receiver: Receiver;
}

/** An endpoint with a header of its own and a receiver. */
async function makeEndpoint(api: Api): Promise<Endpoint> {
  const receiver = await startReceiver();
  cleanups.push(() => receiver.close());
  const made = await api.post('/v2/webhook-endpoints', {
    url: receiver.url,
    event_types: ['order.*'],
    headers: { 'x-token': 'the value of a header' },
    client_certificate: { certificate: client.cert, key: client.key },
  });
  expect(made.status, made.text).toBe(201);
  return { id: made.body.id, secret: made.body.secret, receiver };
}

/** An invoice that names a tax id; the path of its file. */
async function makeInvoice(api: Api): Promise<string> {
  await letInvoice(api);
  const affiliate = (await api.post('/v2/affiliates', { email: 'invoiced@example.com' })).body.id;
  await agree(api, affiliate);
  const commission = { affiliate_id: affiliate, external_id: 'i1', currency: 'eur', amount: 100 };
  await api.post('/v2/affiliates/commissions', { ...commission, type: 'bonus' });
  const payout = `/v2/affiliates/payouts/${(await api.post('/v2/affiliates/payouts')).body.id}`;
  await api.put(payout, { commissions: [{ affiliate_id: affiliate, is_paid: true }] });
  expect((await api.post(`${payout}/invoices`)).body.issued).toBe(1);
  const { body: list } = await api.get('/v2/affiliates/invoices');
  return `/v2/affiliates/invoices/${list.data[0].id}/download?format=xml`;
}

/** An alert channel, a bank account and the tax id of an invoice, which are sealed too; `check` uses them. */
async function makeSealed(api: Api): Promise<{ check(): Promise<void> }> {
  const receiver = await startReceiver();
  cleanups.push(() => receiver.close());
  const channel = await api.post('/v2/alert-channels', {
    name: 'ops',
    format: 'webhook',
    url: receiver.url,
  });
  expect(channel.status, channel.text).toBe(201);
  const invoice = await makeInvoice(api);
  const affiliate = (await api.post('/v2/affiliates', { email: 'ada@example.com' })).body.id;
  const iban = 'DE89370400440532013000';
  const bank = { type: 'sepa', account_holder: 'Ada Lovelace', iban };
  expect((await api.put(`/v2/affiliates/${affiliate}/destination`, bank)).status).toBe(200);
  const debtor = { name: 'Shop', iban: 'DE02120300000000202051' };
  expect((await api.patch('/v2/account', { debtor })).status).toBe(200);
  const commission = { affiliate_id: affiliate, external_id: 'c1', currency: 'eur', amount: 100 };
  await api.post('/v2/affiliates/commissions', { ...commission, type: 'bonus' });
  const payout = (await api.post('/v2/affiliates/payouts')).body.id;
  return {
    async check() {
      const before = receiver.received.length;
      await api.post(`/v2/alert-channels/${channel.body.id}/test`);
      const { headers, body } = (await receiver.until(before + 1)).at(-1) ?? {};
      new Webhook(channel.body.secret).verify(body ?? '', headers as Record<string, string>);
      const file = await api.get(`/v2/affiliates/payouts/${payout}/payment-files/sepa`);
      expect(file.text).toContain(`<IBAN>${iban}</IBAN>`);
      expect((await api.get(invoice)).text).toContain(VAT_ID);
    },
  };
}

/** Publishes an event, and checks with the published package that it arrives signed with the secret. */
async function expectSigned(api: Api, { receiver, secret }: Pick<Endpoint, 'receiver' | 'secret'>) {
  const event = await api.post('/v2/events', { type: 'order.created', data: {} });
  expect(event.status, event.text).toBe(201);
  const all = await receiver.until((come) =>
    come.some(({ headers }) => headers['webhook-id'] === event.body.id),
  );
  const come = all.find(({ headers }) => headers['webhook-id'] === event.body.id);
  const headers = come?.headers as Record<string, string>;
  new Webhook(secret).verify(come?.body ?? '', headers);
  return headers;
}

/** More endpoints without deliveries, sealed as an older version sealed them, without a key id. */
async function makeOldOnes(superuser: pg.Client, secretKey: string): Promise<void> {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'payhook vault 1', 32));
  const seal = (text: string, place: string) => {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place));
    const body = Buffer.concat([cipher.update(text), cipher.final()]);
    return Buffer.concat([Buffer.of(1), nonce, cipher.getAuthTag(), body]);
  };
  const { rows } = await superuser.query('select new_id() as id from generate_series(1, $1)', [MORE]);
  for (const { id } of rows) {
    await superuser.query(
      `with made as (
         insert into webhook_endpoints (account_id, id, url, event_types, secret)
         select id, $1, 'https://example.com/', '{none.such}', $2 from accounts returning account_id, id)
       insert into endpoint_state (account_id, endpoint_id) select account_id, id from made`,
      [id, seal(`whsec_${id}`, `webhook endpoint ${id} secret`)],
    );
  }
}

/** Checks every table: nothing is sealed under the old key, and the new key alone opens everything. */
async function expectOnly(superuser: pg.Client, newKey: string, oldKey: string): Promise<void> {
  const { rows: columns } = await superuser.query(
    `select table_name, column_name from information_schema.columns
     where table_schema = 'public' and data_type in ('bytea', 'text', 'json', 'jsonb')`,
  );
  const old = sealPrefix(fingerprintOf(oldKey)).toString('hex');
  let looked = 0;
  for (const { table_name, column_name } of columns) {
    // bytea as text is hexadecimal
    const { rows } = await superuser.query(
      `select count(*)::int as looked, count(*) filter (where position($1 in "${column_name}"::text) > 0)::int as found
       from "${table_name}" where "${column_name}" is not null`,
      [old],
    );
    expect(rows[0].found, `${table_name}.${column_name}`).toBe(0);
    looked += rows[0].looked;
  }
  expect(looked).toBeGreaterThan(10);
  for (const table of ['imports', 'payout_results', 'payment_file_downloads']) {
    const { rows: digests } = await superuser.query(
      `select count(*)::int as old from ${table} where substring(file_digest for 8) = $1`,
      [digestPrefix(fingerprintOf(oldKey))],
    );
    expect(digests[0].old, table).toBe(0);
  }
  const vault = vaultOf(() => [newKey]);
  const { rows } = await superuser.query('select * from webhook_endpoints where deleted_at is null');
  for (const { account_id: account, id, secret, previous_secret, header_values, egress_sealed } of rows) {
    const open = (sealed: Buffer, what: string) =>
      vault.open(sealed, { account, place: `webhook endpoint ${id} ${what}` });
    expect(open(secret, 'secret')).toMatch(/^whsec_/);
    if (previous_secret) expect(open(previous_secret, 'secret')).toMatch(/^whsec_/);
    if (header_values) expect(JSON.parse(open(header_values, 'headers'))).toEqual(expect.any(Array));
    if (egress_sealed) expect(JSON.parse(open(egress_sealed, 'egress'))).toEqual(expect.any(Object));
  }
}

async function countUnder(superuser: pg.Client, key: string): Promise<number> {
  const { rows } = await superuser.query(
    'select count(*)::int from webhook_endpoints where substring(secret for 9) = $1',
    [sealPrefix(fingerprintOf(key))],
  );
  return rows[0].count;
}

/** Kills a rotation in the middle: the rotation skips locked rows, and returns to them until it has them. */
async function killInTheMiddle(place: Installation, start: () => Started, newKey: () => string) {
  const superuser = await place.superuser();
  await superuser.query('begin');
  await superuser.query(
    // not `offset … for update`, which locks the skipped rows too
    `select from webhook_endpoints
     where id in (select id from webhook_endpoints order by account_id, id offset 150) for update`,
  );
  const secrets = async () => {
    const { rows } = await superuser.query(
      "select md5(string_agg(secret, ''::bytea order by id)) from webhook_endpoints",
    );
    return rows[0].md5;
  };
  const before = await secrets();
  const running = start();
  await until('the rotation has begun', async () => (await secrets()) !== before, 60_000);
  running.child.kill('SIGKILL');
  await running.ended;
  await superuser.query('commit');
  const done = await countUnder(superuser, newKey());
  expect(done).toBeGreaterThan(0);
  expect(done).toBeLessThan(MORE);
}

const stop = async ({ child, ended }: Started) => {
  child.kill('SIGTERM');
  expect((await ended).code).toBe(0);
};

longRun.test(
  'the key of a data folder is rotated while its server and a worker run, across a kill -9',
  async () => {
    const place = await onEmbedded();
    const { env } = place;
    const server = await startServer(machine, { env: { ...env, DELIVERY_WORKER: 'off' } });
    const worker = machine.start(['worker'], { env });
    await worker.printed(/is delivering/);
    const keyFile = join(machine.dataDir, 'secret-key');
    const read = (path: string) => readFileSync(path, 'utf8').trim();
    const oldKey = read(keyFile);
    const api = apiOf(server.url, place.apiKey());
    const superuser = await place.superuser();
    const endpoint = await makeEndpoint(api);
    await makeOldOnes(superuser, oldKey);
    await expectSigned(api, endpoint);
    const sealed = await makeSealed(api);
    await sealed.check();
    // two secrets sign for a while: both are sealed again
    const before = endpoint.secret;
    const { secret } = (await api.post(`/v2/webhook-endpoints/${endpoint.id}/rotate-secret`, {})).body;

    const rotate = () => machine.start(['secret-key', 'rotate'], { env });
    await killInTheMiddle(place, rotate, () => read(`${keyFile}.new`));
    expect(read(keyFile)).toBe(oldKey);
    const newKey = read(`${keyFile}.new`);
    // midway: existing secrets still sign, new values are sealed under the new key
    await expectSigned(api, { ...endpoint, secret });
    await expectSigned(api, { ...endpoint, secret: before });
    await sealed.check();
    const meanwhile = await makeEndpoint(api);
    await expectSigned(api, meanwhile);
    expect((await run(['doctor'], { env })).stdout).toContain('run payhook secret-key rotate');

    const done = await run(['secret-key', 'rotate', '--json'], { env });
    expect(done, done.stderr).toMatchObject({ code: 0 });
    expect(done.json()).toMatchObject({ fingerprint: fingerprintOf(newKey), changed: true });
    expect(read(keyFile)).toBe(newKey);
    expect(existsSync(`${keyFile}.new`)).toBe(false);
    await expectOnly(superuser, newKey, oldKey);
    expect((await expectSigned(api, { ...endpoint, secret }))['x-token']).toBe('the value of a header');
    await expectSigned(api, { ...endpoint, secret: before });
    await expectSigned(api, await makeEndpoint(api));
    await sealed.check();
    const audit = await api.get('/v2/audit-log?action=rotateSecretKey');
    expect(audit.body.data).toMatchObject([
      { actor: { kind: 'operator' }, target: fingerprintOf(newKey).slice(0, 12) },
    ]);
    await stop(worker);
    await stop(server);

    // the old key is refused with a clear message, both in the file and in the setting
    writeFileSync(keyFile, `${oldKey}\n`);
    const refused = await machine.run(['serve'], { env });
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /secret-key is the key from before the last change: set the one with the fingerprint/,
      ),
    });
    writeFileSync(keyFile, `${newKey}\n`);
    const again = await startServer(machine, { env });
    expect(
      (await apiOf(again.url, place.apiKey()).get(`/v2/webhook-endpoints/${endpoint.id}/secret`)).body.secret,
    ).toBe(secret);
    await stop(again);
  },
  180_000,
);

test('with your own database the operator gives both keys, one process after the other', async () => {
  const place = await onOwnPostgres();
  const old = { ...place.env, SECRET_KEY: place.key };
  const keyFile = machine.write('old.key', `${place.key}\n`);
  const both = { ...place.env, SECRET_KEY: NEW, SECRET_KEY_PREVIOUS_FILE: keyFile };
  const superuser = await place.superuser();
  const server = await startServer(machine, { env: old });
  const other = await startServer(machine, { env: { ...both, DELIVERY_WORKER: 'off' } });
  const api = apiOf(server.url, place.apiKey());
  const otherApi = apiOf(other.url, place.apiKey());
  // a process with both keys seals what a process with only the old key can open
  const endpoint = await makeEndpoint(otherApi);
  await makeOldOnes(superuser, place.key);
  await expectSigned(api, endpoint);

  // no process is left behind: a server with only the old key prevents the rotation
  const early = await run(['secret-key', 'rotate'], { env: both });
  expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining('do not have the new key') });
  expect(await countUnder(superuser, NEW)).toBe(0);
  const alone = await run(['secret-key', 'rotate'], { env: old });
  expect(alone).toMatchObject({ code: 1, stderr: expect.stringContaining('SECRET_KEY is the current key') });
  await stop(server);
  const restarted = await startServer(machine, { env: both });
  const restartedApi = apiOf(restarted.url, place.apiKey());

  const rotate = () => machine.start(['secret-key', 'rotate'], { env: both });
  await killInTheMiddle(place, rotate, () => NEW);
  await expectSigned(otherApi, endpoint);
  await expectSigned(restartedApi, await makeEndpoint(otherApi));
  for (const env of someOf([old, { ...place.env, SECRET_KEY: NEW }], 1)) {
    const refused = await run(['serve'], { env });
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the secret key is being rotated: set'),
    });
  }
  const done = await run(['secret-key', 'rotate'], { env: both });
  expect(done, done.stderr).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('The secret key was changed'),
  });
  await expectOnly(superuser, NEW, place.key);
  await expectSigned(restartedApi, endpoint);
  await expectSigned(otherApi, await makeEndpoint(restartedApi));
  expect((await run(['secret-key', 'rotate'], { env: both })).stdout).toContain('was already changed');

  const late = await run(['serve'], { env: old });
  expect(late).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('SECRET_KEY is the key from before the last change'),
  });
  await stop(other);
  await stop(restarted);
  if (!isLong) return;
  const last = await startServer(machine, { env: { ...place.env, SECRET_KEY: NEW } });
  await expectSigned(apiOf(last.url, place.apiKey()), endpoint);
  await stop(last);
}, 180_000);

const email = 'ops@customer.example';

/** Rotates the key while a link to the contact of an endpoint waits to be sent again; it is sealed under the new key then. */
async function rotateWithLink() {
  const mail = await startMailReceiver();
  cleanups.push(() => mail.close());
  const place = await onOwnPostgres();
  const smtp = {
    SMTP_URL: `smtp://127.0.0.1:${mail.port}?tls=off`,
    SMTP_FROM: 'pay@example.com',
    AUTHORIZE_URL: 'https://pay.example.com',
  };
  const server = await startServer(machine, { env: { ...place.env, ...smtp, SECRET_KEY: place.key } });
  const api = apiOf(server.url, place.apiKey());
  const superuser = await place.superuser();
  await until('the e-mail chore to be recorded', async () => {
    const { rows } = await superuser.query(`select from server_settings where key = 'chore e-mail'`);
    return rows.length === 1;
  });
  const contact_notices = { portal_url: 'https://shop.example/webhooks' };
  expect((await api.patch('/v2/account', { contact_notices })).status).toBe(200);
  mail.refuse({ code: 450, message: 'later' });
  const url = 'https://receiver.example.com/hook';
  const made = await api.post('/v2/webhook-endpoints', { url, contact_email: email });
  expect(made.body).toMatchObject({ contact_status: 'waiting' });
  await until('the link to be refused once', async () => mail.recipients.includes(email));
  await stop(server);
  const waiting = async () =>
    (await superuser.query('select link from notices where sent_at is null and failed_at is null')).rows;
  const before = await waiting();
  expect(before).toHaveLength(1);

  const both = { ...place.env, SECRET_KEY: NEW, SECRET_KEY_PREVIOUS: place.key };
  const done = await run(['secret-key', 'rotate'], { env: both });
  expect(done, done.stderr).toMatchObject({ code: 0 });
  await expectOnly(superuser, NEW, place.key);
  const after = await waiting();
  expect(after).toHaveLength(1);
  expect(after[0].link.equals(before[0].link)).toBe(false);
  return { mail, place, smtp, superuser, made };
}

test('a link that waits to be sent to the contact of an endpoint is sealed again by a rotation', async () => {
  await rotateWithLink();
});

longRun.test('a link that waits during a rotation is sent afterwards, and confirms the address', async () => {
  const { mail, place, smtp, superuser, made } = await rotateWithLink();
  mail.refuse(null);
  await superuser.query('update notices set due_at = now()');
  const last = await startServer(machine, { env: { ...place.env, ...smtp, SECRET_KEY: NEW } });
  const { text } = await mail.untilMail(email, 'Confirm this address');
  const { pathname, search } = new URL(
    /https:\/\/pay\.example\.com\/notices\/confirm\S+/.exec(text)?.[0] ?? '',
  );
  expect((await fetch(`${last.url}${pathname}${search}`, { method: 'POST' })).status).toBe(200);
  const { body } = await apiOf(last.url, place.apiKey()).get(`/v2/webhook-endpoints/${made.body.id}`);
  expect(body).toMatchObject({ contact_email: email, contact_status: 'confirmed' });
  await stop(last);
});

test.each(someOf(['own', 'embedded'], 1))(
  'a lost key is given up (%s): everyone affected is listed, everything else continues',
  async (kind) => {
    const own = kind === 'own' ? await onOwnPostgres() : null;
    const place = own ?? (await onEmbedded());
    const env = own ? { ...own.env, SECRET_KEY: own.key } : place.env;
    const server = await startServer(machine, { env });
    const api = apiOf(server.url, place.apiKey());
    const endpoint = await makeEndpoint(api);
    await expectSigned(api, endpoint);
    const invoice = await makeInvoice(api);
    const oldKey = own ? own.key : readFileSync(join(machine.dataDir, 'secret-key'), 'utf8').trim();
    const needless = await run(['secret-key', 'abandon', '--yes'], { env });
    expect(needless).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the secret key is not lost'),
    });
    await stop(server);

    const without = own ? { ...own.env, SECRET_KEY: NEW } : place.env;
    if (!own) rmSync(join(machine.dataDir, 'secret-key'));
    const refused = await run(['serve'], { env: without });
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('payhook secret-key abandon') });
    const unconfirmed = await run(['secret-key', 'abandon'], { env: without });
    expect(unconfirmed).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    const done = await run(['secret-key', 'abandon', '--yes', '--json'], { env: without });
    expect(done, done.stderr).toMatchObject({ code: 0 });
    expect(done.json().endpoints).toEqual([
      {
        account_id: expect.stringMatching(/^acc_/),
        id: endpoint.id,
        url: endpoint.receiver.url,
        new_secret: true,
        dropped_headers: ['x-token'],
        dropped_egress: true,
      },
    ]);
    expect(done.json().tax_ids).toHaveLength(1);
    expect(done.json().invoice_tax_ids).toEqual(done.json().tax_ids);

    const again = await startServer(machine, { env: without });
    const after = apiOf(again.url, place.apiKey());
    const { secret } = (await after.get(`/v2/webhook-endpoints/${endpoint.id}/secret`)).body;
    expect(secret).not.toBe(endpoint.secret);
    const headers = await expectSigned(after, { ...endpoint, secret });
    expect(headers).not.toHaveProperty('x-token');
    expect((await after.get(`/v2/webhook-endpoints/${endpoint.id}`)).body.headers).toEqual([]);
    const audit = await after.get('/v2/audit-log?action=abandonSecretKey');
    expect(audit.body.data.map(({ target }: { target: string }) => target)).toContain(endpoint.id);
    expect(audit.body.data).toHaveLength(3);
    expect((await after.get(invoice)).reason).toBe('tax_id_lost');
    const newKey = own ? NEW : readFileSync(join(machine.dataDir, 'secret-key'), 'utf8').trim();
    expect(done.json().fingerprint).toBe(fingerprintOf(newKey));
    await expectOnly(await place.superuser(), newKey, oldKey);
    await stop(again);
  },
  180_000,
);
