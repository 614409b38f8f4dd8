import { beforeAll, describe, expect, test } from 'vitest';
import { askerOf, type Member, memberOf } from '../access/support.ts';
import { isLong } from '../support/depth.ts';
import { useWorld } from '../support/world.ts';
import {
  dump,
  expectRefusal,
  fill,
  type Json,
  makeAffiliate,
  makeCommission,
  makePayout,
  OPERATIONS,
  type Operation,
  sample,
  sampleBody,
} from './fixtures.ts';

// Driven by the description: a new field of a body is tested here.

const world = useWorld();
let ids: Record<string, string | number>;
let member: Member;
beforeAll(async () => {
  member = await memberOf(world.api, 'member');
  const affiliate = await makeAffiliate(world.api);
  const commission = await makeCommission(world.api, affiliate.id);
  const payout = await makePayout(world.api);
  const program = await world.api.post('/v2/affiliates/programs', { name: 'P' });
  ids = {
    affiliate_id: affiliate.id,
    commission_id: commission.id,
    payout_id: payout.id,
    program_id: program.body.id,
  };
});

type Type = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

const WRONG: Readonly<Record<Type, readonly unknown[]>> = {
  null: [null],
  boolean: [true],
  number: [1],
  // a text that a lenient reader would take as a number, a boolean or null
  string: ['1', 'true', 'null'],
  array: [[]],
  object: [{}],
};

/** Whether a lenient reader could take a value for one of these types. A number, an object and a list are tried everywhere. */
const mayBeTaken = (value: unknown, types: ReadonlySet<Type>): boolean =>
  typeof value !== 'string' ||
  (value === '1' && !types.has('boolean')) ||
  (value === 'true' && types.has('boolean')) ||
  (value === 'null' && types.has('null'));

/** The JSON types a schema accepts; null for a schema that accepts anything. */
function typesOf(schema: Json): ReadonlySet<Type> | null {
  if (schema.anyOf) {
    const each = schema.anyOf.map(typesOf);
    return each.includes(null) ? null : new Set(each.flatMap((types: ReadonlySet<Type>) => [...types]));
  }
  if (schema.enum)
    return new Set(schema.enum.map((value: unknown) => (value === null ? 'null' : typeof value)));
  if (schema.type === undefined) return null;
  return new Set([schema.type === 'integer' ? 'number' : schema.type]);
}

interface BodyField {
  /** As messages spell it: `commissions[0].is_paid`. */
  readonly name: string;
  readonly schema: Json;
  /** The body with another value there. */
  with(value: unknown): Json;
}

/** Every field of a body, including those of objects in its lists. */
function bodyFields(schema: Json, body: Json): BodyField[] {
  return Object.entries<Json>(schema.properties ?? {}).flatMap(([name, property]) => {
    const inner = property.type === 'array' && property.items.properties;
    return [
      { name, schema: property, with: (value: unknown) => ({ ...body, [name]: value }) },
      ...(inner
        ? bodyFields(property.items, body[name]?.[0] ?? sample(property.items)).map((place) => ({
            name: `${name}[0].${place.name}`,
            schema: place.schema,
            with: (value: unknown) => ({ ...body, [name]: [place.with(value)] }),
          }))
        : []),
    ];
  });
}

const requestOf = ({ isForPeople }: Operation) => askerOf(world.api, member, isForPeople);

const CASES = OPERATIONS.flatMap((operation) => {
  const schema = operation.requestBody?.content['application/json']?.schema;
  if (!schema) return [];
  return bodyFields(schema, sampleBody(operation)).map((place) => ({
    title: `${operation.method} ${operation.path}: ${place.name}`,
    operation,
    place,
  }));
});

const firstFieldOf = (operation: Operation) => CASES.find((each) => each.operation === operation)?.place.name;

describe('a field of the wrong type is refused by its name', () => {
  let before: Awaited<ReturnType<typeof dump>>;
  beforeAll(async () => {
    before = await dump(world);
  });

  test.each(CASES)('$title', async ({ operation, place }) => {
    const types = typesOf(place.schema);
    // filters have their own rules and reasons: payout-filters.test.ts
    if (types === null || place.name === 'filters') return;
    const path = fill(operation.path, ids);
    const isFirst = place.name === firstFieldOf(operation);
    // one reader checks the types of all bodies: a short run tries objects and what a lenient reader could take, and all at the first field
    const isTried = (value: unknown) => isFirst || (typeof value !== 'number' && !Array.isArray(value));
    for (const [type, values] of Object.entries(WRONG)) {
      if (types.has(type as Type)) continue;
      for (const value of values.filter((each) => isLong || (mayBeTaken(each, types) && isTried(each)))) {
        const answer = await requestOf(operation)(operation.method, path, { body: place.with(value) });
        expectRefusal(answer, 400, 'invalid_body', place.name);
      }
    }
    if (types.has('number') && place.schema.type !== undefined) {
      for (const value of isFirst ? [1.5, Number.MAX_SAFE_INTEGER * 2] : [1.5])
        expectRefusal(
          await requestOf(operation)(operation.method, path, { body: place.with(value) }),
          400,
          'invalid_body',
          place.name,
        );
    }
  });

  test('none of these requests changed anything', async () => {
    expect(await dump(world)).toEqual(before);
  });
});

describe('a required field', () => {
  test.each(
    CASES.filter(({ operation, place }) => {
      const schema = operation.requestBody?.content['application/json']?.schema;
      return schema.required?.includes(place.name);
    }),
  )('$title is named when it is missing', async ({ operation, place }) => {
    const answer = await requestOf(operation)(operation.method, fill(operation.path, ids), {
      body: place.with(undefined),
    });
    expectRefusal(answer, 400, 'invalid_body', place.name);
  });
});

test('every operation with a JSON body is tested here', () => {
  const tested = new Set(CASES.map(({ operation }) => `${operation.method} ${operation.path}`));
  const all = OPERATIONS.filter(({ requestBody }) => requestBody?.content['application/json']);
  // only bodies without any field cannot be wrong
  for (const { method, path, requestBody } of all) {
    const schema: Json = requestBody?.content['application/json']?.schema;
    if (Object.keys(schema.properties).length > 0) expect(tested).toContain(`${method} ${path}`);
  }
});
