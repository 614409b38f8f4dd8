import { brotliCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { describe } from '../../src/http/openapi.ts';
import { ROUTES } from '../../src/http/routes.ts';

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

const text = JSON.stringify(describe(ROUTES));
const description = JSON.parse(text);

/** Every schema of the description with its place, without the examples. */
function schemasIn(value: unknown, place = ''): [place: string, schema: Schema][] {
  if (Array.isArray(value)) return value.flatMap((each) => schemasIn(each, place));
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, each]) =>
    ['example', 'examples'].includes(key) && !place.endsWith('/properties')
      ? []
      : schemasIn(each, `${place}/${key}`),
  );
  return [[place, value], ...inner];
}
const SCHEMAS = schemasIn(description);

test('every property of the description says what it means', () => {
  const lacking = SCHEMAS.flatMap(([place, { properties = {} }]) =>
    Object.entries(properties)
      .filter(([, schema]) => ![schema, ...(schema.anyOf ?? [])].some((each) => each.description))
      .map(([name]) => `${place}.${name}`),
  );
  expect(lacking).toEqual([]);
});

test('every number has a format: generated clients read money, counts and ids as 64 bits', () => {
  const formats = SCHEMAS.flatMap(([place, { type, format }]) =>
    type === 'integer' || type === 'number' ? [{ place, is: `${type} ${format}` }] : [],
  );
  expect(formats.length).toBeGreaterThan(200);
  const others = formats.filter(({ is }) => is !== 'integer int64');
  // the interface calls the affiliate_id of a completion a number
  expect(others).toEqual([{ place: expect.stringMatching(/\/affiliate_id$/), is: 'number double' }]);
});

test('the description has at most 0.8 MiB, and 86 kB with brotli', () => {
  expect(text.length).toBeLessThanOrEqual(0.8 * 1024 ** 2);
  expect(brotliCompressSync(text).length).toBeLessThanOrEqual(86_000);
});

test('no two components have the same name: generators make types of all of them', () => {
  const names = Object.entries<object>(description.components)
    .filter(([section]) => ['schemas', 'parameters', 'responses'].includes(section))
    .flatMap(([, section]) => Object.keys(section));
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
