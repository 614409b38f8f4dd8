import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  AFFILIATES,
  completePayout,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  PAYOUTS,
} from '../api/fixtures.ts';
import type { Api } from '../support/api.ts';
import { borrowWorld } from '../support/pool.ts';
import { type MailReceiver, startMailReceiver, type TakenMail } from '../support/smtp.ts';
import { until } from '../support/wire.ts';
import { standIn, type World } from '../support/world.ts';
import { noticeSender } from './notices-support.ts';

const BASE = 'https://pay.example.com';
const ON = { kinds: ['paid', 'returned'], reply_to: 'pay@shop.example' };

const sender = noticeSender();
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
    },
  });
  await until('the e-mail chore to be recorded', async () => {
    const [row] = await world.query(`select from server_settings where key = 'chore e-mail'`);
    return row !== undefined;
  });
});
afterAll(async () => {
  await sender.close();
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

async function settings(affiliate_notices: object | null, of = api): Promise<void> {
  const answer = await of.patch('/v2/account', { affiliate_notices });
  expect(answer.status, answer.text).toBe(200);
}

/** Sends what is due now, and waits for an e-mail. */
const arrived: MailReceiver['untilMail'] = async (...about) => {
  await sender.send(world);
  return mail.untilMail(...about);
};

const used: string[] = [];
/** An address that no other test uses. */
const address = () => `ada${used.push('')}@example.com`;

/** As if the pauses before waiting notices had passed. */
const passTime = () => world.query(`update notices set due_at = now() where due_at > now()`);

async function listed(query = '', of = api): Promise<Json[]> {
  const { body, status, text } = await of.get(`${AFFILIATES}/notices?sort=created_at${query}`);
  expect(status, text).toBe(200);
  return body.data;
}

/** Owes each affiliate an amount and pays them in one payout. */
async function pay(
  ids: readonly number[],
  { of = api, amount = 123_450, currency = 'eur' } = {},
): Promise<Json> {
  for (const id of ids) await makeCommission(of, id, { amount, currency });
  return completePayout(of, await makePayout(of));
}

/** The first part of an e-mail: its text. */
const wordsOf = ({ text }: TakenMail) => text.slice(0, text.indexOf('<!doctype html>'));
const stopLinkOf = (taken: TakenMail) => new URL(taken.header('list-unsubscribe')?.slice(1, -1) ?? '');
/** The same address at the server under test. */
const here = ({ pathname, search }: URL) => `${world.url}${pathname}${search}`;

describe('paid', () => {
  test('each affiliate gets one e-mail, in their language, with a statement', async () => {
    const [email, other] = [address(), address()];
    const ada = await makeAffiliate(api, { email, name_first: 'Ada', language: 'de' });
    const bob = await makeAffiliate(api, { email: other });
    const payout = await pay([ada.id, bob.id]);
    expect(
      (await listed()).map(({ kind, affiliate_id, payout_id, status }) => [
        kind,
        affiliate_id,
        payout_id,
        status,
      ]),
    ).toEqual([
      ['paid', ada.id, payout.id, 'waiting'],
      ['paid', bob.id, payout.id, 'waiting'],
    ]);
    await passTime();
    const german = await arrived(email, 'Auszahlung: 1.234,50 €');
    expect(wordsOf(german)).toContain('Hallo Ada,');
    expect(wordsOf(german)).toContain('Läden & <i>Söhne hat Ihnen am');
    expect(wordsOf(german)).toContain('Ihre Abrechnung ist angehängt.');
    expect(german.text.slice(german.text.indexOf('<!doctype'))).toContain('Läden &amp; &lt;i&gt;Söhne');
    expect(german.header('reply-to')).toBe('pay@shop.example');
    expect(german.header('from')).toContain('<pay@example.com>');
    expect(german.text).toMatch(/statement-\d+-to-\d{4}-\d\d-\d\d\.pdf/);
    expect(german.text).toContain('JVBERi0'); // %PDF- in base64
    const english = await arrived(other, 'You were paid €1,234.50');
    expect(wordsOf(english)).toMatch(/^(?!.*Ada)/s);
    await until('both to be sent', async () => (await listed('&status=sent')).length === 2);
    await pay([bob.id]);
    await passTime();
    const again = await arrived(other, 'You were paid', 2);
    expect(again.text).toMatch(/statement-\d+-from-\d{4}-\d\d-\d\d-to-\d{4}/);
    expect(mail.taken).toHaveLength(3);
  });

  test('a rest that is carried and the reference are in the e-mail; a line that was not paid causes none', async () => {
    const [email, unpaid] = [address(), address()];
    const ada = await makeAffiliate(api, { email });
    const bob = await makeAffiliate(api, { email: unpaid });
    for (const { id } of [ada, bob]) await makeCommission(api, id, { amount: 1000, currency: 'kwd' });
    const payout = await makePayout(api);
    const entry = {
      affiliate_id: ada.id,
      is_paid: true,
      currency: 'kwd',
      amount: 750,
      payment_reference: 'https://x.example/1',
    };
    await completePayout(api, payout, [entry, { affiliate_id: bob.id, is_paid: false }]);
    await passTime();
    const words = wordsOf(await arrived(email, 'You were paid KWD 0.750'));
    expect(words).toContain('The rest of KWD 0.250 is part of your next payout.');
    expect(words).toContain('Payment reference: ');
    expect(words).not.toContain('https://x.example'); // no text of the merchant becomes a link
    expect(await listed()).toHaveLength(1);
  });

  test('with self-billing it waits for the invoice, and has it attached', async () => {
    const email = address();
    const { id } = await makeAffiliate(api, { email });
    const at = { line1: 'Hauptstr. 1', city: 'Berlin', postal_code: '10115' };
    await api.patch('/v2/account', {
      tax_profile: { legal_name: 'Muster GmbH', country: 'DE', address: at, vat_id: 'DE136695976' },
      invoicing: { rules: [{ category: 'S', rate: 1900 }] },
    });
    const profile = await api.put(`${AFFILIATES}/${id}/tax-profile`, {
      ...{ legal_type: 'business', legal_name: 'Ada GmbH', country: 'DE', address: at },
      tax_id: { type: 'vat', number: 'DE136695976' },
      self_billing: { agreed_on: '2020-01-01', agreed_by: 'Ada' },
    });
    expect(profile.status, profile.text).toBe(200);
    const payout = await pay([id], { amount: 11_900 });
    const due = async () =>
      (
        await world.query<{ minutes: number }>(
          `select round(extract(epoch from due_at - now()) / 60)::int as minutes from notices where affiliate_id = $1`,
          [id],
        )
      )[0]?.minutes;
    expect(await due()).toBeGreaterThan(30);
    expect((await api.post(`${PAYOUTS}/${payout.id}/invoices`)).body.issued).toBe(1);
    const taken = await arrived(email, 'You were paid');
    expect(wordsOf(taken)).toContain('Your invoice is attached.');
    expect(taken.text).toMatch(/invoice-SB-\d{4}-\d+\.pdf/);
    expect(taken.text).not.toContain('statement-');
  });

  test('a completion that is refused or rolled back notifies nobody, and nobody is notified twice', async () => {
    const { id } = await makeAffiliate(api, { email: address() });
    await makeCommission(api, id, { amount: 1000 });
    const payout = await makePayout(api);
    const entry = { affiliate_id: id, is_paid: true };
    const path = `${PAYOUTS}/${payout.id}`;
    expect((await api.put(path, { commissions: [entry, { ...entry, affiliate_id: 999_999 }] })).status).toBe(
      400,
    );
    // the transaction fails at its end, after the notice was written
    await world.query(`create function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'refused'; end $$`);
    await world.query(`create constraint trigger refused after insert on notices deferrable initially deferred
      for each row execute function refuse()`);
    world.expectErrors();
    expect((await api.put(path, { commissions: [entry] })).status).toBe(500);
    await world.query('drop function refuse cascade');
    expect(await listed()).toEqual([]);
    expect((await api.get(path)).body.status).toBe('unpaid');
    expect((await api.put(path, { commissions: [entry] })).status).toBe(200);
    expect((await api.put(path, { commissions: [entry] })).status).toBe(409);
    expect(await listed()).toHaveLength(1);
  });
});

describe('returned', () => {
  test('the affiliate learns the amount and the reason, once for each return', async () => {
    const email = address();
    const { id } = await makeAffiliate(api, { email, language: 'fr' });
    const payout = await pay([id], { amount: 5000 });
    const back = (body: object) => api.post(`${PAYOUTS}/${payout.id}/affiliates/${id}/returned`, body);
    const first = { amount: 2000, currency: 'eur', reason: 'compte clos.', external_id: 'r-1' };
    expect((await back(first)).status).toBe(200);
    expect((await back(first)).status).toBe(200); // the same request again
    await passTime();
    const taken = await arrived(email, 'Paiement de 20,00 € retourné');
    expect(wordsOf(taken)).toContain('a été retourné : compte clos.');
    expect(wordsOf(taken)).not.toContain('clos..');
    expect(taken.text).not.toContain('application/pdf');
    expect((await listed('&kind=returned')).length).toBe(1);
    expect((await back({ reason: 'compte clos' })).status).toBe(200);
    await passTime();
    await arrived(email, 'Paiement de 30,00 € retourné');
  });
});

describe('who gets none', () => {
  test('nothing is written until the account switches it on, nor for a kind that is off', async () => {
    await settings(null);
    const { id } = await makeAffiliate(api, { email: address() });
    await pay([id]);
    await settings({ kinds: ['returned'] });
    const payout = await pay([id]);
    expect(await listed()).toEqual([]);
    await api.post(`${PAYOUTS}/${payout.id}/affiliates/${id}/returned`, { reason: 'closed' });
    expect((await listed()).map(({ kind }) => kind)).toEqual(['returned']);
    // what waits is dropped when the kind is switched off
    await settings(null);
    await sender.send(world);
    await until('it to be dropped', async () => (await listed()).length === 0);
    expect(mail.taken).toEqual([]);
  });

  test('an affiliate without an address, and one who opted out', async () => {
    const none = await makeAffiliate(api, { email: 'Unknown-7@erased.invalid' });
    const out = await makeAffiliate(api, { email: address(), is_notified: false });
    const both = await makeAffiliate(api, { email: address() });
    await pay([none.id, out.id, both.id]);
    expect((await listed()).map(({ affiliate_id }) => affiliate_id)).toEqual([both.id]);
    await api.patch(`${AFFILIATES}/${both.id}`, { is_notified: false });
    await sender.send(world);
    await until('it to be dropped', async () => (await listed()).length === 0);
  });

  test('an erased affiliate: waiting and sent e-mails are deleted', async () => {
    const email = address();
    const { id } = await makeAffiliate(api, { email });
    await pay([id]);
    await passTime();
    await arrived(email, 'You were paid');
    await pay([id]);
    expect((await api.post(`${AFFILIATES}/${id}/erase`)).status).toBe(200);
    expect(await listed()).toEqual([]);
    await pay([(await makeAffiliate(api, { email: address() })).id]);
    expect(await world.query('select from notices where affiliate_id = $1', [id])).toEqual([]);
  });
});

test('two merchants pay one address: each e-mail has only what is its own, and its own link', async () => {
  const email = address();
  const other = await world.otherAccount('Northwind');
  await settings({ kinds: ['paid'], language: 'es' }, other);
  const [ours, theirs] = [
    await makeAffiliate(api, { email, name_first: 'Ada' }),
    await makeAffiliate(other, { email }),
  ];
  await pay([ours.id], { amount: 1111 });
  await pay([theirs.id], { of: other, amount: 2222 });
  await passTime();
  const [mine, its] = [await arrived(email, 'You were paid €11.11'), await arrived(email, 'Pago de 22,22')];
  expect(wordsOf(mine)).not.toMatch(/Northwind|22[.,]22/);
  expect(wordsOf(its)).not.toMatch(/Söhne|Ada|11[.,]11/);
  expect(its.header('reply-to')).toBeNull();
  expect(mine.header('message-id')).not.toBe(its.header('message-id'));
  expect((await listed('', other)).map(({ affiliate_id }) => affiliate_id)).toEqual([theirs.id]);
  expect((await fetch(here(stopLinkOf(mine)), { method: 'POST' })).status).toBe(200);
  expect((await api.get(`${AFFILIATES}/${ours.id}`)).body.is_notified).toBe(false);
  expect((await other.get(`${AFFILIATES}/${theirs.id}`)).body.is_notified).toBe(true);
});

describe('the link that ends the e-mails', () => {
  async function linked(fields: object = {}): Promise<{ id: number; link: URL; taken: TakenMail }> {
    const email = address();
    const { id } = await makeAffiliate(api, { email, ...fields });
    await pay([id]);
    await passTime();
    const taken = await arrived(email, '');
    return { id, taken, link: stopLinkOf(taken) };
  }
  const isNotified = async (id: number) => (await api.get(`${AFFILIATES}/${id}`)).body.is_notified;

  test('works with one click of a mail program, without signing in, and says nothing about anybody', async () => {
    const { id, taken, link } = await linked({ name_first: 'Ada', language: 'de' });
    expect(taken.header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    expect(wordsOf(taken)).toContain(link.href);
    // opening the link changes nothing: mail programs open links to check them
    const page = await fetch(here(link));
    const html = await page.text();
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(html).toContain('<html lang="de">');
    expect(html).toContain('E-Mails abbestellen');
    expect(html).not.toMatch(/Ada|Söhne|example\.com/);
    expect(await isNotified(id)).toBe(true);
    const form = new FormData();
    form.set('List-Unsubscribe', 'One-Click');
    for (const body of [form, new URLSearchParams({ 'List-Unsubscribe': 'One-Click' })]) {
      const done = await fetch(here(link), { method: 'POST', body, redirect: 'error' });
      expect(done.status).toBe(200);
      expect(done.headers.get('set-cookie')).toBeNull();
      expect(await isNotified(id)).toBe(false);
    }
  });

  test('is refused when anything in it was changed, and names nothing', async () => {
    const { id, link } = await linked();
    const other = await makeAffiliate(api);
    for (const [name, value] of [
      ['affiliate', String(other.id)],
      ['affiliate', `${id}0`],
      ['affiliate', "7' or 1=1"],
      ['link', (await (await world.otherAccount()).get('/v2/account')).body.id],
      ['sign', ''],
      ['sign', `A${link.searchParams.get('sign')?.slice(1)}`],
    ] as const) {
      const changed = new URL(link);
      changed.searchParams.set(name, value);
      for (const method of ['GET', 'POST']) expect((await fetch(here(changed), { method })).status).toBe(400);
    }
    expect([await isNotified(id), await isNotified(other.id)]).toEqual([true, true]);
  });
});

test('an e-mail that is permanently refused is shown with its error, and the account is alerted', async () => {
  const channel = await api.post('/v2/alert-channels', {
    ...{
      name: 'ops',
      format: 'webhook',
      url: 'https://example.com/hook',
      kinds: ['affiliate_notice_failed'],
    },
  });
  expect(channel.status, channel.text).toBe(201);
  mail.refuse({ code: 550, message: 'no such mailbox' });
  const { id } = await makeAffiliate(api, { email: address() });
  await pay([id]);
  await passTime();
  await sender.send(world);
  await until('it to be given up', async () => (await listed('&status=failed')).length === 1);
  const [failed] = await listed();
  expect(failed).toMatchObject({
    affiliate_id: id,
    tries: 1,
    error: expect.stringContaining('no such mailbox'),
    sent_at: null,
  });
  const alerts = await world.query<{ data: Json }>(
    `select data from notices where kind = 'affiliate_notice_failed' and public_id('alc', channel_id) = $1`,
    [channel.body.id],
  );
  expect(alerts.map(({ data }) => data)).toEqual([{}]);
});

test('a name cannot add a header or a recipient', async () => {
  const email = address();
  const names = { name_first: 'Ada\r\nBcc: evil@example.com', name_last: '<evil@example.com>, "x"' };
  const { id } = await makeAffiliate(api, { email, ...names });
  await pay([id]);
  await passTime();
  const taken = await arrived(email, 'You were paid');
  expect(taken.to).toEqual([email]);
  expect(taken.header('bcc')).toBeNull();
  expect(mail.recipients).toEqual([email]);
});

describe('the settings', () => {
  test.each<[object, ...string[]]>([
    [{ kinds: [] }, 'affiliate_notices'],
    [{ kinds: ['other'] }, 'affiliate_notices'],
    [{ kinds: ['paid'], language: 'it' }, 'affiliate_notices'],
    [{ kinds: ['paid'], reply_to: 'a@b\r\nBcc: c@d.example' }, 'affiliate_notices'],
    [{ kinds: ['paid'], reply_to: 'a,b@example.com' }, 'affiliate_notices.reply_to', 'e-mail address'],
  ])('%j is refused', async (affiliate_notices, ...words) => {
    expectRefusal(await api.patch('/v2/account', { affiliate_notices }), 400, 'invalid_body', ...words);
  });

  test('are off at first, and kept in one form', async () => {
    const fresh = await world.otherAccount();
    expect((await fresh.get('/v2/account')).body.affiliate_notices).toBeNull();
    await settings({ kinds: ['returned', 'paid'], reply_to: 'Pay@Shop.Example' }, fresh);
    expect((await fresh.get('/v2/account')).body.affiliate_notices).toEqual({
      kinds: ['paid', 'returned'],
      language: 'en',
      reply_to: 'pay@shop.example',
    });
  });

  test.each(['en', 'de', 'fr', 'es'])('the preview in %s has every line filled', async (language) => {
    for (const kind of ['paid', 'returned', 'destination_changed', 'form_lapsing', 'agreement_ending']) {
      const { body } = await api.get(`${AFFILIATES}/notices/preview?kind=${kind}&language=${language}`);
      expect(body).toMatchObject({
        kind,
        language,
        is_on: ON.kinds.includes(kind),
        is_email_sent: true,
        reply_to: ON.reply_to,
      });
      expect(`${body.subject}${body.text}`).not.toMatch(/[{}]|undefined|null/);
      expect(body.html).toContain(`<html lang="${language}">`);
    }
  });
});
