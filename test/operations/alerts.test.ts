import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeAffiliate, makeCommission, makePayout } from '../api/fixtures.ts';
import { makeUser } from '../people/support.ts';
import type { Api } from '../support/api.ts';
import { certificateFor } from '../support/certificate.ts';
import { keepHouse } from '../support/chores.ts';
import { rounds } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type MailReceiver, startMailReceiver } from '../support/smtp.ts';
import { until } from '../support/wire.ts';
import { standIn, type World } from '../support/world.ts';

const CHANNELS = '/v2/alert-channels';

let mail: MailReceiver;
let started: World;
let api: Api;
const world = standIn(() => started);

beforeAll(async () => {
  mail = await startMailReceiver();
  started = await borrowWorld({
    own: true,
    delivers: true,
    settings: {
      SMTP_URL: `smtp://127.0.0.1:${mail.port}?tls=off`,
      SMTP_FROM: 'Payhook <pay@example.com>',
      AUTHORIZE_URL: 'http://pay.example.com',
      DELIVERY_SCHEDULE: '0s 0s',
    },
  });
  await mailIsOn();
});
afterAll(async () => {
  await started.close();
  await mail.close();
});
beforeEach(async () => {
  api = await world.otherAccount('Läden & <b>Söhne</b>');
  mail.taken.length = 0;
  mail.recipients.length = 0;
  mail.refuse(null);
  mail.hang(false);
});

const mailIsOn = () =>
  until('the e-mail chore to be recorded', async () => {
    const [row] = await world.query(`select from server_settings where key = 'chore e-mail'`);
    return row !== undefined;
  });

/** Sends what is due now, and waits for an e-mail. */
const arrived: MailReceiver['untilMail'] = async (...about) => {
  await keepHouse(world, 'e-mail');
  return mail.untilMail(...about);
};

/** As if the minute in which alerts are gathered, or the pause before the next attempt, had passed. */
const passTime = () => world.query(`update notices set due_at = now() where due_at > now()`);

interface Noted {
  readonly kind: string;
  readonly count: number;
  readonly tries: number;
  readonly sent: boolean;
  readonly failed: boolean;
  readonly error: string | null;
}
const accountOf = async (of: Api) => (await of.get('/v2/account')).body.id.replace('acc_', '');
const noticesOf = async (of: Api) =>
  world.query<Noted>(
    `select kind, count, tries, sent_at is not null as sent, failed_at is not null as failed, error
     from notices where account_id = $1::uuid order by id`,
    [await accountOf(of)],
  );

async function failingEndpoint(of: Api): Promise<{ id: string; receiver: Receiver; close(): Promise<void> }> {
  const receiver = await startReceiver();
  receiver.respond(500);
  const { body } = await of.post('/v2/webhook-endpoints', { url: receiver.url, event_types: ['order.*'] });
  return { id: body.id, receiver, close: () => receiver.close() };
}

/** Makes an endpoint look as if it had failed for this share of the time after which it is disabled. */
const failedFor = (id: string, percent: number) =>
  world.query(
    `update endpoint_state set failures = 20, failing_since = date_trunc('milliseconds', now()) - $2 * interval '72 minutes'
     where endpoint_id = $1::uuid`,
    [id.replace('we_', ''), percent],
  );

async function waitsFor(of: Api, kind: string): Promise<void> {
  await until(`a notice of ${kind}`, async () => (await noticesOf(of)).some((each) => each.kind === kind));
}

