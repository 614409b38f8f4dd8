import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { borrowWorld } from '../support/pool.ts';
import { makeEndpoint, seedAttempts } from '../support/seed.ts';
import { useWorld, type World } from '../support/world.ts';
import {
  AFFILIATES,
  COMMISSIONS,
  completePayout,
  dump,
  ENDPOINTS,
  EVENTS,
  expectRefusal,
  makeAffiliate,
  makeCommission,
  nothingChanges,
  PAYOUTS,
  PROGRAMS,
  unique,
} from './fixtures.ts';

const world = useWorld();
const { api } = world;

const keyed = (key: string) => ({ 'idempotency-key': key });
const isReplay = (answer: Answer) => answer.headers.get('idempotent-replayed') === 'true';

/** The response, without the parts that differ between requests. */
function shown(answer: Answer) {
  const headers = Object.fromEntries(answer.headers);
  for (const name of ['date', 'payhook-request-id', 'idempotent-replayed', 'connection', 'keep-alive'])
    delete headers[name];
  return { status: answer.status, text: answer.text, headers };
}

describe('a request sent again with its Idempotency-Key', () => {
  const cases: [string, () => Promise<(headers: Record<string, string>) => Promise<Answer>>][] = [
    [
      'POST an affiliate',
      async () => (headers) => api.post(AFFILIATES, { email: 'ida@example.com' }, headers),
    ],
    ['POST a program', async () => (headers) => api.post(PROGRAMS, { name: 'Ida' }, headers)],
    [
      'POST a commission',
      async () => {
        const { id } = await makeAffiliate(api);
        return (headers) =>
          api.post(COMMISSIONS, { external_id: 'ida', affiliate_id: id, amount: 5 }, headers);
      },
    ],
    [
      'POST a batch',
      async () => {
        const { id } = await makeAffiliate(api);
        const commissions = [{ external_id: 'ida-batch', affiliate_id: id, amount: 5 }];
        return (headers) => api.post(`${COMMISSIONS}/batch`, { commissions }, headers);
      },
    ],
    [
      'a file of affiliates',
      async () => (headers) => api.upload(`${AFFILIATES}/import`, 'email\nfile@example.com\n', headers),
    ],
    [
      'a file of commissions',
      async () => {
        const { id } = await makeAffiliate(api);
        const csv = `external_id,affiliate_id,amount\nida-file,${id},1.00\n`;
        return (headers) => api.upload(`${COMMISSIONS}/import`, csv, headers);
      },
    ],
    ['a preview', async () => (headers) => api.post(`${PAYOUTS}/preview`, {}, headers)],
    [
      'POST a payout',
      async () => {
        await makeCommission(api, (await makeAffiliate(api)).id);
        return (headers) => api.post(PAYOUTS, undefined, headers);
      },
    ],
    [
      'PUT a payout',
      async () => {
        const { body: payout } = await api.get(`${PAYOUTS}/current`);
        const commissions = payout.affiliates.map((line: { affiliate_id: number }) => ({
          affiliate_id: line.affiliate_id,
          is_paid: true,
        }));
        return (headers) => api.put(`${PAYOUTS}/${payout.id}`, { commissions }, headers);
      },
    ],
    [
      'an event of the platform',
      async () => (headers) => api.post(EVENTS, { type: 'order.created', data: { n: 1 } }, headers),
    ],
    [
      'a test of an endpoint',
      async () => {
        const endpoint = await makeEndpoint(api);
        return (headers) => api.post(`${ENDPOINTS}/${endpoint}/test`, undefined, headers);
      },
    ],
    [
      'a retry',
      async () => {
        const endpoint = await makeEndpoint(api);
        const { body: event } = await api.post(`${ENDPOINTS}/${endpoint}/test`);
        await seedAttempts(world, event, [{ status: 500 }]);
        return (headers) => api.post(`${ENDPOINTS}/${endpoint}/events/${event.id}/retry`, undefined, headers);
      },
    ],
  ];

  test.each(cases)('%s: happens once and gets the stored bytes', async (_, prepare) => {
    const send = await prepare();
    const key = unique('once');
    const first = await send(keyed(key));
    expect(first.status, first.text).toBeLessThan(300);
    expect(isReplay(first)).toBe(false);
    const stored = await nothingChanges(world, async () => {
      const second = await send(keyed(key));
      expect(isReplay(second)).toBe(true);
      expect(shown(second)).toEqual(shown(first));
      return second;
    });
    expect(stored.headers.get('etag')).toBe(first.headers.get('etag'));
  });

  test('gets the stored response although the records have changed since', async () => {
    const affiliate = await api.post(AFFILIATES, { email: 'then@example.com' }, keyed('moved-on'));
    await api.patch(`${AFFILIATES}/${affiliate.body.id}`, { email: 'now@example.com' });
    const again = await api.post(AFFILIATES, { email: 'then@example.com' }, keyed('moved-on'));
    expect(again.text).toBe(affiliate.text);
  });

  test('is refused as another request when body, query, path or method differ', async () => {
    const { id } = await makeAffiliate(api);
    const csv = `external_id,affiliate_id,amount\nother-file,${id},1.00\n`;
    const key = keyed('other');
    await api.upload(`${COMMISSIONS}/import?dry_run=true`, csv, key);
    const payout = { commissions: [{ affiliate_id: id, is_paid: true }] };
    await nothingChanges(world, async () => {
      const others = [
        await api.upload(`${COMMISSIONS}/import?dry_run=true`, `${csv}\n`, key),
        await api.upload(`${COMMISSIONS}/import`, csv, key),
        await api.upload(`${COMMISSIONS}/import?dry_run=false`, csv, key),
        await api.upload(`${AFFILIATES}/import?dry_run=true`, csv, key),
        await api.post(AFFILIATES, { email: 'other@example.com' }, key),
        await api.put(`${PAYOUTS}/po_${'0'.repeat(32)}`, payout, key),
      ];
      for (const answer of others) {
        expectRefusal(answer, 409, 'idempotency_key_reused', 'Idempotency-Key');
        expect(isReplay(answer)).toBe(false);
      }
    });
    const again = await api.upload(`${COMMISSIONS}/import?dry_run=true`, csv, key);
    expect(isReplay(again)).toBe(true);
  });

  test('runs again when the first was refused: only success is stored', async () => {
    const { id } = await makeAffiliate(api, { email: 'taken@example.com' });
    const send = () => api.post(AFFILIATES, { email: 'taken@example.com' }, keyed('refused'));
    await nothingChanges(world, async () => {
      expectRefusal(await send(), 409, 'duplicate_email');
      expectRefusal(await send(), 409, 'duplicate_email');
      expectRefusal(await api.post(AFFILIATES, { email: 'no' }, keyed('refused')), 400, 'invalid_body');
      expectRefusal(
        await api.upload(`${AFFILIATES}/import`, 'email\nno\n', keyed('refused')),
        400,
        'invalid_lines',
      );
    });
    await api.patch(`${AFFILIATES}/${id}`, { email: 'free@example.com' });
    const made = await send();
    expect([made.status, isReplay(made)]).toEqual([201, false]);
    expect(isReplay(await send())).toBe(true);
  });

  test('belongs to one credential: another key of the account, or another account, may use the same word', async () => {
    const other = await world.otherAccount();
    const second = await api.post('/v2/api-keys', { name: 'second' });
    const colleague = { ...keyed('mine'), authorization: `Bearer ${second.body.key}` };
    const names = ['A', 'B', 'C'];
    const answers = [
      await api.post(PROGRAMS, { name: names[0] }, keyed('mine')),
      await api.post(PROGRAMS, { name: names[1] }, colleague),
      await other.post(PROGRAMS, { name: names[2] }, keyed('mine')),
    ];
    expect(answers.map((answer) => [answer.status, answer.body.name, isReplay(answer)])).toEqual(
      names.map((name) => [201, name, false]),
    );
    expectRefusal(await other.post(PROGRAMS, { name: 'A' }, keyed('mine')), 409, 'idempotency_key_reused');
  });

  test('is deleted after 24 hours, and not a minute before', async () => {
    const send = (name: string) => api.post(PROGRAMS, { name }, keyed('old'));
    const age = (span: string) =>
      world.query(`update idempotency_keys set created_at = now() - $1::interval where key = 'old'`, [span]);
    const first = await send('Old');
    await age('23 hours 59 minutes');
    expect((await send('Old')).text).toBe(first.text);
    await age('24 hours 1 second');
    expectRefusal(await send('Old'), 409, 'duplicate_name');
    const made = await send('New');
    expect([made.status, isReplay(made)]).toEqual([201, false]);
    expect((await send('New')).text).toBe(made.text);
  });

  test('works for a payout that was completed meanwhile: the response is that of the create', async () => {
    await makeCommission(api, (await makeAffiliate(api)).id);
    const made = await api.post(PAYOUTS, {}, keyed('payout'));
    await completePayout(api, made.body);
    const again = await api.post(PAYOUTS, {}, keyed('payout'));
    expect(shown(again)).toEqual(shown(made));
    expect(again.body.status).toBe('unpaid');
  });
});

