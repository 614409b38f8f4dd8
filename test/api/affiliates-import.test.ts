import { beforeEach, describe, expect, test } from 'vitest';
import { useAccount, useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  allOf,
  csv,
  eventsOf,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  nothingChanges,
  onlyAudited,
  PAYOUTS,
} from './fixtures.ts';

const world = useWorld();
/** An account of its own for each test. */
const api = useAccount(world);

const upload = (file: string | Uint8Array, query = '') => api.upload(`${AFFILIATES}/import${query}`, file);
/** Affiliates as events show them: a list adds the owed amounts. */
const plain = (people: readonly Json[]) =>
  people.map(
    ({
      balance: _,
      last_paid_at: __,
      destination_type: ___,
      paid_through: ____,
      has_tax_profile: _____,
      ...affiliate
    }) => affiliate,
  );
const stored = async () => plain(await allOf(api, `${AFFILIATES}?sort=id`));

async function refused(file: string | Uint8Array, reason: string, ...parts: string[]) {
  await nothingChanges(world, async () => expectRefusal(await upload(file), 400, reason, ...parts));
}

describe('a file of affiliates', () => {
  test('sets legal type and country, and keeps both where it has no such column', async () => {
    const header = 'email,legal_type,country';
    const rows = ['ada@example.com,business,ie', 'bob@example.com,person,', 'cyd@example.com,,DE'];
    expect((await upload(csv(header, ...rows))).body).toMatchObject({ created: 3 });
    const found = async () => (await stored()).map(({ legal_type, country }) => [legal_type, country]);
    const all = [
      ['business', 'IE'],
      ['person', null],
      [null, 'DE'],
    ];
    expect(await found()).toEqual(all);
    expect((await upload(csv(header, ...rows))).body).toMatchObject({ unchanged: 3 });
    expect((await upload(csv('email,slug', 'ada@example.com,ada'))).body).toMatchObject({ updated: 1 });
    expect(await found()).toEqual(all);
    await refused(csv(header, 'ada@example.com,company,IE'), 'invalid_lines', 'legal_type must be one of');
    await refused(
      csv(header, 'ada@example.com,person,Ireland'),
      'invalid_lines',
      'country must be two letters',
    );
  });

  test('creates missing affiliates, with every column and an event for each', async () => {
    const answer = await upload(
      csv(
        'external_id,email,name_first,name_last,slug,paypal_email,payout_method,is_ready_for_payout,status',
        'a,ada@example.com,Ada,"Lovelace, Countess",ada,pay@example.com,paypal,false,inactive',
        ',bob@example.com,,,,,,,',
        'c,cyd@example.com,=cmd(),Zoë 🎉,,,wise,TRUE,active',
      ),
    );
    expect(answer.body).toEqual({
      object: 'affiliate_import',
      dry_run: false,
      lines: 3,
      created: 3,
      updated: 0,
      unchanged: 0,
      failed: 0,
      methods_set: 0,
      errors: [],
    });
    const [ada, bob, cyd] = await stored();
    expect(ada).toMatchObject({
      external_id: 'a',
      email: 'ada@example.com',
      name_first: 'Ada',
      name_last: 'Lovelace, Countess',
      slug: 'ada',
      paypal_email: 'pay@example.com',
      payout_method: 'paypal',
      is_ready_for_payout: false,
      status: 'inactive',
      minimum_payout: null,
    });
    expect(bob).toMatchObject({
      external_id: null,
      name_first: null,
      is_ready_for_payout: true,
      status: 'active',
    });
    expect(cyd).toMatchObject({ name_first: '=cmd()', name_last: 'Zoë 🎉', payout_method: 'wise' });
    const events = await eventsOf(world, api, 'affiliate.created');
    expect(events.map(({ payload }) => payload.data)).toEqual([ada, bob, cyd]);
  });

  test('changes existing affiliates, found by external_id, else by e-mail in any case', async () => {
    const byId = await makeAffiliate(api, { external_id: 'a', email: 'ada@example.com', name_first: 'Old' });
    const byMail = await makeAffiliate(api, { email: 'bob@example.com', name_first: 'Old' });
    const answer = await upload(
      csv(
        'external_id,email,name_first',
        'a,ada@new.example,New',
        ',BOB@example.com,New',
        'c,cyd@example.com,New',
      ),
    );
    expect(answer.body).toMatchObject({ created: 1, updated: 2, unchanged: 0, failed: 0 });
    const people = await stored();
    expect(people.slice(0, 2)).toMatchObject([
      { id: byId.id, external_id: 'a', email: 'ada@new.example', name_first: 'New' },
      { id: byMail.id, external_id: null, email: 'BOB@example.com', name_first: 'New' },
    ]);
    expect((await eventsOf(world, api, 'affiliate.updated')).map(({ payload }) => payload.data)).toEqual(
      people.slice(0, 2),
    );
  });

  test('gives an external_id to an affiliate without one', async () => {
    const bob = await makeAffiliate(api, { email: 'bob@example.com' });
    expect((await upload(csv('external_id,email', 'b,bob@example.com'))).body).toMatchObject({
      updated: 1,
      created: 0,
    });
    expect(await stored()).toMatchObject([{ id: bob.id, external_id: 'b' }]);
  });

  test('clears a field with an empty cell and keeps fields without a column', async () => {
    const ada = await makeAffiliate(api, {
      external_id: 'a',
      email: 'ada@example.com',
      name_first: 'Ada',
      name_last: 'Lovelace',
      paypal_email: 'pay@example.com',
      is_ready_for_payout: false,
      status: 'inactive',
      minimum_payout: { usd: 5 },
    });
    await upload(csv('email,name_first,paypal_email', 'ada@example.com,,'));
    const [after] = await stored();
    expect(after).toEqual({ ...ada, name_first: null, paypal_email: null, updated_at: after?.updated_at });
  });

  test('without changes writes nothing', async () => {
    const file = csv('external_id,email,name_first', 'a,ada@example.com,Ada', ',bob@example.com,');
    await upload(file);
    await onlyAudited(world, async () =>
      expect((await upload(file)).body).toMatchObject({ lines: 2, created: 0, updated: 0, unchanged: 2 }),
    );
  });

  test('that changes a destination raises the revision of the unpaid payout once', async () => {
    const [ada, bob] = [
      await makeAffiliate(api, { email: 'ada@example.com' }),
      await makeAffiliate(api, { email: 'bob@example.com' }),
    ];
    for (const { id } of [ada, bob]) await makeCommission(api, id);
    await makePayout(api);
    await upload(csv('email,slug', 'ada@example.com,ada'));
    const revision = async () => (await api.get(`${PAYOUTS}/current`)).body.revision;
    expect(await revision()).toBe(1);
    await upload(csv('email,paypal_email', 'ada@example.com,a@pay.example', 'bob@example.com,b@pay.example'));
    expect(await revision()).toBe(2);
    const { affiliates } = (await api.get(`${PAYOUTS}/current`)).body;
    expect(affiliates.map((line: Json) => line.paypal_email)).toEqual(['a@pay.example', 'b@pay.example']);
    expect(await eventsOf(world, api, 'payout.updated')).toHaveLength(1);
  });

  test('does not change other accounts', async () => {
    const other = await world.otherAccount();
    const theirs = await makeAffiliate(other, { external_id: 'a', email: 'ada@example.com' });
    expect((await upload(csv('external_id,email,name_first', 'a,ada@example.com,Mine'))).body.created).toBe(
      1,
    );
    expect(plain(await allOf(other, AFFILIATES))[0]).toEqual(theirs);
  });
});

