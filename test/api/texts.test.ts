import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isOnNode } from '../support/cell-of-file.ts';
import { useWorld } from '../support/world.ts';
import {
  AFFILIATES,
  COMMISSIONS,
  EVENTS,
  expectRefusal,
  type Json,
  makeAffiliate,
  makeCommission,
  unique,
} from './fixtures.ts';

const world = useWorld();
const { api } = world;

// é as one character, and as e with a combining accent
const COMPOSED = '\u00E9';
const DECOMPOSED = 'e\u0301';

const idsOf = async (query: string) =>
  (await api.get(`${AFFILIATES}?${query}`)).body.data.map(({ id }: Json) => id);
const upload = (path: string, ...lines: string[]) => api.upload(path, [...lines, ''].join('\n'));
const setStored = (id: number, column: string, value: string) =>
  world.query(`update affiliates set ${column} = $1 where id = $2`, [value, id]);

describe('texts that look the same are the same', () => {
  test('stored composed, found and unique in either form', async () => {
    const made = await makeAffiliate(api, {
      email: `ren${DECOMPOSED}@example.com`,
      name_first: `Ren${DECOMPOSED}`,
      paypal_email: `pay.ren${DECOMPOSED}@example.com`,
    });
    expect(made).toMatchObject({ email: `ren${COMPOSED}@example.com`, name_first: `Ren${COMPOSED}` });
    for (const form of [COMPOSED, DECOMPOSED]) {
      expect(await idsOf(`search=REN${encodeURIComponent(form)}`)).toEqual([made.id]);
      expect(await idsOf(`email=ren${encodeURIComponent(form)}@example.com`)).toEqual([made.id]);
      const again = await api.post(AFFILIATES, { email: `ren${form}@example.com` });
      expectRefusal(again, 409, 'duplicate_email', 'email');
      const unchanged = await upload(
        `${AFFILIATES}/import`,
        'email,name_first',
        `ren${form}@example.com,Ren${form}`,
      );
      expect(unchanged.body).toMatchObject({ unchanged: 1, created: 0 });
      const line = `"${unique('file')}",ren${form}@example.com,1.00`;
      const taken = await upload(`${COMMISSIONS}/import`, 'external_id,affiliate_email,amount', line);
      expect(taken.body).toMatchObject({ created: 1, failed: 0 });
    }
  });

  test.skipIf(isOnNode())(
    'also after an upgrade, except addresses that two affiliates would share',
    async () => {
      const { query } = world;
      const folder = new URL('../../migrations/', import.meta.url);
      const textOf = (name: string) => readFileSync(new URL(name, folder), 'utf8');
      await query('create schema before');
      await query('set search_path to before, public');
      try {
        const files = readdirSync(folder).filter((name) => name.endsWith('.sql'));
        for (const name of files.toSorted().filter((each) => each < '0012')) await query(textOf(name));
        await query(`insert into accounts (name) values ('One'), ('Two')`);
        const add = `insert into affiliates (account_id, email, name_first, slug)
        select id, $2, $3, $3 from accounts where name = $1`;
        for (const [account, email] of [
          ['One', `a${DECOMPOSED}@x.org`],
          ['One', `B${DECOMPOSED}@x.org`],
          ['One', `b${COMPOSED}@x.org`],
          ['Two', `b${DECOMPOSED}@x.org`],
          ['One', 'plain@x.org'],
        ] as const)
          await query(add, [account, email, `N${DECOMPOSED}`]);
        await query(textOf('0012_composed_texts.sql'));
        expect(
          await query('select email, name_first, slug, paypal_email from affiliates order by id'),
        ).toEqual(
          [
            `a${COMPOSED}@x.org`,
            `B${DECOMPOSED}@x.org`,
            `b${COMPOSED}@x.org`,
            `b${COMPOSED}@x.org`,
            'plain@x.org',
          ].map((email) => ({
            email,
            name_first: `N${COMPOSED}`,
            slug: `N${COMPOSED}`,
            paypal_email: null,
          })),
        );
      } finally {
        await query('set search_path to default');
        await query('drop schema before cascade');
      }
    },
  );
});

const ODD = ['a<b>@c.d', 'a,b@c', 'b..c@x.org', 'a\u200Bb@x.org', 'a\u0007@x.org'];