describe('an API key in the response', () => {
  test('is shown once: the replay shows null there, and no stored row contains it', async () => {
    const first = await api.post('/v2/api-keys', { name: 'secret' }, keyed('secret'));
    const again = await api.post('/v2/api-keys', { name: 'secret' }, keyed('secret'));
    expect(first.body.key).toMatch(/^ph_(1_)?[0-9A-Za-z]{49}$/);
    expect(isReplay(again)).toBe(true);
    expect(again.body).toEqual({ ...first.body, key: null });
    const everything = JSON.stringify(await dump(world)) + JSON.stringify(world.log);
    expect(everything).not.toContain(first.body.key);
    expect(everything).not.toContain(first.body.key.slice(6, -4));
    // nor as bytes
    const hex = Buffer.from(first.body.key).toString('hex');
    expect(everything).not.toContain(hex);
  });
});

describe('an Idempotency-Key', () => {
  test.each([
    ['empty', ''],
    ['blank', '   '],
    ['longer than 255 characters', 'k'.repeat(256)],
    ['with a letter that is not ASCII', 'clé'],
    ['with a control character', 'a\tb'],
  ])('that is %s is refused', async (_, key) => {
    await nothingChanges(world, async () => {
      const body = { email: `${unique('bad')}@example.com` };
      expectRefusal(
        await api.post(AFFILIATES, body, keyed(key)),
        400,
        'invalid_idempotency_key',
        'Idempotency-Key',
      );
    });
  });

  test.each([['k'.repeat(255)], ['a b'], ['550e8400-e29b-41d4-a716-446655440000'], ["'; drop table x--"]])(
    'may be %s',
    async (key) => {
      const send = () => api.post(PROGRAMS, { name: `By ${key.slice(0, 20)}` }, keyed(key));
      const [first, second] = [await send(), await send()];
      expect([first.status, second.text]).toEqual([201, first.text]);
    },
  );

  test('has no effect on GET and DELETE', async () => {
    const { id } = await makeAffiliate(api);
    for (const at of [`${AFFILIATES}/${id}`, AFFILIATES]) {
      const answer = await api.get(at, { headers: keyed('read') });
      expect([answer.status, isReplay(answer)]).toEqual([200, false]);
    }
    const endpoint = `${ENDPOINTS}/${await makeEndpoint(api)}`;
    const first = await api.delete(endpoint, keyed('read'));
    const again = await api.delete(endpoint, keyed('read'));
    expect([first.status, again.status]).toEqual([204, 404]);
  });
});

