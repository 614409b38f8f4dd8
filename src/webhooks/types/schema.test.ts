import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rounds } from '../../../test/support/depth.ts';
import { compileSchema, MOST_STEPS, patternOf, violationOf } from './schema.ts';

/** The keyword; an object literal with it would be taken for a promise. */
const THEN = 'then';

/** The verdict of Ajv; null if it makes a function that fails, as it does for some schemas with `if`. */
function verdictOf(ajv: Ajv2020, schema: unknown, value: unknown): boolean | null {
  try {
    return ajv.compile(schema as object)(value) as boolean;
  } catch (error) {
    if (error instanceof ReferenceError) return null;
    throw error;
  }
}

/** What the schema says about a value: its message, or null. */
function judge(schema: unknown, value: unknown): string | null {
  const found = violationOf(compileSchema(schema, 'data_schema'), value, { steps: MOST_STEPS });
  return found && `${['data', ...found.path].join('.')} ${found.rule}`;
}
const refusalOf = (schema: unknown): string => {
  try {
    compileSchema(schema, 'data_schema');
  } catch (error) {
    return (error as Error).message;
  }
  return 'accepted';
};

const price = {
  type: 'object',
  required: ['amount'],
  properties: { amount: { type: 'integer', minimum: 0 } },
};

describe('a value', () => {
  test.each([
    [{ type: 'object', required: ['id'] }, {}, 'data.id is required'],
    [{ properties: { id: { type: ['string', 'null'] } } }, { id: 7 }, 'data.id must be string or null'],
    [{ properties: { a: false } }, { a: 1 }, 'data.a is not allowed'],
    [{ additionalProperties: false, properties: { a: {} } }, { a: 1, b: 2 }, 'data.b is not allowed'],
    [
      { properties: { currency: { enum: ['usd', 'eur'] } } },
      { currency: 'gbp' },
      'data.currency must be one of "usd","eur"',
    ],
    [{ const: { a: [1] } }, { a: [2] }, 'data must be {"a":[1]}'],
    [{ $ref: '#/$defs/price', $defs: { price } }, { amount: -1 }, 'data.amount must be at least 0'],
    [{ items: price }, [{ amount: 1 }, { amount: 1.5 }], 'data.1.amount must be integer'],
    [
      { uniqueItems: true },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      'data must not have the same item twice',
    ],
    [{ pattern: '^ord_[0-9a-f]{4}$' }, 'ord_12', 'data must match ^ord_[0-9a-f]{4}$'],
    [{ maxLength: 2 }, '🎉🎉', null],
    [{ required: ['toString'] }, {}, 'data.toString is required'],
    [{ if: { required: ['a'] }, [THEN]: { required: ['b'] } }, { a: 1 }, 'data.b is required'],
    [{ format: 'email' }, 'no address', null],
  ])('by %j: %j', (schema, value, expected) => {
    expect(judge(schema, value)).toBe(expected);
  });

  test('is judged as by another validator', () => {
    const leaf = fc.oneof(
      fc.constantFrom<object>({}, { type: 'string' }, { type: 'integer' }, { type: ['null', 'object'] }),
      fc.record({ minimum: fc.integer({ min: -3, max: 3 }), multipleOf: fc.constantFrom(1, 2, 0.5) }),
      fc.record(
        { minLength: fc.nat(2), maxLength: fc.nat(3), pattern: fc.constantFrom('^a*b?$', '^[ab]{1,2}$') },
        { requiredKeys: [] },
      ),
      fc.record({ enum: fc.array(fc.jsonValue({ maxDepth: 1 }), { minLength: 1, maxLength: 3 }) }),
      fc.record({ const: fc.constantFrom(1, 'a', [1], { a: 1 }) }),
      fc.boolean(),
    );
    const key = fc.constantFrom('a', 'b', 'c');
    const { schema: schemas } = fc.letrec((tie) => {
      const schema = tie('schema');
      const many = fc.array(schema, { minLength: 1, maxLength: 3 });
      return {
        schema: fc.oneof(
          { depthSize: 'small' },
          leaf,
          fc.record(
            {
              properties: fc.dictionary(key, schema),
              additionalProperties: schema,
              required: fc.uniqueArray(key),
            },
            { requiredKeys: [] },
          ),
          fc.record(
            {
              items: schema,
              prefixItems: many,
              minItems: fc.nat(2),
              maxItems: fc.nat(3),
              uniqueItems: fc.boolean(),
            },
            { requiredKeys: [] },
          ),
          fc.record({ contains: schema, minContains: fc.nat(2), maxContains: fc.nat(2) }),
          fc.record({ allOf: many, anyOf: many, oneOf: many, not: schema }, { requiredKeys: [] }),
          fc.record({ if: schema, [THEN]: schema, else: schema }, { requiredKeys: [] }),
          fc.record(
            { propertyNames: schema, minProperties: fc.nat(2), maxProperties: fc.nat(2) },
            { requiredKeys: [] },
          ),
          fc.record({ dependentRequired: fc.dictionary(key, fc.uniqueArray(key)) }),
        ),
      };
    });
    const { value: values } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(null, true, 0, 1, 2, -1.5, 'a', 'ab', 'b', ''),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value')),
      ),
    }));
    fc.assert(
      fc.property(schemas, values, (schema, value) => {
        const ajv = new Ajv2020({ strict: false, unicodeRegExp: true, validateSchema: false });
        const other = verdictOf(ajv, schema, value);
        fc.pre(other !== null);
        expect(judge(schema, value) === null).toBe(other);
      }),
      { seed: 7, numRuns: rounds(60, 400) },
    );
  });
});

