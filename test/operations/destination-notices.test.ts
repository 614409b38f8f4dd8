import sql from 'sql-template-tag';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { notifyOfAgreements } from '../../src/money/tax-profiles/agreement-alerts.ts';
import { notifyOfForms } from '../../src/money/tax-profiles/form-alerts.ts';
import { AFFILIATES, csv, type Json, makeAffiliate } from '../api/fixtures.ts';
import type { Api } from '../support/api.ts';
import { borrowWorld } from '../support/pool.ts';
import { type MailReceiver, startMailReceiver, type TakenMail } from '../support/smtp.ts';
import { until } from '../support/wire.ts';
import { standIn, type World } from '../support/world.ts';
import { noticeSender } from './notices-support.ts';

const IBAN = 'DE89370400440532013000';
const OTHER_IBAN = 'GB29NWBK60161331926819';
const CHANGED = 'Your payment details were changed';

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
      AUTHORIZE_URL: 'https://pay.example.com',
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
  api = await world.otherAccount('Northwind');
  await settings({ kinds: ['destination_changed', 'form_lapsing', 'agreement_ending'] });
  mail.taken.length = 0;
});

async function settings(affiliate_notices: object | null): Promise<void> {
  const answer = await api.patch('/v2/account', { affiliate_notices });
  expect(answer.status, answer.text).toBe(200);
}

/** Sends what is due now, and waits for an e-mail. */
const arrived: MailReceiver['untilMail'] = async (...about) => {
  await sender.send(world);
  return mail.untilMail(...about);
};

const used: string[] = [];
/** An address that no other test uses. */
const address = (name = 'ada') => `${name}${used.push('')}@example.com`;

/** Whom each notice is for, and whether it goes to a former address. */
async function listed(): Promise<[number, boolean][]> {
  const { body, status, text } = await api.get(`${AFFILIATES}/notices?sort=created_at`);
  expect(status, text).toBe(200);
  return body.data.map(({ affiliate_id, is_to_former_address, payout_id }: Json) => {
    expect(payout_id).toBeNull();
    return [affiliate_id, is_to_former_address];
  });
}

/** Sends what waits, as if its pause had passed, and returns the e-mail to an address. */
async function received(to: string, subject = CHANGED): Promise<TakenMail> {
  await world.query('update notices set due_at = now() where due_at > now()');
  return arrived(to, subject);
}
/** The text of an e-mail, without the word joiners that keep it from becoming a link. */
const wordsOf = ({ text }: TakenMail) =>
  text.slice(0, text.indexOf('<!doctype html>')).replaceAll('\u2060', '');

async function pays(id: number, iban: string, fields: object = {}): Promise<void> {
  const body = { type: 'sepa', account_holder: 'Ada Lovelace', iban, ...fields };
  const answer = await api.put(`${AFFILIATES}/${id}/destination`, body);
  expect(answer.status, answer.text).toBe(200);
}

async function changes(id: number, body: object): Promise<void> {
  const answer = await api.patch(`${AFFILIATES}/${id}`, body);
  expect(answer.status, answer.text).toBe(200);
}

