import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { CATALOGUE, exampleEvent } from '../../src/catalogue/catalogue.ts';
import { EVENT_TYPES, type EventType } from '../../src/outbox/event-types.ts';
import { checkAgainstCatalogue } from '../support/description.ts';
import { useWorld } from '../support/world.ts';
import { allOf, expectRefusal, type Json } from './fixtures.ts';

const PATH = '/v2/event-types';
const TYPES = Object.keys(CATALOGUE) as EventType[];
const VERSION_7 = /^[a-z]+_([0-9a-f]{12})7[0-9a-f]{3}[89ab][0-9a-f]{15}$/;

const world = useWorld();

describe('the list of event types', () => {
  test('has every type of the catalogue once, ordered by name', async () => {
    const { body } = await world.api.get(PATH);
    expect(body.data.map(({ type }: Json) => type)).toEqual(TYPES.toSorted());
    expect(body.pagination).toMatchObject({ page: 1, limit: 50, total: TYPES.length, pages: 1 });
  });

  test('gives the meaning, schema and example of each', async () => {
    // as a receiver would: the published schema, with another validator; each is used three times, so its code is not optimized
    const ajv = new Ajv2020({ strict: false, code: { optimize: false } });
    addFormats.default(ajv);
    for (const item of await allOf(world.api, PATH)) {
      const type = item.type as EventType;
      expect(Object.keys(item)).toEqual([
        'object',
        'type',
        'origin',
        'description',
        'group',
        'deprecation',
        'schema',
        'example',
        'data_schema',
        'last_violation',
      ]);
      expect(item).toMatchObject({ object: 'event_type', description: EVENT_TYPES[type] });
      expect(item.example).toEqual(exampleEvent(type));
      const validate = ajv.compile(item.schema);
      expect([type, validate(item.example), validate.errors]).toEqual([type, true, null]);
      expect(validate({ ...item.example, type: 'order.created' })).toBe(false);
      expect(validate({ ...item.example, data: {} })).toBe(false);
    }
  });

  test('has pages, in both directions', async () => {
    const names = TYPES.toSorted().toReversed();
    const { body, headers } = await world.api.get(`${PATH}?sort=-type&per_page=5&page=2`);
    expect(body.data.map(({ type }: Json) => type)).toEqual(names.slice(5, 10));
    const pages = Math.ceil(names.length / 5);
    expect(body.pagination).toMatchObject({ page: 2, limit: 5, total: names.length, pages });
    expect(headers.get('link')).toContain('page=3');
    const beyond = await world.api.get(`${PATH}?page=9007199254740991`);
    expect([beyond.status, beyond.body.data, beyond.body.pagination.page]).toEqual([
      200,
      [],
      9007199254740991,
    ]);
  });

  test('supports no filter and no other order', async () => {
    expectRefusal(await world.api.get(`${PATH}?type=payout.paid`), 400, 'unknown_query_parameter', 'type');
    expectRefusal(await world.api.get(`${PATH}?sort=created_at`), 400, 'invalid_query', 'sort', 'type');
  });
});

describe.each(TYPES)('the example of %s', (type) => {
  const event = exampleEvent(type);

  test('matches its schema', () => {
    checkAgainstCatalogue(JSON.stringify(event));
    expect(() => checkAgainstCatalogue(JSON.stringify({ ...event, data: {} }))).toThrow(
      'violates its schema',
    );
  });

  test('has changes that its record could have', () => {
    if (event.changes === undefined) return;
    const data: Json = event.data;
    const { added, updated, removed } = event.changes;
    for (const [field, value] of Object.entries(added)) expect([field, data[field]]).toEqual([field, value]);
    for (const [field, value] of Object.entries({ ...updated, ...removed }))
      expect([field, data[field]]).not.toEqual([field, value]);
    for (const field of Object.keys(removed)) expect([field, data[field]]).toEqual([field, null]);
    expect(Object.keys(data)).toEqual(
      expect.arrayContaining([...Object.keys(added), ...Object.keys(updated), ...Object.keys(removed)]),
    );
  });

  test('has ids that contain the time of creation, as real ones do', () => {
    const { id, created_at: createdAt } = event.data as { id?: unknown; created_at?: string };
    const made = typeof id === 'string' ? [[id, createdAt] as const] : [];
    for (const [own, at] of [...made, [event.id, event.timestamp] as const]) {
      const [, milliseconds = ''] = VERSION_7.exec(own) ?? [];
      expect(new Date(Number.parseInt(milliseconds, 16)).toISOString()).toBe(at);
    }
  });
});