describe('a schema is refused', () => {
  test.each([
    [7, 'data_schema must be a JSON schema'],
    [{ properties: { a: { type: 'text' } } }, 'data_schema.properties.a.type must be one of'],
    [{ patternProperties: {} }, 'data_schema.patternProperties is not a keyword that is checked'],
    [{ $ref: 'https://example.com/schema' }, 'data_schema.$ref must name a schema within this one'],
    [{ $ref: '#/$defs/missing' }, 'data_schema.$ref must name'],
    [{ $ref: '#' }, 'data_schema leads back to itself'],
    [
      { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { not: { $ref: '#/$defs/a' } } } },
      'leads back to itself',
    ],
    [{ $schema: 'http://json-schema.org/draft-07/schema#' }, 'data_schema.$schema must be'],
    [{ properties: { a: { $id: 'x' } } }, 'data_schema.properties.a.$id may only be at the top'],
    [{ enum: [] }, 'data_schema.enum must be a list that is not empty'],
    [{ minLength: -1 }, 'data_schema.minLength must be a whole number'],
    [{ multipleOf: 0 }, 'data_schema.multipleOf must be a number above 0'],
    [{ description: 'x'.repeat(70_000) }, 'data_schema must be at most 65536 bytes'],
    [
      { $defs: Object.fromEntries(Array.from({ length: 2001 }, (_, n) => [`d${n}`, true])) },
      'is beyond 2000 schemas',
    ],
  ])('%j', (schema, message) => {
    expect(refusalOf(schema)).toContain(message);
  });

  test('when it is nested too deep', () => {
    let schema: object = {};
    for (let depth = 0; depth < 50; depth += 1) schema = { not: schema };
    expect(refusalOf(schema)).toContain('is nested more than 40 deep');
  });

  test.each([
    '^(a+)+$',
    '(a|a)*',
    '^a*a*$',
    '^.*$.*',
    'a',
    '^[a-z]{1000}$',
    '^a{0,9}b{0,9}$',
    '^\\1$',
    '^(?=a)',
    '^[z-a]$',
    '^a*?$',
  ])('with the pattern %s', (pattern) => {
    expect(patternOf(pattern)).toBeNull();
    expect(refusalOf({ pattern })).toContain('data_schema.pattern must begin with ^');
  });

  test.each(['^ord_[0-9a-f]{32}$', '^[A-Z]{3}$', '^-?\\d+$', '^\\+?[0-9]{7,15}$', '^#[^\\]]?', '^cost\\$$'])(
    'but not with the pattern %s',
    (pattern) => {
      expect(patternOf(pattern)).not.toBeNull();
    },
  );
});

describe('a hostile schema', () => {
  const wide = Array.from({ length: 60_000 }, () => 8999);
  const deep = (levels: number): unknown => (levels === 0 ? {} : { a: deep(levels - 1) });
  test.each([
    [
      'that compares each of many items with each of many values',
      { items: { enum: Array.from({ length: 9000 }, (_, n) => n) } },
      wide,
    ],
    [
      'that doubles its work at each level',
      { properties: { a: { allOf: [{ $ref: '#' }, { $ref: '#' }] } } },
      deep(90),
    ],
    [
      'that tries many alternatives for each item',
      { items: { anyOf: [...Array.from({ length: 1500 }, () => ({ type: 'string' })), true] } },
      wide,
    ],
    [
      'that reads a long text many times',
      { allOf: Array.from({ length: 500 }, () => ({ pattern: '^[a-z]*[a-z]{200}!$' })) },
      'a'.repeat(200_000),
    ],
    [
      'that looks up many names in each of many objects',
      {
        items: {
          properties: Object.fromEntries(Array.from({ length: 1900 }, (_, n) => [`p${n}`, true])),
        },
      },
      Array.from({ length: 30_000 }, () => ({ 0: 1 })),
    ],
    [
      'that hides its work in not',
      { not: { items: { not: { enum: Array.from({ length: 9000 }, (_, n) => n) } } } },
      wide.map(() => -1),
    ],
  ])('%s takes a limited number of steps', (_, schema, value) => {
    expect(judge(schema, value)).toBe('data takes too many steps to check against its schema');
  });
});
