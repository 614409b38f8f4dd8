import { beforeAll, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { apiOf } from '../support/api.ts';
import { useWorld } from '../support/world.ts';
import { dump, furnish, type Ids, numberApart, OPERATIONS, pathOf, requestOf } from '../tenants/support.ts';

const ALLOWED = ['claimWebhookEvents', 'acknowledgeWebhookEvents', 'extendWebhookLeases'];

const world = useWorld();
let ours: Ids;
let theirs: Ids;
let consumer: Api;
beforeAll(async () => {
  await numberApart(world);
  ours = await furnish(world, world.api, 'ours');
  theirs = await furnish(world, await world.otherAccount(), 'theirs');
  const endpoints = '/v2/webhook-endpoints';
  const made = await world.api.post(endpoints, { delivery: 'pull', event_types: ['order.*'] });
  const { body } = await world.api.post(`${endpoints}/${made.body.id}/token`);
  consumer = apiOf(world.url, body.token);
});

const ask = (operation: (typeof OPERATIONS)[0], ids: Ids) =>
  consumer.request(operation.method, pathOf(operation, ids), requestOf(operation, ids));

test('the token of a pull endpoint gets 403 from every operation that does not claim, extend or acknowledge, and changes nothing', async () => {
  const closed = OPERATIONS.filter(({ operationId }) => !ALLOWED.includes(operationId));
  expect(closed).toHaveLength(OPERATIONS.length - ALLOWED.length);
  const before = await dump(world);
  for (const operation of closed) {
    // with existing records and a valid body: nothing else refuses it
    const answer = await ask(operation, ours);
    expect([answer.status, answer.reason], operation.operationId).toEqual([403, 'not_for_consumers']);
  }
  expect(await dump(world)).toBe(before);
});

test('it finds nothing at another endpoint of its account or of another one', async () => {
  const before = await dump(world);
  for (const ids of [ours, theirs])
    for (const operation of OPERATIONS.filter(({ operationId }) => ALLOWED.includes(operationId))) {
      const answer = await ask(operation, ids);
      expect([answer.status, answer.reason], operation.operationId).toEqual([404, 'resource_missing']);
    }
  expect(await dump(world)).toBe(before);
});
