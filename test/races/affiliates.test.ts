import { describe, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { longRun } from '../support/depth.ts';
import { holdBack, untilLockWait } from '../support/held.ts';
import { ARENAS, GAPS_MS, inArena, staggered, tally } from './support.ts';

const AFFILIATES = '/v2/affiliates';

describe.concurrent.each(ARENAS)('$name', (arena) => {
  longRun.test('two concurrent puts of an affiliate create one, and both get a response', () =>
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
    }),
  );

  longRun.test('ten equal puts create one and publish one event', () =>
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
    }),
  );

  test('two concurrent external_ids with one e-mail address: one is created, the other is refused with its id', () =>
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

  const PROFILE_HEADER = 'email,legal_type,legal_name,tax_country,address_line1,address_city';
  const profileLine = (email: string) => `${email},person,Imported,DE,Hauptstr. 1,Berlin`;
  const profile = (legal_name: string, number: string) => ({
    legal_type: 'person',
    legal_name,
    country: 'DE',
    address: { line1: 'Hauptstr. 1', city: 'Berlin' },
    tax_id: { type: 'other', number },
  });

  /** Two affiliates with a tax profile for each round, the later one for the race, and a file about both. */
  async function prepared(api: Api, round: number): Promise<{ path: string; file: string }> {
    const emails = [`ada-${round}@example.com`, `zoe-${round}@example.com`];
    let path = '';
    for (const email of emails) {
      path = `${AFFILIATES}/${(await api.post(AFFILIATES, { email, legal_type: 'person' })).body.id}/tax-profile`;
      await api.put(path, profile('Before', 'A-11111111'));
    }
    return { path, file: `${PROFILE_HEADER}\n${emails.map(profileLine).join('\n')}\n` };
  }

  longRun.test('a tax profile that is set during the undo of an import stays', () =>
    inArena(arena, async ({ api, racer, race }) => {
      for (const [round, gap] of GAPS_MS.entries()) {
        const { path, file } = await prepared(api, round);
        const { import_id } = (await api.upload('/v2/imports?kind=affiliates', file)).body;
        const [undone, put] = await race(() =>
          staggered(
            gap,
            () => racer(0).post(`/v2/imports/${import_id}/undo`),
            () => racer(1).put(path, profile('Set', 'B-22222222')),
          ),
        );
        expect([200, 409]).toContain(undone?.status);
        expect(put?.status).toBe(200);
        const { body } = await api.get(path);
        expect(body).toMatchObject({ legal_name: 'Set', tax_id: { ending: '2222' } });
      }
    }),
  );

  test('a tax id that is set or removed during the import of a file without tax ids stays so', () =>
    inArena(arena, async ({ api, racer, race, world }) => {
      for (const [round, isSet] of [true, false].entries()) {
        const { path, file } = await prepared(api, round);
        // the import has read the profiles and not yet written them
        const writing = holdBack(world, 'insert into import_tax_profiles');
        const [imported, changed] = await race(async () => {
          const importing = racer(0).upload(`${AFFILIATES}/import`, file);
          await writing.reached;
          const changing = isSet ? racer(1).put(path, profile('Set', 'B-22222222')) : racer(1).delete(path);
          await Promise.race([changing, untilLockWait(world)]);
          writing.goOn();
          return Promise.all([importing, changing]);
        });
        expect([imported.status, changed.status]).toEqual([200, isSet ? 200 : 204]);
        const { body } = await api.get(path);
        expect(body.tax_id?.ending).toBe(isSet ? '2222' : undefined);
      }
    }));
});