describe('by e-mail', () => {
  test('an owner gets one alert for each step towards disabling, and one when the endpoint recovers', async () => {
    const owner = await makeUser(api, 'owner');
    const endpoint = await failingEndpoint(api);
    for (const percent of [30, 51, 55, 71, 91]) {
      await failedFor(endpoint.id, percent);
      await keepHouse(world, 'endpoint alerts');
      await keepHouse(world, 'endpoint alerts');
    }
    await passTime();
    const mailed = await arrived(owner.email, 'Endpoint failing');
    // waiting alerts are one message, with one line for each endpoint
    expect(mailed.text).toContain('90 % of the way');
    expect(mailed.text).not.toContain('50 % of the way');
    expect(mailed?.header('list-unsubscribe')).toBe('<http://pay.example.com/settings/alerts>');
    expect(mailed?.text).toContain(`http://pay.example.com/webhooks/${endpoint.id}`);
    expect((await noticesOf(api)).map(({ kind }) => kind)).toEqual([
      'invitation',
      'endpoint_failing',
      'endpoint_failing',
      'endpoint_failing',
    ]);
    await world.query(
      `update endpoint_state set failures = 0, failing_since = null, last_success_at = now() + interval '1 second'
       where endpoint_id = $1::uuid`,
      [endpoint.id.replace('we_', '')],
    );
    await keepHouse(world, 'endpoint alerts');
    await keepHouse(world, 'endpoint alerts');
    await passTime();
    const recovered = await arrived(owner.email, 'Endpoint recovered');
    expect(recovered.text).toContain('accepts events again');
    expect(await noticesOf(api)).toHaveLength(5);
    await endpoint.close();
  });

  test('an endpoint that answers 410 is reported as disabled, and its delivery not as failed', async () => {
    const owner = await makeUser(api, 'owner');
    const endpoint = await failingEndpoint(api);
    endpoint.receiver.respond(410);
    await api.post('/v2/events', { type: 'order.created', data: {} });
    await waitsFor(api, 'endpoint_disabled');
    await passTime();
    const mailed = await arrived(owner.email, 'Endpoint disabled');
    expect(mailed.text).toContain('answered 410');
    expect((await noticesOf(api)).map(({ kind }) => kind)).toEqual(['invitation', 'endpoint_disabled']);
    await endpoint.close();
  });

  test('a thousand failures are one message, and the hour has room for six', async () => {
    const owner = await makeUser(api, 'owner');
    const endpoint = await failingEndpoint(api);
    await api.post('/v2/events', { type: 'order.created', data: {} });
    await waitsFor(api, 'deliveries_failed');
    const flood = async (count: number) =>
      world.query(
        `insert into notices (account_id, kind, subject, data, is_alone, user_id, due_at)
         select account_id, kind, subject, data, false, user_id, now() from
           (select * from notices where account_id = $1::uuid and kind = 'deliveries_failed' limit 1) one, generate_series(1, $2)`,
        [await accountOf(api), count],
      );
    await flood(999);
    await passTime();
    const mailed = await arrived(owner.email, 'Deliveries failed');
    expect(mailed.text).toContain('1,000 events were not delivered');
    for (let message = 2; message <= 6; message += 1) {
      await flood(1);
      await arrived(owner.email, 'Deliveries failed', message);
    }
    await flood(5);
    await keepHouse(world, 'e-mail');
    expect(mail.mailTo(owner.email, 'Deliveries failed')).toHaveLength(6);
    // an hour later
    await world.query(
      `update notices set sent_at = sent_at - interval '61 minutes' where sent_at is not null`,
    );
    expect((await arrived(owner.email, 'Deliveries failed', 7)).text).toContain(
      '5 events were not delivered',
    );
    await endpoint.close();
  });

  test('many events that fail at two endpoints are one message with two lines', async () => {
    const owner = await makeUser(api, 'owner');
    const EACH = rounds(20, 100);
    const endpoints = [await failingEndpoint(api), await failingEndpoint(api)];
    const data = { type: 'order.created', data: {} };
    await Promise.all(Array.from({ length: EACH }, () => api.post('/v2/events', data)));
    await until('all to be given up', async () => {
      const failed = (await noticesOf(api)).filter(({ kind }) => kind === 'deliveries_failed');
      return failed.reduce((sum, { count }) => sum + count, 0) === 2 * EACH;
    });
    await passTime();
    const { text } = await arrived(owner.email, 'Deliveries failed');
    const lines = text.match(/^\d+ events were not delivered to 127\.0\.0\.1:\d+/gm) ?? [];
    expect(lines.map((line) => Number.parseInt(line, 10))).toEqual([EACH, EACH]);
    // the invitation is given up: its link was used
    const alerts = async () => (await noticesOf(api)).filter(({ kind }) => kind === 'deliveries_failed');
    await until('all to be recorded', async () => (await alerts()).every(({ sent }) => sent));
    expect(mail.mailTo(owner.email, 'Deliveries failed')).toHaveLength(1);
    for (const endpoint of endpoints) await endpoint.close();
  });

  test('everyone gets the alerts they chose, or those of their role', async () => {
    const owner = await makeUser(api, 'owner');
    const member = await makeUser(api, 'member');
    const viewer = await makeUser(api, 'viewer');
    const settings = await member.browser.call('GET', '/v2/alerts', undefined, null);
    expect(settings.body).toMatchObject({ email: member.email, is_email_sent: true, is_default: true });
    const chosen = await viewer.browser.call('PUT', '/v2/alerts', { kinds: ['import_done'] });
    expect(chosen.body).toMatchObject({ is_default: false });
    expect((await owner.browser.call('PUT', '/v2/alerts', { kinds: [] })).status).toBe(200);
    await api.upload(
      '/v2/imports?kind=affiliates&file_name=people.csv',
      'email,name\r\nada@example.com,Ada\r\n',
    );
    await passTime();
    const mailed = await arrived(viewer.email, 'Import done');
    expect(mailed.text).toContain('people.csv was imported, with 1 line.');
    expect(mail.mailTo(owner.email, 'Import done')).toEqual([]);
  });

  test('a key names the user, others choose for themselves alone, and another account finds nobody', async () => {
    const { id, browser } = await makeUser(api, 'viewer');
    const owner = await makeUser(api, 'owner');
    expect((await api.get('/v2/alerts')).reason).toBe('resource_missing');
    const of = `/v2/alerts?user_id=${id}`;
    expect((await api.put(of, { kinds: ['payout_waiting'] })).body).toMatchObject({ user_id: id });
    expect((await owner.browser.call('GET', of, undefined, null)).body).toMatchObject({ is_default: false });
    const others = `/v2/alerts?user_id=${owner.id}`;
    expect((await browser.call('PUT', others, { kinds: [] })).reason).toBe('role_too_low');
    expect((await browser.call('POST', `/v2/alerts/test?user_id=${owner.id}`, {})).status).toBe(403);
    const other = await world.otherAccount();
    const answers = [
      await other.get(of),
      await other.put(of, { kinds: [] }),
      await other.post(`/v2/alerts/test?user_id=${id}`),
    ];
    expect(answers.map(({ reason }) => reason)).toEqual(Array(3).fill('resource_missing'));
    const refused = await browser.call('PUT', '/v2/alerts', { kinds: ['everything'] });
    expect([refused.status, refused.reason]).toEqual([400, 'invalid_body']);
  });

  test('names are escaped and cannot add a header', async () => {
    await world.query(`update accounts set name = $2 where id = $1::uuid`, [
      await accountOf(api),
      'Shop\r\nBcc: evil@example.com\r\n\r\n<img src=x>',
    ]);
    const { browser, email } = await makeUser(api, 'owner');
    await browser.call('POST', '/v2/alerts/test', {});
    const mailed = await arrived(email, 'Test alert');
    expect(mailed.header('bcc')).toBeNull();
    expect(mailed.to).toEqual([email]);
    expect(mailed.text.slice(mailed.text.indexOf('text/html'))).not.toContain('<img');
    expect(mailed.text).toContain('&lt;img src=x&gt;');
  });

  test('an invitation and a password link go to their user, and are stored sealed until they are sent', async () => {
    mail.refuse({ code: 451, message: 'greylisted' });
    const { body } = await api.post('/v2/users', { email: 'new@example.com', name: 'New', role: 'member' });
    expect(body.is_emailed).toBe(true);
    const token = new URL(body.invitation_url).searchParams.get('token') ?? '-';
    await until('a refusal', () => mail.recipients.includes('new@example.com'));
    const [stored] = await world.query<{ row: string }>(
      `select n::text as row from notices n where account_id = $1::uuid`,
      [await accountOf(api)],
    );
    expect(stored?.row).not.toContain(token);
    mail.refuse(null);
    await until('it to be free', async () => (await noticesOf(api))[0]?.error?.includes('greylisted'));
    await passTime();
    const mailed = await arrived('new@example.com', 'You are invited');
    expect(mailed.text).toContain(token);
    expect(mailed.header('list-unsubscribe')).toBeNull();
    const reset = await api.post(`/v2/users/${body.id}/reset-password`);
    expect(reset.body.is_emailed).toBe(true);
    await arrived('new@example.com', 'You are invited', 2);
    await until('no link to be stored', async () => {
      const [row] = await world.query<{ links: number }>(
        `select count(link)::int as links from notices where account_id = $1::uuid`,
        [await accountOf(api)],
      );
      return row?.links === 0;
    });
  });

  test('a permanently refused recipient is given up, and the system report says so', async () => {
    mail.refuse({ code: 550, message: 'no such mailbox' });
    await api.post('/v2/users', { email: 'gone@example.com', name: 'Gone', role: 'member' });
    await until('it to be given up', async () => (await noticesOf(api))[0]?.failed);
    const system = (await world.api.get('/v2/system')).body.alerts;
    expect(system.failed_count).toBeGreaterThan(0);
    expect(system.last_error).toContain('no such mailbox');
  });

  test('after nine attempts it is given up, whatever the clock says meanwhile', async () => {
    mail.refuse({ code: 451, message: 'come back later' });
    await api.post('/v2/users', { email: 'slow@example.com', name: 'Slow', role: 'member' });
    for (let tries = 1; tries <= 9; tries += 1) {
      await keepHouse(world, 'e-mail');
      await until(`try ${tries}`, async () => {
        const [noted] = await noticesOf(api);
        return noted?.tries === tries && noted.error !== null;
      });
      // the pause was written by a clock that was years ahead and has been set back
      await world.query(`update notices set due_at = now() + interval '3 years', error = null
        where failed_at is null and account_id = '${await accountOf(api)}' and lease is null and tries < 9`);
    }
    expect((await noticesOf(api))[0]).toMatchObject({ tries: 9, failed: true });
  });

  test('a hanging server delays neither channels nor requests, and the message is sent later', async () => {
    const receiver = await startReceiver();
    mail.hang(true);
    const { body } = await api.post('/v2/users', { email: 'wait@example.com', name: 'Wait', role: 'member' });
    await until('the message to be in flight', () => mail.recipients.includes('wait@example.com'));
    const { body: channel } = await api.post(CHANNELS, { name: 'ops', format: 'slack', url: receiver.url });
    await api.post(`${CHANNELS}/${channel.id}/test`);
    await receiver.until(1);
    expect((await api.get(`/v2/users/${body.id}`)).status).toBe(200);
    mail.hang(false);
    await until('the time limit', async () => (await noticesOf(api))[0]?.error !== null);
    await passTime();
    await arrived('wait@example.com', 'You are invited');
    await receiver.close();
  });

  test('a message sent but not recorded, because the process was killed, is sent again when its lease expires', async () => {
    await api.post('/v2/users', { email: 'twice@example.com', name: 'Twice', role: 'member' });
    const first = await arrived('twice@example.com', 'You are invited');
    await until('it to be recorded', async () => (await noticesOf(api))[0]?.sent);
    const account = await accountOf(api);
    // as left by a process that is killed between the two
    await world.query(
      `update notices set sent_at = null, kind = 'test', lease = gen_random_uuid(), leased_until = now() + interval '1 minute'
       where account_id = $1::uuid`,
      [account],
    );
    await keepHouse(world, 'e-mail');
    expect(mail.mailTo('twice@example.com', '')).toHaveLength(1);
    await world.query(`update notices set leased_until = now() where account_id = $1::uuid`, [account]);
    const again = await arrived('twice@example.com', 'Test alert');
    expect(again.header('message-id')).toBe(first.header('message-id'));
  });
});