describe('a changed destination', () => {
  test('the affiliate gets the last four characters, never the number; the first destination is no change', async () => {
    const email = address();
    const { id } = await makeAffiliate(api, { email, name_first: 'Ada', payout_method: null });
    await pays(id, IBAN);
    expect(await listed()).toEqual([]);
    await pays(id, OTHER_IBAN);
    await pays(id, OTHER_IBAN); // the same again
    expect(await listed()).toEqual([[id, false]]);
    const taken = await received(email);
    expect(wordsOf(taken)).toContain('You are now paid to: a bank account ending in 6819.');
    expect(wordsOf(taken)).toContain(`E-mails about your payments go to a…@example.com.`);
    expect(taken.text).not.toMatch(/GB29|3192/);
    expect(taken.header('list-unsubscribe')).not.toBeNull();
    // also for one currency only, and when it is removed
    await pays(id, IBAN, { currency: 'eur' });
    expect((await api.delete(`${AFFILIATES}/${id}/destination?currency=eur`)).status).toBe(204);
    await world.query('update notices set due_at = now() where due_at > now()');
    await arrived(email, CHANGED, 3);
    expect(mail.mailTo(email, CHANGED).slice(1).map(wordsOf).sort()).toEqual([
      expect.stringContaining('a bank account ending in 3000 (EUR).'),
      expect.stringContaining('a bank account ending in 6819 (EUR).'),
    ]);
    const stored = await world.query<{ data: Json }>('select data from notices where affiliate_id = $1', [
      id,
    ]);
    expect(JSON.stringify(stored)).not.toMatch(/DE89|GB29/);
  });

  test('whose PayPal address is replaced hears of it at that address too, in their language', async () => {
    const [email, before, after] = [address(), address('old'), address('new')];
    const { id } = await makeAffiliate(api, {
      email,
      language: 'de',
      payout_method: 'paypal',
      paypal_email: before,
    });
    await changes(id, { paypal_email: after });
    expect((await listed()).sort()).toEqual([
      [id, false],
      [id, true],
    ]);
    const subject = 'Ihre Zahlungsdaten wurden geändert';
    const former = await received(before, subject);
    expect(wordsOf(former)).toContain('Sie werden nun bezahlt über: PayPal.');
    expect(wordsOf(former)).toContain('diese Adresse bisher für Ihre Zahlungen verwendet');
    // who has only the former address cannot end the e-mails, and does not learn the new one
    expect(former.header('list-unsubscribe')).toBeNull();
    expect(former.text).not.toContain('notices/stop');
    expect(former.text).not.toContain(after);
    await received(email, subject);
    expect(mail.mailTo(after, '')).toEqual([]);
    // a bank account instead: the PayPal address is the former one
    await pays(id, IBAN);
    await received(after, subject);
  });

  test('a changed e-mail address is reported at both, a name or an equal value at neither', async () => {
    const [before, after] = [address('old'), address('new')];
    const { id } = await makeAffiliate(api, { email: before });
    const same = before.replace('old', 'Old');
    await changes(id, { name_first: 'Ada', email: same });
    expect(await listed()).toEqual([]);
    await changes(id, { email: after });
    for (const to of [same, after]) expect(wordsOf(await received(to))).toContain('go to n…@example.com');
  });

  test('two affiliates with one address each get their own; nobody without an address, and who opted out', async () => {
    const shared = address();
    const ada = await makeAffiliate(api, { email: shared, name_first: 'Ada' });
    const bob = await makeAffiliate(api, {
      email: address(),
      name_first: 'Bob',
      payout_method: 'paypal',
      paypal_email: shared,
    });
    const out = await makeAffiliate(api, { email: address(), is_notified: false });
    const none = await makeAffiliate(api, { email: 'nobody@erased.invalid' });
    for (const { id } of [ada, bob, out, none]) {
      await pays(id, IBAN);
      await pays(id, OTHER_IBAN);
    }
    const ids = (await listed()).map(([id]) => id);
    expect(new Set(ids)).toEqual(new Set([ada.id, bob.id]));
    await received(shared);
    await arrived(shared, CHANGED, 3);
    const words = mail.mailTo(shared, CHANGED).map(wordsOf);
    expect(words.filter((text) => text.includes('Hello Ada,'))).not.toEqual([]);
    expect(words.filter((text) => text.includes('Hello Bob,'))).not.toEqual([]);
    expect(words.filter((text) => /Ada.*Bob|Bob.*Ada/s.test(text))).toEqual([]);
  });

  test('an import notifies whom it redirects, not whom it creates, and its undo notifies again', async () => {
    const [email, moved, old] = [address(), address(), address('old')];
    const ada = await makeAffiliate(api, { email });
    const bob = await makeAffiliate(api, {
      email: moved,
      external_id: 'bob',
      payout_method: 'paypal',
      paypal_email: old,
    });
    await pays(ada.id, IBAN);
    mail.taken.length = 0;
    await world.query('delete from notices');
    const file = csv(
      'external_id,email,paypal_email,account_holder,iban',
      `,${email},,Ada Lovelace,${OTHER_IBAN}`,
      `bob,${moved},${address('new')},,`,
      `,${address()},,New Person,${IBAN}`,
    );
    const dry = await api.upload('/v2/imports?kind=affiliates&accept_guesses=true&dry_run=true', file);
    expect(dry.status, dry.text).toBe(200);
    expect(await listed()).toEqual([]);
    const { status, body, text } = await api.upload('/v2/imports?kind=affiliates&accept_guesses=true', file);
    expect(status, text).toBe(200);
    const expected = [
      [ada.id, false],
      [bob.id, false],
      [bob.id, true],
    ];
    expect((await listed()).sort()).toEqual(expected);
    await received(old);
    await world.query('delete from notices');
    expect((await api.post(`/v2/imports/${body.import_id}/undo`)).status).toBe(200);
    expect((await listed()).sort()).toEqual(expected);
  });

  test('nothing is written while the kind is off', async () => {
    await settings({ kinds: ['paid'] });
    const { id } = await makeAffiliate(api, { email: address() });
    await pays(id, IBAN);
    await pays(id, OTHER_IBAN);
    await changes(id, { email: address() });
    expect(await listed()).toEqual([]);
  });
});