describe('conflicting lines are named, and nothing is written:', () => {
  const header = 'external_id,email,name_first';

  beforeEach(async () => {
    await makeAffiliate(api, { external_id: 'a', email: 'ada@example.com' });
    await makeAffiliate(api, { external_id: 'b', email: 'bob@example.com' });
  });

  test.each([
    ['an external_id twice', ['x,x@example.com,', 'x,y@example.com,'], ['line 3', 'external_id']],
    ['an e-mail address twice, in any case', ['x,x@example.com,', 'y,X@Example.com,'], ['line 3', 'email']],
    ['an e-mail address of another affiliate', ['a,bob@example.com,'], ['line 2', 'email']],
    ['a new one with a used address', ['z,ada@example.com,'], ['line 2', 'email']],
    ['the same one by external_id and by e-mail', ['a,new@example.com,', ',ada@example.com,'], ['line 3']],
  ])('%s', async (_, lines, parts) => {
    await refused(
      csv(header, 'fine,fine@example.com,', ...lines).replace('fine,fine@example.com,\n', ''),
      'invalid_lines',
      ...parts,
    );
    const partial = await upload(csv(header, ...lines), '?dry_run=true');
    expect(partial.body.failed).toBe(1);
  });

  test.each([
    [',,Ada', 'email'],
    ['x,nobody,', 'email'],
    [`x,${'x'.repeat(320)}@example.com,`, 'email'],
    [`${'x'.repeat(256)},x@example.com,`, 'external_id'],
    [`x,x@example.com,${'x'.repeat(201)}`, 'name_first'],
  ])('%s violates the rule of %s', async (line, column) => {
    await refused(
      csv(header, 'fine,fine@example.com,', line),
      'invalid_lines',
      '1 of 2',
      `line 3: ${column}`,
    );
  });

  test.each([
    ['payout_method', 'bank'],
    ['payout_method', 'PayPal'],
    ['is_ready_for_payout', 'yes'],
    ['is_ready_for_payout', '1'],
    ['status', 'gone'],
    ['paypal_email', 'nobody'],
  ])('%s cannot be %s', async (column, value) => {
    await refused(
      csv(`email,${column}`, `x@example.com,${value}`),
      'invalid_lines',
      `line 2: ${column}`,
      value,
    );
  });

  test('two affiliates cannot swap addresses', async () => {
    await nothingChanges(world, async () => {
      const answer = await upload(csv(header, 'a,bob@example.com,', 'b,ada@example.com,'));
      expectRefusal(answer, 400, 'invalid_lines', 'line 2', 'line 3');
    });
  });

  test('with partial the other lines are imported', async () => {
    const file = csv(
      header,
      'a,bob@example.com,New',
      'b,bob@example.com,New',
      'c,cyd@example.com,New',
      'd,nobody,New',
    );
    const dry = await nothingChanges(world, () => upload(file, '?dry_run=true'));
    const answer = await upload(file, '?partial=true');
    expect({ ...answer.body, dry_run: true }).toEqual(dry.body);
    expect(answer.body).toMatchObject({ lines: 4, failed: answer.body.errors.length });
    expect(answer.body.errors.map((error: Json) => error.line)).toContain(5);
    expect((await stored()).find(({ external_id }) => external_id === 'c')?.name_first).toBe('New');
    expect((await stored()).find(({ external_id }) => external_id === 'a')?.email).toBe('ada@example.com');
  });

  test('fifteen hundred bad lines: the first thousand are reported and all are counted', async () => {
    const file = csv('email', ...Array.from({ length: 1500 }, (_, index) => `nobody${index}`));
    const dry = await nothingChanges(world, () => upload(file, '?dry_run=true'));
    expect(dry.body).toMatchObject({ lines: 1500, failed: 1500 });
    expect(dry.body.errors).toHaveLength(1000);
    await refused(file, 'invalid_lines', '1500 of 1500', 'and 1480 more');
  });
});