describe('a text that is not an e-mail address', () => {
  test.each(ODD)('%j is refused wherever one is given', async (odd) => {
    const { id } = await makeAffiliate(api);
    for (const [answer, field] of [
      [await api.post(AFFILIATES, { email: odd }), 'email'],
      [await api.post(AFFILIATES, { email: 'fine@x.org', paypal_email: odd }), 'paypal_email'],
      [await api.patch(`${AFFILIATES}/${id}`, { email: odd }), 'email'],
      [await api.patch(`${AFFILIATES}/${id}`, { paypal_email: odd }), 'paypal_email'],
      [await api.post('/v2/users', { email: odd, name: 'Bob', role: 'member' }), 'email'],
      [
        await api.post(COMMISSIONS, {
          external_id: unique('odd'),
          affiliate_id: id,
          amount: 1,
          customer_email: odd,
        }),
        'customer_email',
      ],
    ] as const) {
      expectRefusal(answer, 400, 'invalid_body', `${field} must be an e-mail address such as`);
    }
    const quoted = `"${odd}"`;
    expectRefusal(
      await upload(`${AFFILIATES}/import`, 'email,paypal_email', `fine@x.org,${quoted}`),
      400,
      'invalid_lines',
      'line 2: paypal_email must be an e-mail address',
    );
    expectRefusal(
      await upload(
        `${COMMISSIONS}/import`,
        'external_id,affiliate_id,amount,customer_email',
        `${unique('odd')},${id},1.00,${quoted}`,
      ),
      400,
      'invalid_lines',
      'line 2: customer_email must be an e-mail address',
    );
  });

  test('works on where it was accepted earlier, and need not be changed', async () => {
    const odd = 'b..c@x.org';
    const { id } = await makeAffiliate(api, { external_id: unique('kept') });
    await setStored(id, 'email', odd);
    expect(await idsOf(`email=${odd}`)).toEqual([id]);
    const renamed = await api.patch(`${AFFILIATES}/${id}`, { email: odd, name_first: 'Bo' });
    expect([renamed.status, renamed.body.email, renamed.body.name_first]).toEqual([200, odd, 'Bo']);
    const file = await upload(`${AFFILIATES}/import`, 'email,name_first', `${odd},Beau`);
    expect(file.body).toMatchObject({ updated: 1, failed: 0 });
    const line = `${unique('kept')},${odd},1.00`;
    expect(
      (await upload(`${COMMISSIONS}/import`, 'external_id,affiliate_email,amount', line)).body,
    ).toMatchObject({ created: 1 });
    expectRefusal(await api.patch(`${AFFILIATES}/${id}`, { paypal_email: odd }), 400, 'invalid_body');
    expectRefusal(
      await upload(`${AFFILIATES}/import`, 'email,paypal_email', `${odd},${odd}`),
      400,
      'invalid_lines',
      'line 2: paypal_email must',
    );
  });
});

describe('an id of the merchant', () => {
  const odd = [' a', 'a ', 'a\tb', 'a\u0000b', 'a\u200Bb', '\u00A0a'];

  test.each(odd)('%j is refused wherever one is created', async (id) => {
    const affiliate = (await makeAffiliate(api)).id;
    const sale = { external_id: unique('sale'), affiliate_id: affiliate, amount: 1 };
    const { id: commission } = await makeCommission(api, affiliate);
    for (const [path, body, field] of [
      [AFFILIATES, { email: `${unique('id')}@x.org`, external_id: id }, 'external_id'],
      [COMMISSIONS, { ...sale, external_id: id }, 'external_id'],
      [COMMISSIONS, { ...sale, order_id: id }, 'order_id'],
      [COMMISSIONS, { ...sale, order_line_id: id }, 'order_line_id'],
      [COMMISSIONS, { ...sale, product_id: id }, 'product_id'],
      [`${COMMISSIONS}/batch`, { commissions: [{ ...sale, order_id: id }] }, 'commissions[0].order_id'],
      [`${AFFILIATES}/${affiliate}/adjustments`, { external_id: id, amount: 1 }, 'external_id'],
      [`${COMMISSIONS}/${commission}/refund`, { external_id: id }, 'external_id'],
      ['/v2/affiliates/refunds', { external_id: unique('r'), order_id: id }, 'order_id'],
      [EVENTS, { type: 'shop.paid', data: {}, external_id: id }, 'external_id'],
    ] as const) {
      const answer = await api.post(path, body);
      // PostgreSQL accepts no NUL, and bodies with one are refused as a whole
      expectRefusal(
        answer,
        400,
        'invalid_body',
        ...(id.includes('\0') ? [] : [`${field} must not begin or end`]),
      );
    }
    for (const column of ['external_id', 'order_id', 'order_line_id', 'product_id']) {
      if (id.includes('\0')) continue;
      const header = column === 'external_id' ? 'affiliate_id,amount' : 'external_id,affiliate_id,amount';
      const cells = column === 'external_id' ? `${affiliate},1.00` : `${unique('file')},${affiliate},1.00`;
      expectRefusal(
        await upload(`${COMMISSIONS}/import`, `${header},${column}`, `${cells},"${id}"`),
        400,
        'invalid_lines',
        `line 2: ${column} must not begin or end`,
      );
    }
  });

  test('accepted earlier is found, refunded and kept', async () => {
    const { id } = await makeAffiliate(api);
    await setStored(id, 'external_id', ' old ');
    expect((await api.patch(`${AFFILIATES}/${id}`, { external_id: ' old ', slug: 's' })).status).toBe(200);
    expect(
      (await upload(`${AFFILIATES}/import`, 'external_id,email', '" old ",old@x.org')).body,
    ).toMatchObject({
      updated: 1,
    });
    const { id: commission, external_id } = await makeCommission(api, id, { order_id: unique('order') });
    await world.query(`update commissions set order_id = ' 7', order_line_id = 'l ' where external_id = $1`, [
      external_id,
    ]);
    const refund = { external_id: unique('refund'), order_id: ' 7' };
    expectRefusal(
      await api.post('/v2/affiliates/refunds', { ...refund, lines: [{ order_line_id: 'm ' }] }),
      400,
      'invalid_body',
      'lines[0].order_line_id must not begin or end',
    );
    const taken = await api.post('/v2/affiliates/refunds', { ...refund, lines: [{ order_line_id: 'l ' }] });
    expect([taken.status, taken.body.status]).toEqual([201, 'applied']);
    expect((await api.get(`${COMMISSIONS}/${commission}`)).body.status).toBe('voided');
  });
});
