import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { portalAt } from '../access/portal-support.ts';
import { ENDPOINTS, EVENTS, expectRefusal, type Json } from '../api/fixtures.ts';
import { makeUser } from '../people/support.ts';
import type { Api } from '../support/api.ts';
import { keepHouse } from '../support/chores.ts';
import { someOf } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { startReceiver } from '../support/receiver.ts';
import { type MailReceiver, startMailReceiver, type TakenMail } from '../support/smtp.ts';
import { until } from '../support/wire.ts';
import { standIn, useAccount, useWorld, type World } from '../support/world.ts';

const BASE = 'https://pay.example.com';
const PORTAL = 'https://shop.example/webhooks';
const ON = { portal_url: PORTAL, reply_to: 'help@shop.example' };
const CONFIRM = 'Confirm this address';
const URL_OF_SHOP = 'https://receiver.example.com/hook';

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
      AUTHORIZE_URL: BASE,
      DELIVERY_SCHEDULE: '0s',
    },
  });
  await until('the e-mail chore to be recorded', async () => {
    const [row] = await world.query(`select from server_settings where key = 'chore e-mail'`);
    return row !== undefined;
  });
});
afterAll(async () => {
  await started.close();
  await mail.close();
});
beforeEach(async () => {
  api = await world.otherAccount('Läden & <i>Söhne');
  await settings(ON);
  mail.taken.length = 0;
  mail.recipients.length = 0;
  mail.refuse(null);
});

async function settings(contact_notices: object | null, of = api): Promise<void> {
  const answer = await of.patch('/v2/account', { contact_notices });
  expect(answer.status, answer.text).toBe(200);
}

/** Sends what is due now, and waits for an e-mail. */
const arrived: MailReceiver['untilMail'] = async (...about) => {
  await keepHouse(world, 'contact notices', 'e-mail');
  return mail.untilMail(...about);
};

const used: string[] = [];
/** An address that no other test uses. */
const address = () => `ops${used.push('')}@example.com`;
const pathOf = (id: string, rest = '') => `${ENDPOINTS}/${id}${rest}`;

async function make(fields: object, of = api): Promise<Json> {
  const { status, text, body } = await of.post(ENDPOINTS, { url: URL_OF_SHOP, ...fields });
  expect(status, text).toBe(201);
  return body;
}
const contactOf = async (id: string, of = api) => {
  const { contact_email, contact_status } = (await of.get(pathOf(id))).body;
  return [contact_email, contact_status];
};

/** The first part of an e-mail: its text. */
const wordsOf = ({ text }: TakenMail) => text.slice(0, text.indexOf('<!doctype html>'));
const linkIn = (taken: TakenMail) =>
  new URL(/https:\/\/pay\.example\.com\/notices\/confirm\S+/.exec(wordsOf(taken))?.[0] ?? '');
const stopLinkOf = (taken: TakenMail) => new URL(taken.header('list-unsubscribe')?.slice(1, -1) ?? '');
/** Follows a link at the server under test. */
async function follow({ pathname, search }: URL, method = 'POST'): Promise<{ status: number; html: string }> {
  const response = await fetch(`${world.url}${pathname}${search}`, { method });
  return { status: response.status, html: await response.text() };
}

/** Waits for the link to an address and confirms it. */
async function confirm(email: string, count = 1): Promise<void> {
  const { status, html } = await follow(linkIn(await arrived(email, CONFIRM, count)));
  expect(status, html).toBe(200);
}
async function makeConfirmed(email: string, fields: object = {}, of = api): Promise<Json> {
  const endpoint = await make({ contact_email: email, ...fields }, of);
  await confirm(email);
  return endpoint;
}

const uuid = (id: string) => id.replace(/^we_/, '');
/** As if the pauses before waiting notices had passed. */
const passTime = () => world.query(`update notices set due_at = now() where due_at > now()`);
const noticesOf = (id: string) =>
  world.query<{ kind: string; sent: boolean; failed: boolean }>(
    `select kind, sent_at is not null as sent, failed_at is not null as failed from notices
     where endpoint_id = $1::uuid order by id`,
    [uuid(id)],
  );
