import { describe, expect, test } from 'vitest';
import { ARENAS, GAPS_MS, inArena, staggered, tally } from './support.ts';

const AFFILIATES = '/v2/affiliates';

describe.concurrent.each(ARENAS)('$name', (arena) => {
  test('two that put an affiliate at once make one, and both are answered', () =>
    inArena(arena, async ({ api, racer, race, world }) => {
      for (const [round, gap] of GAPS_MS.entries()) {
        const put = (by: number, fields: object) => () =>
          racer(by).put(`${AFFILIATES}/by-external-id/partner-${round}`, {
            email: `partner-${round}@example.com`,
            ...fields,
          });
        const answers = await race(() =>
          staggered(gap, put(0, { name_first: 'Ada' }), put(1, { name_last: 'Lovelace' })),
        );
        expect(tally(answers)).toEqual({ 201: 1, 200: 1 });
        const { data } = (await api.get(`${AFFILIATES}?external_id=partner-${round}`)).body;
        expect(data).toMatchObject([{ name_first: 'Ada', name_last: 'Lovelace' }]);
        const events = await world.query<{ type: string }>(
          `select type from events where payload::json -> 'data' ->> 'external_id' = $1 order by id`,
          [`partner-${round}`],
        );
        expect(events.map(({ type }) => type)).toEqual(['affiliate.created', 'affiliate.updated']);
      }
    }));

  test('ten that put the same make one and tell of it once', () =>
    inArena(arena, async ({ racer, race, world }) => {
      const answers = await race(() =>
        Promise.all(
          Array.from({ length: 10 }, (_, index) =>
            racer(index).put(`${AFFILIATES}/by-external-id/partner-7`, { email: 'zoe@example.com' }),
          ),
        ),
      );
      expect(tally(answers)).toEqual({ 201: 1, 200: 9 });
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(await world.query('select type from events')).toEqual([{ type: 'affiliate.created' }]);
    }));

  test('two external_ids with one e-mail address at once: one is made, the other is told which', () =>
    inArena(arena, async ({ racer, race }) => {
      for (const [round, gap] of GAPS_MS.entries()) {
        const put = (by: number) => () =>
          racer(by).put(`${AFFILIATES}/by-external-id/${round}-${by}`, { email: `one-${round}@example.com` });
        const answers = await race(() => staggered(gap, put(0), put(1)));
        expect(tally(answers)).toEqual({ 201: 1, 409: 1 });
        const made = answers.find(({ status }) => status === 201);
        const refused = answers.find(({ status }) => status === 409);
        expect(refused?.headers.get('location')).toBe(`${AFFILIATES}/${made?.body.id}`);
      }
    }));
});
