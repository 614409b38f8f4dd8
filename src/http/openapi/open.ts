import { isDeepStrictEqual } from 'node:util';

type Json = Record<string, unknown>;

/**
 * The description without "no further fields" in what the server sends: a later version may add fields, and a client
 * generated from this one must ignore them. What clients send stays closed, because the server refuses unknown fields.
 */
export function withOpenResponses(description: Json): Json {
  const { paths, components, ...rest } = description as {
    paths: Record<string, Record<string, Json>>;
    components: Json & { schemas: Record<string, Json> };
  };
  const sent = Object.values(paths).flatMap((methods) =>
    Object.values(methods).map(({ requestBody }) => requestBody),
  );
  const closed = reachable(sent, components.schemas);
  const openSchemas = Object.entries(components.schemas).flatMap(([name, schema]): [string, Json][] =>
    closed.has(name) ? [] : [[name, opened(schema) as Json]],
  );
  const schemas = { ...components.schemas, ...extending(openSchemas) };
  const open = ({ requestBody, responses, ...operation }: Json): Json => ({
    ...operation,
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: opened(responses),
  });
  const inPaths = Object.entries(paths).map(([path, methods]) => [
    path,
    Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, open(operation)])),
  ]);
  return {
    ...(opened(rest) as Json),
    paths: Object.fromEntries(inPaths),
    components: { ...components, schemas },
  };
}

interface Shape extends Json {
  readonly properties: Json;
  readonly required?: readonly string[];
}

const requiredOf = ({ required = [] }: Shape) => new Set(required);

/** The properties that the larger record has in addition; null if it does not contain the whole smaller one. */
function additionOf(larger: Shape, smaller: Shape): Json | null {
  const names = Object.keys(smaller.properties);
  if (names.length < 4 || names.length >= Object.keys(larger.properties).length) return null;
  const contains = names.every(
    (name) =>
      isDeepStrictEqual(larger.properties[name], smaller.properties[name]) &&
      requiredOf(larger).has(name) === requiredOf(smaller).has(name),
  );
  if (!contains) return null;
  return Object.fromEntries(
    Object.entries(larger.properties).filter(([name]) => !(name in smaller.properties)),
  );
}

/** Records that contain all of another one extend it, as in the code of clients: the largest such record. */
function extending(schemas: readonly [name: string, schema: Json][]): Record<string, Json> {
  const shapes = schemas.filter((each): each is [string, Shape] => each[1].properties !== undefined);
  const entries = schemas.map(([name, schema]) => {
    const larger = schema as Shape;
    const [base] = shapes
      .filter(([, smaller]) => larger.properties && additionOf(larger, smaller))
      .toSorted(([, a], [, b]) => Object.keys(b.properties).length - Object.keys(a.properties).length);
    const properties = base && additionOf(larger, base[1]);
    if (!properties) return [name, schema];
    const { description } = schema;
    const required = Object.keys(properties).filter((each) => requiredOf(larger).has(each));
    const addition = { type: 'object', ...(required.length > 0 ? { required } : {}), properties };
    const allOf = [{ $ref: `#/components/schemas/${base[0]}` }, addition];
    return [name, { ...(description === undefined ? {} : { description }), allOf }];
  });
  return Object.fromEntries(entries);
}

/** The names of the schemas that a value refers to, directly or not. */
function reachable(value: unknown, schemas: Readonly<Record<string, Json>>): ReadonlySet<string> {
  const found = new Set<string>();
  const walk = (inner: unknown): void => {
    for (const [, name = ''] of JSON.stringify(inner ?? null).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (found.has(name)) continue;
      found.add(name);
      walk(schemas[name]);
    }
  };
  walk(value);
  return found;
}

function opened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(opened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      key === 'additionalProperties' && inner === false ? [] : [[key, opened(inner)]],
    ),
  );
}