/** Makes an endpoint look as if it had failed for this share of the time after which it is disabled. */
async function failedFor(id: string, percent: number): Promise<void> {
  await world.query(
    `update endpoint_state set failures = 20, failing_since = date_trunc('milliseconds', now()) - $2 * interval '72 minutes'
     where endpoint_id = $1::uuid`,
    [uuid(id), percent],
  );
  await keepHouse(world, 'endpoint alerts');
}

describe('the address', () => {
  test('gets one e-mail with a link, and nothing else until the link was opened and confirmed', async () => {
    const email = address();
    const endpoint = await make({ contact_email: email.toUpperCase() });
    expect([endpoint.contact_email, endpoint.contact_status]).toEqual([email, 'waiting']);
    await failedFor(endpoint.id, 51);
    await passTime();
    const asked = await arrived(email, CONFIRM);
    expect(wordsOf(asked)).toContain('Läden & <i>Söhne was asked to e-mail this address');
    expect(asked.text.slice(asked.text.indexOf('<!doctype'))).toContain('Läden &amp; &lt;i&gt;Söhne');
    // whoever set the address may have chosen the URL too
    expect(asked.text).not.toContain('receiver.example.com');
    expect(asked.header('reply-to')).toBe(ON.reply_to);
    expect(asked.header('list-unsubscribe')).toBeNull();
    const link = linkIn(asked);
    await until('the link to be removed from the database', async () => {
      return (await world.query('select from notices where link is not null')).length === 0;
    });
    // mail programs open links to check them
    const page = await follow(link, 'GET');
    expect(page.status).toBe(200);
    expect(page.html).toContain('Läden &amp; &lt;i&gt;Söhne');
    expect(page.html).not.toContain(email);
    expect(await contactOf(endpoint.id)).toEqual([email, 'waiting']);
    expect((await follow(link)).status).toBe(200);
    expect(await contactOf(endpoint.id)).toEqual([email, 'confirmed']);
    // once
    for (const method of ['GET', 'POST']) expect((await follow(link, method)).status).toBe(400);
    expect((await noticesOf(endpoint.id)).map(({ kind }) => kind)).toEqual(['contact_confirmation']);
    expect(mail.recipients).toEqual([email]);
    expect(JSON.stringify(world.log)).not.toContain(link.searchParams.get('token'));
  });

  test('the link of an expired, wrong or removed endpoint confirms nothing', async () => {
    const [late, gone] = [address(), address()];
    const expired = await make({ contact_email: late });
    const removed = await make({ contact_email: gone });
    const [lateLink, goneLink] = [linkIn(await arrived(late, CONFIRM)), linkIn(await arrived(gone, CONFIRM))];
    await world.query(`update webhook_endpoints set contact_expires_at = now() where id = $1::uuid`, [
      uuid(expired.id),
    ]);
    expect(await contactOf(expired.id)).toEqual([late, 'expired']);
    expect((await api.delete(pathOf(removed.id))).status).toBe(204);
    const wrong = new URL(lateLink);
    wrong.searchParams.set('token', `${lateLink.searchParams.get('token')?.slice(0, -1)}0`);
    const none = new URL(lateLink);
    none.searchParams.delete('token');
    for (const link of [lateLink, goneLink, wrong, none])
      for (const method of ['GET', 'POST']) {
        const { status, html } = await follow(link, method);
        expect(status).toBe(400);
        expect(html).toContain('This link is not complete, was used before, or no longer works.');
      }
    expect(await contactOf(expired.id)).toEqual([late, 'expired']);
    const kept = await world.query(
      `select from webhook_endpoints where id = $1::uuid and num_nonnulls(contact_email, contact_hash, contact_expires_at) > 0`,
      [uuid(removed.id)],
    );
    expect(kept).toEqual([]);
  });

  test('another address must be confirmed again: the first one and its link end', async () => {
    const [first, second, third] = [address(), address(), address()];
    const { id } = await make({ contact_email: first });
    const old = linkIn(await arrived(first, CONFIRM));
    const changed = await api.patch(pathOf(id), { contact_email: second });
    expect(changed.body).toMatchObject({ contact_email: second, contact_status: 'waiting' });
    expect((await follow(old)).status).toBe(400);
    await confirm(second);
    await api.patch(pathOf(id), { contact_email: third });
    await failedFor(id, 51);
    await passTime();
    await arrived(third, CONFIRM);
    expect(await contactOf(id)).toEqual([third, 'waiting']);
    expect((await noticesOf(id)).every(({ kind }) => kind === 'contact_confirmation')).toBe(true);
    // the same again sends nothing, none removes it
    await api.patch(pathOf(id), { contact_email: third, description: 'same' });
    expect(await noticesOf(id)).toHaveLength(3);
    const none = await api.patch(pathOf(id), { contact_email: null });
    expect(none.body).toMatchObject({ contact_email: null, contact_status: 'none' });
    expectRefusal(await api.post(pathOf(id, '/confirm-contact')), 409, 'nothing_to_confirm', 'contact_email');
  });

  test('that was confirmed for one endpoint of an owner is confirmed for the others, not for those of another owner', async () => {
    const email = address();
    const waiting = await make({ contact_email: email, owner: 'ada' });
    const first = await make({ contact_email: email, owner: 'ada' });
    await confirm(email, 2);
    expect([(await contactOf(first.id))[1], (await contactOf(waiting.id))[1]]).toEqual([
      'confirmed',
      'confirmed',
    ]);
    expect((await make({ contact_email: email, owner: 'ada' })).contact_status).toBe('confirmed');
    expect((await make({ contact_email: email, owner: 'bob' })).contact_status).toBe('waiting');
    const other = await world.otherAccount();
    await settings({}, other);
    // the third of a day was to bob
    expect((await make({ contact_email: email, owner: 'ada' }, other)).contact_status).toBe('unsent');
  });

  test.each(['ada', 'ada@', 'a,b@example.com', 'a@b\r\nBcc: c@d.example'])(
    '%j is refused',
    async (contact_email) => {
      expectRefusal(
        await api.post(ENDPOINTS, { url: URL_OF_SHOP, contact_email }),
        400,
        'invalid_body',
        'contact_email',
      );
    },
  );
});

