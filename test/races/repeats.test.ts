import { describe, expect, test } from 'vitest';
import { longRun, someOf } from '../support/depth.ts';
import { makeAffiliates, salesFile, salesFor, sumOf, takeIn } from '../support/seed.ts';
import {
  ARENAS,
  allCommissions,
  COMMISSIONS,
  currentPayout,
  GAPS_MS,
  inArena,
  only,
  PAYOUTS,
  staggered,
  tally,
} from './support.ts';

const times = <Result>(count: number, work: (index: number) => Result) =>
  Array.from({ length: count }, (_, index) => work(index));

// concurrent: they mostly wait for the latency
describe.concurrent.each(ARENAS)('$name', (arena) => {
  test.each(someOf([10, 2], 1))('%i concurrent requests with one Idempotency-Key are one request', (count) =>
    inArena(arena, async ({ api, racer, race, world }) => {
      const affiliates = await makeAffiliates(api, 2);
      const sales = salesFor(affiliates, 6);
      await takeIn(api, sales);
      const answers = await race(() =>
        Promise.all(times(count, (index) => racer(index).post(PAYOUTS, {}, { 'idempotency-key': 'once' }))),
      );
      expect(tally(answers)).toEqual({ 201: count });
      expect([...new Set(answers.map(({ text }) => text))]).toEqual([answers[0]?.text]);
      expect(new Set(answers.map(({ headers }) => headers.get('etag'))).size).toBe(1);
      const replayed = answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true');
      expect(replayed).toHaveLength(count - 1);
      expect(await currentPayout(api)).toEqual(answers[0]?.body);

      const one = `${PAYOUTS}/${answers[0]?.body.id}`;
      const body = { commissions: [{ affiliate_id: affiliates[0], is_paid: true }] };
      const completed = await race(() =>
        Promise.all(times(count, (index) => racer(index).put(one, body, { 'idempotency-key': 'complete' }))),
      );
      expect(tally(completed)).toEqual({ 200: count });
      expect(new Set(completed.map(({ text }) => text)).size).toBe(1);
      const events = await world.query<{ type: string }>(
        `select type from events where type like 'payout.%' order by id`,
      );
      expect(events.map(({ type }) => type)).toEqual(['payout.created', 'payout.paid']);
    }),
  );

  test('of two concurrent bodies with one Idempotency-Key one succeeds and the other is refused', () =>
    inArena(arena, async ({ api, racer, race }) => {
      const [affiliate = 0] = await makeAffiliates(api, 1);
      const [first, second] = salesFor([affiliate], 2);
      for (const [round, gap] of GAPS_MS.entries()) {
        const send = (by: number, sale: object | undefined) => () =>
          racer(by).post(
            COMMISSIONS,
            { ...sale, external_id: `${round}-${by}` },
            { 'idempotency-key': `round ${round}` },
          );
        const answers = await race(() => staggered(gap, send(0, first), send(1, second)));
        const made = only(answers, 201).body;
        expect(only(answers, 409).reason).toBe('idempotency_key_reused');
        const stored = (await allCommissions(api)).filter(({ external_id }) =>
          external_id.startsWith(`${round}-`),
        );
        expect(stored.map(({ id }) => id)).toEqual([made.id]);
      }
    }));

  longRun.test('a refused request does not use up its Idempotency-Key: the next one with it succeeds', () =>
    inArena(arena, async ({ api, racer, race }) => {
      const affiliates = await makeAffiliates(api, 1);
      await takeIn(api, salesFor(affiliates, 2));
      const { body: unpaid } = await api.post(PAYOUTS);
      const create = (index: number) => racer(index).post(PAYOUTS, {}, { 'idempotency-key': 'again' });
      const refused = await race(() => Promise.all(times(4, create)));
      expect(tally(refused)).toEqual({ 409: 4 });
      await api.delete(`${PAYOUTS}/${unpaid.id}`);
      const made = await race(() => Promise.all(times(4, create)));
      expect(tally(made)).toEqual({ 201: 4 });
      expect(new Set(made.map(({ text }) => text)).size).toBe(1);
    }),
  );

  test('a key created with one Idempotency-Key ten times is one key, and its secret is shown once', () =>
    inArena(arena, async ({ racer, race, world }) => {
      const answers = await race(() =>
        Promise.all(
          times(10, (index) =>
            racer(index).post('/v2/api-keys', { name: 'till' }, { 'idempotency-key': 'a key' }),
          ),
        ),
      );
      expect(tally(answers)).toEqual({ 201: 10 });
      expect(answers.filter(({ body }) => body.key !== null)).toHaveLength(1);
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
      expect(await world.query(`select 1 from api_keys where name = 'till'`)).toHaveLength(1);
    }));

  longRun.test('of keys, programs and affiliates created at once with the same name one is created', () =>
    inArena(arena, async ({ racer, race, world }) => {
      const attempt = (path: string, body: object) =>
        race(() => Promise.all(times(6, (index) => racer(index).post(path, body))));
      const keys = await attempt('/v2/api-keys', { name: 'till' });
      const programs = await attempt('/v2/affiliates/programs', { name: 'Friends' });
      const emails = await attempt('/v2/affiliates', { email: 'ada@example.com' });
      const reasons = ['duplicate_name', 'duplicate_name', 'duplicate_email'];
      for (const [index, answers] of [keys, programs, emails].entries()) {
        expect(tally(answers)).toEqual({ 201: 1, 409: 5 });
        for (const answer of answers.filter(({ status }) => status === 409))
          expect(answer.reason).toBe(reasons[index]);
      }
      expect(await world.query(`select 1 from affiliates`)).toHaveLength(1);
    }),
  );

  test('the same commission sent ten times at once is stored once and returned to all', () =>
    inArena(arena, async ({ api, racer, race, world }) => {
      const sales = salesFor(await makeAffiliates(api, 1), 1);
      const answers = await race(() =>
        Promise.all(times(10, (index) => racer(index).post(COMMISSIONS, sales[0]))),
      );
      expect(tally(answers)).toEqual({ 200: 9, 201: 1 });
      expect([...new Set(answers.map(({ text }) => text))]).toEqual([answers[0]?.text]);
      expect(await world.query(`select 1 from events where type = 'commission.created'`)).toHaveLength(1);
    }));

  longRun.test(
    'of concurrent commissions with one external_id and different amounts, one is stored and the others are refused',
    () =>
      inArena(arena, async ({ api, racer, race }) => {
        const [sale] = salesFor(await makeAffiliates(api, 1), 1);
        const answers = await race(() =>
          Promise.all(times(6, (index) => racer(index).post(COMMISSIONS, { ...sale, amount: 500 + index }))),
        );
        expect(tally(answers)).toEqual({ 201: 1, 409: 5 });
        for (const { reason } of answers.filter(({ status }) => status === 409))
          expect(reason).toBe('duplicate_external_id');
        expect(await allCommissions(api)).toEqual([only(answers, 201).body]);
      }),
  );

  longRun.test('the same batch sent twice at once stores each commission once and publishes once', () =>
    inArena(arena, async ({ api, racer, race, world }) => {
      const sales = salesFor(await makeAffiliates(api, 2), 20);
      const answers = await race(() =>
        Promise.all(times(3, (index) => racer(index).post(`${COMMISSIONS}/batch`, { commissions: sales }))),
      );
      expect(tally(answers)).toEqual({ 200: 3 });
      expect(await allCommissions(api)).toHaveLength(20);
      const items = answers.flatMap(({ body }) => body.items as { status: number }[]);
      expect(items.filter(({ status }) => status === 201)).toHaveLength(20);
      const events = await world.query<{ created: number; amount: number }>(
        `select (payload::json #>> '{data,created}')::int as created,
                (payload::json #>> '{data,totals,0,amount}')::int as amount
         from events where type = 'commissions.imported'`,
      );
      expect(events).toEqual([{ created: 20, amount: sumOf(sales) }]);
    }),
  );

  test('batches that overlap in opposite order are all stored: neither blocks the other', () =>
    inArena(arena, async ({ api, racer, race }) => {
      const affiliates = await makeAffiliates(api, 2);
      for (let round = 0; round < 4; round++) {
        const sales = salesFor(affiliates, 400, `round-${round}`);
        const answers = await race(() =>
          Promise.all([
            racer(0).post(`${COMMISSIONS}/batch`, { commissions: sales }),
            racer(1).post(`${COMMISSIONS}/batch`, { commissions: sales.toReversed() }),
          ]),
        );
        expect(answers.map(({ status, text }) => (status === 200 ? 200 : text))).toEqual([200, 200]);
      }
      const { body } = await api.get(`${COMMISSIONS}?per_page=1`);
      expect(body.pagination.total).toBe(1600);
    }));

  test('the same file twice at once is imported once; the second finds every line unchanged', () =>
    inArena(arena, async ({ api, racer, race, world }) => {
      const sales = salesFor(await makeAffiliates(api, 3), 3000);
      const file = salesFile(sales);
      const answers = await race(() =>
        Promise.all(times(2, (index) => racer(index).upload(`${COMMISSIONS}/import`, file))),
      );
      expect(tally(answers)).toEqual({ 200: 2 });
      const counts = answers.map(({ body }) => [body.created, body.unchanged, body.failed]);
      expect(counts.toSorted(([a], [b]) => b - a)).toEqual([
        [3000, 0, 0],
        [0, 3000, 0],
      ]);
      const [stored] = await world.query<{ count: number; sum: number }>(
        `select count(*)::int as count, sum(amount)::int as sum from commissions`,
      );
      expect(stored).toEqual({ count: 3000, sum: sumOf(sales) });
      expect(await world.query(`select 1 from events where type = 'commissions.imported'`)).toHaveLength(1);
    }));

  longRun.test('one file twice at once with one Idempotency-Key gets the same response twice', () =>
    inArena(arena, async ({ api, racer, race }) => {
      const file = salesFile(salesFor(await makeAffiliates(api, 3), 500));
      const answers = await race(() =>
        Promise.all(
          times(2, (index) =>
            racer(index).upload(`${COMMISSIONS}/import`, file, { 'idempotency-key': 'the file' }),
          ),
        ),
      );
      expect(answers[0]?.body).toMatchObject({ created: 500, unchanged: 0 });
      expect(answers[1]?.text).toBe(answers[0]?.text);
    }),
  );

  longRun.test('the same affiliates twice at once are imported once', () =>
    inArena(arena, async ({ racer, race, world }) => {
      const lines = times(200, (index) => `a-${index},a-${index}@example.com,Ada`);
      const file = `external_id,email,name_first\n${lines.join('\n')}\n`;
      const answers = await race(() =>
        Promise.all(times(2, (index) => racer(index).upload('/v2/affiliates/import', file))),
      );
      expect(tally(answers)).toEqual({ 200: 2 });
      const counts = answers.map(({ body }) => [body.created, body.updated, body.unchanged]);
      expect(counts.toSorted(([a], [b]) => b - a)).toEqual([
        [200, 0, 0],
        [0, 0, 200],
      ]);
      expect(await world.query(`select 1 from events where type = 'affiliate.created'`)).toHaveLength(200);
    }),
  );

  test('a revoked key stops at once, on every server', () =>
    inArena(arena, async ({ api, racer, race, world }) => {
      const { body: made } = await api.post('/v2/api-keys', { name: 'leaked' });
      const withKey = (index: number) =>
        racer(index).get('/v2/affiliates', { headers: { authorization: `Bearer ${made.key}` } });
      expect(tally(await Promise.all([withKey(0), withKey(1)]))).toEqual({ 200: 2 });
      const after = await race(async () => {
        expect((await racer(0).delete(`/v2/api-keys/${made.id}`)).status).toBe(204);
        return Promise.all(times(6, withKey));
      });
      expect(tally(after)).toEqual({ 401: 6 });
      // of two concurrent revocations one succeeded
      const { body: other } = await api.post('/v2/api-keys', { name: 'other' });
      const revokes = await race(() =>
        Promise.all(times(4, (index) => racer(index).delete(`/v2/api-keys/${other.id}`))),
      );
      expect(tally(revokes)).toEqual({ 204: 1, 404: 3 });
      expect(await world.query(`select 1 from api_keys where revoked_at is not null`)).toHaveLength(2);
    }));
});