describe('to channels', () => {
  test('a webhook gets a signed message, Slack a text, and the URL is sealed', async () => {
    const receiver = await startReceiver();
    const url = `${receiver.url}?token=very-secret`;
    const { status, body: hook } = await api.post(CHANNELS, { name: 'hook', format: 'webhook', url });
    expect(status).toBe(201);
    expect(hook).toMatchObject({ host: new URL(url).host, last_sent_at: null, last_error: null });
    await api.post(CHANNELS, { name: 'slack', format: 'slack', url, kinds: ['import_done'] });
    const [stored] = await world.query<{ text: string }>(
      `select string_agg(c::text, ' ') as text from alert_channels c`,
    );
    expect(stored?.text).not.toContain(Buffer.from('very-secret').toString('hex'));
    await api.upload(
      '/v2/imports?kind=affiliates&file_name=a%26b.csv',
      'email,name\r\nada@example.com,Ada\r\n',
    );
    await passTime();
    const received = await receiver.until(2);
    const signed = received.find(({ headers }) => headers['webhook-signature']);
    const message = new Webhook(hook.secret).verify(
      signed?.body ?? '',
      signed?.headers as Record<string, string>,
    );
    expect(message).toMatchObject({
      object: 'alerts',
      account: { id: (await api.get('/v2/account')).body.id },
      alerts: [{ kind: 'import_done', count: 1, url: 'http://pay.example.com/import' }],
    });
    const slack = received.find(({ headers }) => !headers['webhook-signature']);
    expect(JSON.parse(slack?.body ?? '').text).toMatch(
      /^\*Läden &amp; &lt;b&gt;Söhne&lt;\/b&gt;: Import done\*\n• a&amp;b\.csv/,
    );
    await until('it to be recorded', async () => (await api.get(`${CHANNELS}/${hook.id}`)).body.last_sent_at);
    await receiver.close();
  });

  test('its URL may not lead where webhooks may not', async () => {
    const refused = await api.post(CHANNELS, {
      name: 'in',
      format: 'slack',
      url: 'http://169.254.169.254/latest',
    });
    expect([refused.status, refused.reason]).toEqual([400, 'invalid_url']);
  });

  test('a test shows its result, and a deleted channel gets nothing', async () => {
    const receiver = await startReceiver();
    receiver.respond(404);
    const { body: channel } = await api.post(CHANNELS, { name: 'ops', format: 'slack', url: receiver.url });
    const path = `${CHANNELS}/${channel.id}`;
    expect((await api.post(`${path}/test`)).status).toBe(200);
    await keepHouse(world, 'alert channels');
    await until('an error', async () => (await api.get(path)).body.last_error?.includes('404'));
    receiver.respond(200);
    await passTime();
    await keepHouse(world, 'alert channels');
    await until('none', async () => (await api.get(path)).body.last_error === null);
    expect((await api.patch(path, { name: 'people', kinds: ['payout_waiting'] })).body).toMatchObject({
      name: 'people',
      kinds: ['payout_waiting'],
    });
    expect((await api.delete(path)).status).toBe(204);
    expect((await api.get(path)).reason).toBe('resource_missing');
    expect(await noticesOf(api)).toEqual([]);
    await receiver.close();
  });

  test('another account finds none of it', async () => {
    const { body: channel } = await api.post(CHANNELS, {
      name: 'ops',
      format: 'slack',
      url: 'https://hooks.example.com/x',
    });
    const other = await world.otherAccount();
    const path = `${CHANNELS}/${channel.id}`;
    const answers = [
      await other.get(path),
      await other.patch(path, { name: 'mine' }),
      await other.post(`${path}/test`),
      await other.delete(path),
    ];
    expect(answers.map(({ reason }) => reason)).toEqual(Array(4).fill('resource_missing'));
    expect((await other.get(CHANNELS)).body.data).toEqual([]);
    expect((await api.get(path)).body.name).toBe('ops');
  });
});

