import { expect, test } from 'vitest';
import { OPERATIONS } from '../../src/client/api.ts';
import { describeInline } from '../../src/http/openapi.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { type Answer, json, stub } from './support.ts';

interface Described {
  readonly operationId: string;
  readonly parameters: readonly { name: string; in: string }[];
  readonly requestBody?: { content: Record<string, unknown> };
  readonly responses: Record<string, { content?: Record<string, unknown> }>;
}

// through JSON, as a client reads it
const { paths } = JSON.parse(JSON.stringify(describeInline(ROUTES))) as {
  paths: Record<string, Record<string, Described>>;
};
const described = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

type Call = ((...given: unknown[]) => Promise<unknown>) & { readonly operation: string };

/** Every function of the client, with its path. */
function functionsOf(client: object): { name: string; call: Call }[] {
  return Object.entries(client).flatMap(([noun, resource]) =>
    Object.entries(resource as object).map(([verb, call]) => ({
      name: `${noun}.${verb}`,
      call: call as Call,
    })),
  );
}

/** A response that an operation may give. */
function answerOf({ responses }: Described): Answer {
  const [status = '200', { content = {} } = {}] =
    Object.entries(responses).find(([code]) => code.startsWith('2')) ?? [];
  if ('application/json' in content) return json(Number(status), { data: [], pagination: { pages: 0 } });
  return (_, response) => void response.writeHead(Number(status)).end();
}

/** Arguments of the kinds an operation takes, as its function has them: path, body, query. */
function argumentsOf({ operationId, parameters, requestBody }: Described): unknown[] {
  const path = parameters.filter((parameter) => parameter.in === 'path').map((_, index) => `id_${index}`);
  const hasQuery = parameters.some((parameter) => parameter.in === 'query');
  // these take the list directly, and build the body from it
  if (['createCommissionBatch', 'publishEventBatch'].includes(operationId)) return [[]];
  const body = !requestBody ? [] : 'application/json' in requestBody.content ? [{ field: 1 }] : ['a,b\n'];
  return [...path, ...body, ...(hasQuery ? [{ parameter: 'x' }] : [])];
}

test('the client has a function for every operation of the description, and no other', async () => {
  const { client } = await stub(json(200, {}));
  const reached = functionsOf(client).map(({ call }) => call.operation);
  expect(reached.toSorted()).toEqual(described.map(({ operation }) => operation.operationId).toSorted());
  expect(Object.keys(OPERATIONS)).toEqual(described.map(({ operation }) => operation.operationId));
});

test.each(described)('$operation.operationId calls $method $path with all its arguments', async (about) => {
  const { method, path, operation } = about;
  const { client, seen } = await stub(answerOf(operation));
  const found = functionsOf(client).find(({ call }) => call.operation === operation.operationId);
  const given = argumentsOf(operation);
  await found?.call(...given, { idempotencyKey: 'one', ifMatch: 7 });
  const [request] = seen;
  let parts = 0;
  const filled = path.replaceAll(/\{\w+\}/g, () => {
    parts += 1;
    return `id_${parts - 1}`;
  });
  const hasQuery = operation.parameters.some((parameter) => parameter.in === 'query');
  expect(request?.method).toBe(method);
  expect(request?.url).toBe(`${filled}${hasQuery ? '?parameter=x' : ''}`);
  expect(request?.headers.authorization).toBe('Bearer secret');
  const named = operation.parameters.filter((parameter) => parameter.in === 'header');
  for (const { name } of named) expect(request?.headers).toHaveProperty(name.toLowerCase());
  if (operation.requestBody) {
    const [type = ''] = Object.keys(operation.requestBody.content);
    expect(request?.headers['content-type']).toBe(type);
    expect(request?.body).not.toBe('');
  } else {
    expect(request?.body).toBe('');
  }
});

test('an id that would lead to another operation is not sent', async () => {
  const { client, seen } = await stub(json(200, {}));
  for (const id of ['', '.', '..', undefined as unknown as string]) {
    await expect(client.payouts.get(id)).rejects.toThrow('payout_id must be an id');
    await expect(client.payouts.affiliates(id)).rejects.toThrow('payout_id must be an id');
  }
  expect(seen).toEqual([]);
  await client.payouts.get('a/../b?c#d');
  expect(seen[0]?.url).toBe('/v2/affiliates/payouts/a%2F..%2Fb%3Fc%23d');
});