describe('no more links than', () => {
  test('three to one address within a day, from however many accounts at once', async () => {
    const email = address();
    const accounts = await Promise.all(Array.from({ length: 6 }, () => world.otherAccount()));
    const made = await Promise.all(
      accounts.map(async (of) => {
        await settings({}, of);
        return make({ contact_email: email }, of);
      }),
    );
    expect(made.map(({ contact_status }) => contact_status).sort()).toEqual([
      ...Array(3).fill('unsent'),
      ...Array(3).fill('waiting'),
    ]);
    // the endpoint keeps the address, and the refusal says why
    const { id } = await make({ contact_email: email });
    expect(await contactOf(id)).toEqual([email, 'unsent']);
    const refused = await api.post(pathOf(id, '/confirm-contact'));
    expectRefusal(refused, 429, 'rate_limited', '3 links are sent to one address within a day');
    expect(refused.headers.get('retry-after')).toBe('3600');
    await world.query(`update notices set id = r.moved
      from (select id as was, id_floor(now() - interval '25 hours' - make_interval(secs => (row_number() over (order by id))::int)) as moved
            from notices) r where r.was = notices.id`);
    expect((await api.post(pathOf(id, '/confirm-contact'))).body.contact_status).toBe('waiting');
  });

  test('five for one endpoint within a day, and fifty from one account within an hour', async () => {
    const { id } = await make({});
    const states: string[] = [];
    for (let count = 0; count < 6; count += 1)
      states.push((await api.patch(pathOf(id), { contact_email: address() })).body.contact_status);
    expect(states).toEqual([...Array(5).fill('waiting'), 'unsent']);
    const { body: account } = await api.get('/v2/account');
    await world.query(
      `insert into notices (account_id, kind, data, is_alone, endpoint_id, due_at, sent_at)
       select $1::uuid, 'contact_confirmation', '{}', true, $2::uuid, now_ms(), now_ms() from generate_series(1, 44)`,
      [account.id.replace('acc_', ''), uuid(id)],
    );
    expect((await make({ contact_email: address() })).contact_status).toBe('waiting');
    expect((await make({ contact_email: address() })).contact_status).toBe('unsent');
    // links to people are counted apart
    await makeUser(api, 'owner');
  });
});