describe('two concurrent requests with the same key', () => {
  let slow: World;
  beforeAll(async () => {
    slow = await borrowWorld({ databaseLatencyMs: 25 });
  });
  afterAll(() => slow.close());

  const twice = (send: () => Promise<Answer>) => Promise.all([send(), send()]);

  test('create one payout, both get its response, one of them as a replay', async () => {
    const { id } = await makeAffiliate(slow.api);
    await makeCommission(slow.api, id);
    const answers = await twice(() => slow.api.post(PAYOUTS, {}, keyed('twin')));
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers[0]?.text).toBe(answers[1]?.text);
    expect(answers.filter(isReplay)).toHaveLength(1);
    expect(await slow.query('select 1 from payouts')).toHaveLength(1);
    expect(await slow.query(`select 1 from events where type = 'payout.created'`)).toHaveLength(1);
  });

  longRun.test('import a file once, on two servers too', async () => {
    const { id } = await makeAffiliate(slow.api);
    const second = await slow.secondServer();
    const csv = `external_id,affiliate_id,amount\ntwin,${id},1.00\n`;
    const answers = await Promise.all(
      [slow.api, second.api].map((client) => client.upload(`${COMMISSIONS}/import`, csv, keyed('twin-file'))),
    );
    await second.close();
    expect(answers.map(({ body }) => body.created)).toEqual([1, 1]);
    expect(answers.filter(isReplay)).toHaveLength(1);
    expect(await slow.query(`select 1 from events where type = 'commissions.imported'`)).toHaveLength(1);
  });

  test('let the second do the work when the first is refused', async () => {
    const answers = await twice(() =>
      slow.api.post(AFFILIATES, { email: 'twin@example.com', name_first: '' }, keyed('no')),
    );
    for (const answer of answers) expectRefusal(answer, 400, 'invalid_body');
    const empty = await twice(() => slow.api.post(PAYOUTS, { filters: { currency: 'jpy' } }, keyed('none')));
    for (const answer of empty) expectRefusal(answer, 409, 'current_payout_exists');
    expect(await slow.query(`select 1 from idempotency_keys where key in ('no', 'none')`)).toHaveLength(0);
  });

  test('with different bodies one succeeds and the other is refused', async () => {
    const answers = await Promise.all(
      ['X', 'Y'].map((name) => slow.api.post(PROGRAMS, { name }, keyed('different'))),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    const loser = answers.find(({ status }) => status === 409) as Answer;
    expectRefusal(loser, 409, 'idempotency_key_reused');
    expect(await slow.query('select 1 from affiliate_programs')).toHaveLength(1);
  });
});

test('without a key two concurrent creates still make one payout', async () => {
  await world.query(`delete from idempotency_keys`);
  await makeCommission(api, (await makeAffiliate(api)).id);
  const answers = await Promise.all([api.post(PAYOUTS), api.post(PAYOUTS), api.post(PAYOUTS)]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409]);
  expect(await currentId()).toBe(answers.find(({ status }) => status === 201)?.body.id);
});

async function currentId(): Promise<string> {
  return (await api.get(`${PAYOUTS}/current`)).body.id;
}
