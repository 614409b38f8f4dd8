import { expect, test } from 'vitest';
import { type Description, toolsOf } from '../../src/cli/mcp/tools.ts';
import { describeInline } from '../../src/http/openapi.ts';
import { ROUTES } from '../../src/http/routes.ts';

interface Described {
  readonly operationId: string;
  readonly 'x-secret'?: true;
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
}
interface Schema {
  readonly $ref?: string;
  readonly properties?: object;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
}
interface Content {
  readonly schema?: Schema;
}

// through JSON, as a client reads it
const description = JSON.parse(JSON.stringify(describeInline(ROUTES))) as Description;
const operations = Object.values(description.paths).flatMap(
  (methods) => Object.values(methods) as unknown as Described[],
);
const flagged = operations.filter((one) => one['x-secret']).map(({ operationId }) => operationId);

function propertiesOf({ $ref, properties = {}, allOf = [], anyOf = [] }: Schema): string[] {
  const named = $ref === undefined ? [] : [description.components.schemas?.[$ref.split('/').at(-1) ?? '']];
  const parts = [...named, ...allOf, ...anyOf] as Schema[];
  return [...Object.keys(properties), ...parts.flatMap(propertiesOf)];
}

/** The fields of its answers. */
const fieldsOf = ({ responses }: Described) =>
  Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content = {} }]) =>
      Object.values(content).flatMap(({ schema }) => propertiesOf(schema ?? {})),
    );

const NAMES = ['secret', 'client_secret', 'key', 'token', 'csrf_token', 'invitation_url', 'reset_url'];

test('every operation that answers with a secret is flagged', () => {
  const answering = operations.filter((one) => fieldsOf(one).some((field) => NAMES.includes(field)));
  expect(answering.length).toBeGreaterThan(8);
  expect(flagged).toEqual(expect.arrayContaining(answering.map(({ operationId }) => operationId)));
});

test('the flag of a route names a field of its answer', () => {
  for (const { operation, secret } of ROUTES) {
    const described = operations.find((one) => one.operationId === operation);
    expect(flagged.includes(operation), operation).toBe(secret !== undefined);
    if (typeof secret === 'string') expect(described && fieldsOf(described), operation).toContain(secret);
  }
});

test('no flagged operation is a tool of payhook mcp', () => {
  const tools = toolsOf(description).map(({ name }) => name);
  expect(tools.length).toBeGreaterThan(50);
  expect(tools.filter((name) => flagged.includes(name))).toEqual([]);
});