describe('the contact', () => {
  test('gets one e-mail for each step: failing, disabled, works again; with the merchant, the portal and an end', async () => {
    const email = address();
    const receiver = await startReceiver();
    receiver.respond(410);
    const { id } = await makeConfirmed(email, { url: receiver.url, event_types: ['order.*'] });
    await failedFor(id, 51);
    await keepHouse(world, 'endpoint alerts');
    await passTime();
    const failing = await arrived(email, 'Your webhook endpoint is failing');
    expect(wordsOf(failing).replaceAll('\u2060', '')).toContain(
      `Every attempt to send events of Läden & <i>Söhne to ${new URL(receiver.url).host} fails. The endpoint is 50 % of the way`,
    );
    expect(wordsOf(failing)).toContain(PORTAL);
    expect(wordsOf(failing)).toContain('Questions? Write to help@shop.example.');
    expect(failing.header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    await api.post(EVENTS, { type: 'order.created', data: {} });
    await until('it to be disabled', async () => (await api.get(pathOf(id))).body.status === 'disabled');
    await passTime();
    const disabled = await arrived(email, 'Your webhook endpoint was disabled');
    expect(wordsOf(disabled)).toContain('because it answered 410 (gone).');
    receiver.respond(200);
    await api.patch(pathOf(id), { status: 'enabled' });
    await api.post(EVENTS, { type: 'order.created', data: {} });
    await receiver.until(2);
    await until(
      'the success to be recorded',
      async () => (await api.get(pathOf(id))).body.last_success_at !== null,
    );
    await world.query(
      `update endpoint_state set last_success_at = add_span(told_at, interval '1 second') where endpoint_id = $1::uuid`,
      [uuid(id)],
    );
    await keepHouse(world, 'endpoint alerts');
    await passTime();
    await arrived(email, 'Your webhook endpoint works again');
    await keepHouse(world, 'endpoint alerts', 'contact notices');
    expect(mail.taken.filter(({ to }) => to.includes(email)).map(({ subject }) => subject)).toEqual([
      'Confirm this address for e-mails about a webhook endpoint',
      'Your webhook endpoint is failing',
      'Your webhook endpoint was disabled',
      'Your webhook endpoint works again',
    ]);
    await receiver.close();
  });

  test('gets only the latest of what waits, and nothing of what is done by hand', async () => {
    const email = address();
    const { id } = await makeConfirmed(email);
    await until('the link to be recorded as sent', async () => (await noticesOf(id))[0]?.sent);
    for (const percent of [51, 71, 91]) await failedFor(id, percent);
    await passTime();
    const failing = await arrived(email, 'Your webhook endpoint is failing');
    expect(wordsOf(failing)).toContain('90 % of the way');
    await until('it to be recorded', async () => (await noticesOf(id)).every(({ sent }) => sent));
    expect((await noticesOf(id)).map(({ kind }) => kind)).toEqual([
      'contact_confirmation',
      'endpoint_failing',
    ]);
    await api.patch(pathOf(id), { status: 'disabled' });
    expect(await noticesOf(id)).toHaveLength(2);
  });

  const LANGUAGES = [
    ['de', 'Ihr Webhook-Endpunkt ist gestört', 'Bestätigen Sie diese Adresse', 'Adresse bestätigen'],
    ['fr', 'Votre endpoint webhook échoue', 'Confirmez cette adresse', 'Confirmer l’adresse'],
    ['es', 'Su endpoint de webhooks falla', 'Confirme esta dirección', 'Confirmar la dirección'],
  ] as const;
  test.each(someOf(LANGUAGES, 1))(
    'reads %s if the account chose it',
    async (language, failing, asking, button) => {
      await settings({ language });
      const email = address();
      const { id } = await make({ contact_email: email });
      const asked = await arrived(email, asking);
      const link = linkIn(asked);
      const page = await follow(link, 'GET');
      expect(page.html).toContain(`<html lang="${language}">`);
      expect(page.html).toContain(button);
      expect((await follow(link)).status).toBe(200);
      await failedFor(id, 51);
      await passTime();
      const taken = await arrived(email, failing);
      expect(wordsOf(taken)).not.toMatch(/[{}]|undefined|null|example\/webhooks/);
      expect(taken.text).toContain(`<html lang="${language}">`);
    },
  );

  test('ends the e-mails with one click, and nobody else can', async () => {
    const [email, next] = [address(), address()];
    const { id } = await makeConfirmed(email);
    await failedFor(id, 51);
    await passTime();
    const link = stopLinkOf(await arrived(email, 'is failing'));
    expect(link.href).not.toContain(email);
    const other = await make({ contact_email: address() });
    for (const [name, value] of [
      ['endpoint', other.id],
      ['to', 'a'.repeat(64)],
      ['sign', ''],
      ['link', (await (await world.otherAccount()).get('/v2/account')).body.id],
    ] as const) {
      const changed = new URL(link);
      changed.searchParams.set(name, value);
      for (const method of ['GET', 'POST']) expect((await follow(changed, method)).status).toBe(400);
    }
    const page = await follow(link, 'GET');
    expect(page.html).toContain('Stop the e-mails');
    expect(page.html).not.toMatch(/Söhne|receiver\.example|@example/);
    expect(await contactOf(id)).toEqual([email, 'confirmed']);
    for (let again = 0; again < 2; again += 1) expect((await follow(link)).status).toBe(200);
    expect(await contactOf(id)).toEqual([null, 'none']);
    // the link of a former contact does not end the e-mails to the next
    await api.patch(pathOf(id), { contact_email: next });
    expect((await follow(link)).status).toBe(200);
    expect((await contactOf(id))[0]).toBe(next);
  });

  test('that is refused permanently is reported to the account, without the address', async () => {
    const owner = await makeUser(api, 'owner');
    const email = address();
    const { id } = await makeConfirmed(email);
    mail.refuse({ code: 550, message: 'no such mailbox' });
    await failedFor(id, 51);
    await passTime();
    await keepHouse(world, 'contact notices', 'e-mail');
    await until('it to be given up', async () => (await noticesOf(id)).some(({ failed }) => failed));
    mail.refuse(null);
    await passTime();
    const alert = await arrived(owner.email, 'E-mail to the contact of an endpoint failed');
    expect(alert.text).not.toContain(email);
    expect(alert.text).toContain(`${BASE}/webhooks/${id}`);
  });
});

describe('in a portal', () => {
  test('the customer sets, confirms, changes and removes the address of their own endpoints only', async () => {
    const [email, others] = [address(), address()];
    const { id } = await make({ owner: 'ada' });
    const foreign = await make({ owner: 'bob', contact_email: others });
    const portal = await portalAt(api, id, { all_of_owner: true });
    const viewer = await portalAt(api, id, { all_of_owner: true, read_only: true });
    const set = await portal.patch(pathOf(id), { contact_email: email });
    expect(set.body).toMatchObject({ contact_email: email, contact_status: 'waiting' });
    await arrived(email, CONFIRM);
    const again = await portal.post(pathOf(id, '/confirm-contact'));
    expect(again.body.contact_status).toBe('waiting');
    await confirm(email, 2);
    expect(await contactOf(id, portal)).toEqual([email, 'confirmed']);
    expect(await contactOf(id, viewer)).toEqual([email, 'confirmed']);
    expect((await viewer.patch(pathOf(id), { contact_email: null })).status).toBe(403);
    expect((await viewer.post(pathOf(id, '/confirm-contact'))).status).toBe(403);
    for (const answer of [
      await portal.get(pathOf(foreign.id)),
      await portal.patch(pathOf(foreign.id), { contact_email: email }),
      await portal.post(pathOf(foreign.id, '/confirm-contact')),
    ])
      expectRefusal(answer, 404, 'resource_missing');
    expect((await portal.get(ENDPOINTS)).text).not.toContain(others);
    expect((await portal.patch(pathOf(id), { contact_email: null })).body.contact_status).toBe('none');
  });

  test('an event about an endpoint, which goes to other endpoints, is without the address', async () => {
    const receiver = await startReceiver();
    await make({ url: receiver.url, event_types: ['webhook_endpoint.disabled'] });
    const { id } = await make({ owner: 'ada', contact_email: address() });
    await api.patch(pathOf(id), { status: 'disabled' });
    await receiver.until(1);
    const sent = JSON.parse(receiver.received[0]?.body ?? '');
    expect(sent.data).toMatchObject({ id, contact_email: null });
    await receiver.close();
  });
});

test('two merchants notify one address: each e-mail has only what is its own, and its own link', async () => {
  const email = address();
  const other = await world.otherAccount('Northwind');
  await settings({ portal_url: 'https://north.example/hooks' }, other);
  const ours = await makeConfirmed(email);
  const theirs = await make({ contact_email: email, url: 'https://north.example.com/in' }, other);
  expect((await contactOf(theirs.id, other))[1]).toBe('waiting');
  await confirm(email, 2);
  for (const { id } of [ours, theirs]) await failedFor(id, 51);
  await passTime();
  await arrived(email, 'is failing', 2);
  const [mine, its] = ['Söhne', 'Northwind'].map((name) =>
    mail.mailTo(email, 'is failing').find((taken) => wordsOf(taken).includes(name)),
  ) as [TakenMail, TakenMail];
  expect(wordsOf(mine)).not.toMatch(/Northwind|north/);
  expect(wordsOf(its)).not.toMatch(/Söhne|shop\.example/);
  expect((await follow(stopLinkOf(mine))).status).toBe(200);
  expect([await contactOf(ours.id), await contactOf(theirs.id, other)]).toEqual([
    [null, 'none'],
    [email, 'confirmed'],
  ]);
  expectRefusal(await other.post(pathOf(ours.id, '/confirm-contact')), 404, 'resource_missing');
});

describe('who gets none', () => {
  test('nothing is sent until the account switches it on; what waits is dropped when it is switched off', async () => {
    await settings(null);
    const email = address();
    const { id, contact_status } = await make({ contact_email: email });
    expect(contact_status).toBe('off');
    const path = pathOf(id, '/confirm-contact');
    expectRefusal(await api.post(path), 409, 'email_not_sent', 'contact_notices');
    await settings(ON);
    expect(await contactOf(id)).toEqual([email, 'unsent']);
    expect((await api.post(path)).body.contact_status).toBe('waiting');
    await confirm(email);
    await failedFor(id, 51);
    await settings(null);
    await passTime();
    await keepHouse(world, 'contact notices');
    expect((await noticesOf(id)).map(({ kind }) => kind)).toEqual(['contact_confirmation']);
    expect(mail.mailTo(email, 'failing')).toEqual([]);
  });

  test.each<[object, ...string[]]>([
    [{ portal_url: 'shop.example' }, 'contact_notices.portal_url'],
    [{ portal_url: 'http://shop.example' }, 'contact_notices.portal_url', 'https'],
    [{ portal_url: 'https://a:b@shop.example' }, 'contact_notices.portal_url', 'credentials'],
    [{ portal_url: 'javascript:alert(1)' }, 'contact_notices.portal_url'],
    [{ language: 'it' }, 'contact_notices'],
    [{ reply_to: 'a,b@example.com' }, 'contact_notices.reply_to'],
  ])('the setting %j is refused', async (contact_notices, ...words) => {
    expectRefusal(await api.patch('/v2/account', { contact_notices }), 400, 'invalid_body', ...words);
  });
});

describe('a server without SMTP_URL', () => {
  const silent = useWorld();
  const account = useAccount(silent);

  test('keeps the address, says that nothing is sent, and refuses to send the link', async () => {
    await settings(ON, account);
    const made = await account.post(ENDPOINTS, { url: URL_OF_SHOP, contact_email: 'ops@example.com' });
    expect(made.body).toMatchObject({ contact_email: 'ops@example.com', contact_status: 'off' });
    const refused = await account.post(pathOf(made.body.id, '/confirm-contact'));
    expectRefusal(refused, 409, 'email_not_sent', 'SMTP_URL');
    expect(await silent.query('select from notices where endpoint_id is not null')).toEqual([]);
  });
});