test('a form that lapses is announced once, with the reminders for the merchant, and the next form again', async () => {
  const email = address();
  const { id } = await makeAffiliate(api, { email });
  const none = await makeAffiliate(api, { email: 'nobody2@erased.invalid' });
  const sign = async (affiliate: number, year: number) => {
    const answer = await api.put(`${AFFILIATES}/${affiliate}/tax-profile`, {
      ...{ legal_type: 'person', legal_name: 'Ada Lovelace', country: 'DE' },
      address: { line1: 'Hauptstr. 1', city: 'Berlin', postal_code: '10115' },
      form: { type: 'w8ben', signed_on: `${year}-01-01` },
    });
    expect(answer.status, answer.text).toBe(200);
  };
  await sign(id, 2025);
  await sign(none.id, 2025);
  const account = (await api.get('/v2/account')).body.id;
  const on = async (day: string, step: string | null) => {
    // the chore of the server passes over books that are locked, and so does this call
    await until('the account to be looked at', async () => {
      await world.db.transaction((tx) => notifyOfForms(tx, sql`${`${day}T12:00:00Z`}::timestamptz`));
      const [books] = await world.query<{ told_forms: string }>(
        `select told_forms from payout_books where public_id('acc', account_id) = $1`,
        [account],
      );
      return step === null || books?.told_forms === step;
    });
    return (await listed()).map(([affiliate]) => affiliate);
  };
  expect(await on('2028-10-01', null)).toEqual([]);
  expect(await on('2028-10-02', '2028 90')).toEqual([id]);
  expect(wordsOf(await received(email, 'Your tax form W-8BEN is valid until December 31, 2028'))).toContain(
    'Please send Northwind a new one before then.',
  );
  await world.query('delete from notices'); // as after a week
  expect(await on('2028-12-01', '2028 30')).toEqual([]);
  expect(await on('2028-12-24', '2028 7')).toEqual([]);
  await sign(id, 2026);
  expect(await on('2029-12-24', '2029 7')).toEqual([id]);
});

test('whose self-billing agreement ends hears of it with the first reminder, once for each last day', async () => {
  const email = address();
  const { id } = await makeAffiliate(api, { email, language: 'de' });
  const agree = async (expires_on: string) => {
    const answer = await api.put(`${AFFILIATES}/${id}/tax-profile`, {
      ...{ legal_type: 'person', legal_name: 'Ada Lovelace', country: 'DE' },
      address: { line1: 'Hauptstr. 1', city: 'Berlin', postal_code: '10115' },
      self_billing: { agreed_on: '2020-01-01', agreed_by: 'Ada Lovelace', expires_on },
    });
    expect(answer.status, answer.text).toBe(200);
  };
  await agree('2028-12-31');
  const account = (await api.get('/v2/account')).body.id;
  const on = async (day: string) => {
    // the chore of the server passes over books that are locked, and so does this call
    await until('the account to be looked at', async () => {
      await world.db.transaction((tx) => notifyOfAgreements(tx, sql`${`${day}T12:00:00Z`}::timestamptz`));
      const [books] = await world.query<{ day: string }>(
        `select told_agreements::text as day from payout_books where public_id('acc', account_id) = $1`,
        [account],
      );
      return books?.day === day;
    });
    return (await listed()).map(([affiliate]) => affiliate);
  };
  expect(await on('2028-10-01')).toEqual([]);
  expect(await on('2028-10-02')).toEqual([id]);
  const taken = await received(email, 'Ihre Vereinbarung über Gutschriften gilt bis zum 31. Dezember 2028');
  expect(wordsOf(taken)).toContain('Bitte vereinbaren Sie dies vorher mit Northwind neu.');
  await world.query('delete from notices'); // as after a week
  expect(await on('2028-12-01')).toEqual([]);
  await agree('2029-12-31');
  expect(await on('2029-12-24')).toEqual([id]);
});