describe('a file as a whole is refused for', () => {
  test.each<[string, string | Uint8Array, string[]]>([
    ['being empty', '', ['empty']],
    ['an unknown column', csv('email,colour', 'a@example.com,red'), ['line 1', 'colour']],
    ['a column it may not set', csv('email,minimum_payout', 'a@example.com,5'), ['line 1', 'minimum_payout']],
    ['a column twice', csv('email,email', 'a@example.com,a@example.com'), ['line 1', 'email']],
    ['no e-mail column', csv('external_id', 'a'), ['line 1', 'email']],
    ['another encoding', Buffer.from(csv('email,name_first', 'a@example.com,Zoë'), 'latin1'), ['UTF-8']],
    ['a NUL character', csv('email', 'a@exa\0mple.com'), ['NUL']],
    ['a quote that never ends', csv('email,name_first', 'a@example.com,"Ada'), ['line']],
    ['a line with one cell too many', csv('email', 'a@example.com,b'), ['line 2']],
  ])('%s', async (_, file, parts) => {
    await refused(file, 'invalid_file', ...parts);
  });

  test('nothing when it has only a header', async () => {
    await onlyAudited(world, async () =>
      expect((await upload('email\n')).body).toMatchObject({ lines: 0, created: 0, updated: 0 }),
    );
  });
});