test('a payout that is unpaid for a day is reported once', async () => {
  await makeUser(api, 'member');
  await makeCommission(api, (await makeAffiliate(api)).id);
  await makePayout(api);
  const kinds = async () => (await noticesOf(api)).map(({ kind }) => kind);
  await keepHouse(world, 'payout alerts');
  expect(await kinds()).toEqual(['invitation']);
  await lookInTwoDays();
  expect(await kinds()).toEqual(['invitation', 'payout_waiting']);
});

/** Looks at payouts with a clock two days ahead, twice. */
async function lookInTwoDays(): Promise<void> {
  await world.query(`create function public.id_time_before(id uuid) returns timestamptz language sql immutable as
    $$ select to_timestamp(('x0000' || substr(encode(uuid_send(id), 'hex'), 1, 12))::bit(64)::bigint / 1000.0) $$`);
  await world.query(`create or replace function id_time(id uuid) returns timestamptz language sql immutable parallel safe as
    $$ select id_time_before(id) - interval '2 days' $$`);
  await keepHouse(world, 'payout alerts');
  await keepHouse(world, 'payout alerts');
  await world.query(`create or replace function id_time(id uuid) returns timestamptz language sql immutable parallel safe as
    $$ select id_time_before(id) $$`);
}

describe('the expiry of a client certificate', () => {
  const DAY_MS = 86_400_000;
  const endIn = (days: number) => `${new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 19)}Z`;
  const make = async (days: number) => {
    const ends = endIn(days).replaceAll(/[-:T]/g, '').slice(2);
    const { cert, key } = certificateFor('payhook', { ends });
    return { certificate: cert, key };
  };
  /** An endpoint with a certificate that expires in this many days. */
  async function endingEndpoint(days: number): Promise<string> {
    const { status, text, body } = await api.post('/v2/webhook-endpoints', {
      url: 'https://shop.example.com/hooks?token=very-secret',
      client_certificate: await make(days),
    });
    expect(status, text).toBe(201);
    return body.id;
  }
  /** As if the clock had been moved: the expiry comes nearer or moves away. */
  const moveEnd = (id: string, days: number) =>
    world.query(
      `update webhook_endpoints
       set egress = jsonb_set(egress::jsonb, '{client_certificate,expires_at}', to_jsonb($2::text))::json where id = $1::uuid`,
      [id.replace('we_', ''), endIn(days)],
    );
  async function look(): Promise<number> {
    for (let round = 0; round < 2; round += 1) await keepHouse(world, 'certificate alerts');
    return (await noticesOf(api)).filter(({ kind }) => kind === 'certificate_ending').length;
  }

  test('is reported 30, 7 and 1 days before and when it has come, each once', async () => {
    const owner = await makeUser(api, 'owner');
    const id = await endingEndpoint(31);
    expect(await look()).toBe(0);
    const counts: number[] = [];
    for (const days of [29, 8, 6, 2, 0.9, 0.1, -0.1, -40]) {
      await moveEnd(id, days);
      counts.push(await look());
    }
    expect(counts).toEqual([1, 1, 2, 2, 3, 3, 4, 4]);
    await passTime();
    const { text } = await arrived(owner.email, 'Client certificate expiring');
    expect(text).toMatch(
      /endpoint at shop\.example\.com expired at \d{4}-\d\d-\d\d \d\d:\d\d UTC\. Set the next one: /,
    );
    expect(text).toContain(`http://pay.example.com/webhooks/${id}`);
    expect(text).not.toContain('very-secret');
  });

  test('is reported for the next certificate too, and not for one that was replaced, removed or is unused', async () => {
    await makeUser(api, 'owner');
    const id = await endingEndpoint(5);
    const path = `/v2/webhook-endpoints/${id}`;
    expect(await look()).toBe(1);
    const change = async (fields: object) => expect((await api.patch(path, fields)).status).toBe(200);
    // another egress field does not make another certificate
    await change({ proxy: 'http://proxy.example.com:3128' });
    expect(await look()).toBe(1);
    await change({ client_certificate: await make(100) });
    expect(await look()).toBe(1);
    await change({ client_certificate: await make(5) });
    expect(await look()).toBe(2);
    await change({ client_certificate: await make(6) });
    await change({ status: 'disabled' });
    expect(await look()).toBe(2);
    await change({ status: 'enabled' });
    expect(await look()).toBe(3);
    await change({ client_certificate: null });
    await endingEndpoint(5).then((other) => api.delete(`/v2/webhook-endpoints/${other}`));
    expect(await look()).toBe(3);
  });

  test('is reported again when the clock was far ahead and has been set back', async () => {
    await makeUser(api, 'owner');
    const id = await endingEndpoint(60);
    await moveEnd(id, -300);
    expect(await look()).toBe(1);
    await moveEnd(id, 60);
    expect(await look()).toBe(1);
    await moveEnd(id, 29);
    expect(await look()).toBe(2);
  });
});
