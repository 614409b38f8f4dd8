import { beforeEach, expect, test } from 'vitest';
import { type Client, createClient } from '../../src/client/client.ts';
import { useWorld } from '../support/world.ts';

const world = useWorld();
let client: Client;
/** The requests of the client so far. */
let requests = 0;
beforeEach(async () => {
  const { key } = await world.otherAccount();
  requests = 0;
  const onRequest = () => {
    requests += 1;
  };
  client = createClient({ url: world.url, apiKey: key, onRequest });
  return () => client.close();
});

const csv = (from: number, count: number) =>
  `email\n${Array.from({ length: count }, (_, index) => `a${from + index}@example.com\n`).join('')}`;

test('awaiting a list gives one page, and iterating it gives every record', async () => {
  await client.affiliates.import(csv(0, 230));
  requests = 0;
  const newest = await client.affiliates.list({ per_page: 2 });
  expect(newest.pagination).toEqual({
    page: 1,
    limit: 2,
    total: 230,
    pages: 115,
    next: expect.any(String),
  });
  expect(newest.data.map(({ email }) => email)).toEqual(['a229@example.com', 'a228@example.com']);
  expect(requests).toBe(1);

  const emails: string[] = [];
  for await (const { email } of client.affiliates.list()) emails.push(email);
  expect(emails).toEqual(Array.from({ length: 230 }, (_, index) => `a${index}@example.com`));
  expect(requests).toBe(4);
});

test('records added while a list is iterated come at its end, and none is skipped or repeated', async () => {
  await client.affiliates.import(csv(0, 150));
  const ids: number[] = [];
  for await (const { id } of client.affiliates.list()) {
    ids.push(id);
    if (ids.length === 1 || ids.length === 100) await client.affiliates.import(csv(150 + ids.length, 30));
  }
  expect(new Set(ids).size).toBe(210);
  expect(ids).toHaveLength(210);
});

test('a record that leaves the list while it is iterated hides no other', async () => {
  await client.affiliates.import(csv(0, 25));
  const seen: string[] = [];
  for await (const { id, email } of client.affiliates.list({ status: 'active', per_page: 10 })) {
    seen.push(email);
    await client.affiliates.change(id, { status: 'inactive' });
  }
  expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => `a${index}@example.com`));
});

test('a loop continues after the given cursor', async () => {
  await client.affiliates.import(csv(0, 8));
  const { pagination } = await client.affiliates.list({ sort: '-id', per_page: 3 });
  const emails: string[] = [];
  for await (const { email } of client.affiliates.list({ after: String(pagination.next), per_page: 3 }))
    emails.push(email);
  expect(emails).toEqual([4, 3, 2, 1, 0].map((number) => `a${number}@example.com`));
});

test('order, page size and a first page are kept while iterating', async () => {
  await client.affiliates.import(csv(0, 10));
  requests = 0;
  const emails: string[] = [];
  for await (const { email } of client.affiliates.list({ sort: '-id', per_page: 4, page: 2 })) {
    emails.push(email);
  }
  expect(emails).toEqual([5, 4, 3, 2, 1, 0].map((number) => `a${number}@example.com`));
  expect(requests).toBe(2);
});

test('nothing is requested before someone awaits it, nothing twice, and nothing more once nobody does', async () => {
  await client.affiliates.import(csv(0, 150));
  requests = 0;
  const list = client.affiliates.list();
  expect(requests).toBe(0);
  expect(await Promise.all([list, list, list.finally(() => undefined)])).toHaveLength(3);
  expect(requests).toBe(1);
  for await (const { email } of client.affiliates.list()) {
    if (email === 'a99@example.com') break;
  }
  expect(requests).toBe(2);
});

test('every list can be iterated, even one without ids', async () => {
  const types: string[] = [];
  for await (const { type } of client.events.types({ per_page: 5 })) types.push(type);
  expect(types).toContain('payout.paid');
  expect(types).toEqual(types.toSorted());
  const lists = [
    client.payouts.list(),
    client.programs.list(),
    client.commissions.list({ status: 'unpaid', 'occurred_at[gte]': '2026-01-01' }),
    client.webhookEndpoints.list(),
    client.webhookEvents.list(),
    client.apiKeys.list(),
    client.users.list(),
    client.sessions.list(),
    client.auditLog.list(),
    client.oauthApplications.list(),
    client.oauthGrants.list(),
  ];
  for (const list of lists) for await (const { object } of list) expect(object).toBe('api_key');
});

test('a refusal rejects both the await and the iteration', async () => {
  const lost = () => client.payouts.affiliates('po_lost');
  await expect(lost()).rejects.toMatchObject({ reason: 'resource_missing' });
  await expect(lost().catch(({ reason }) => reason)).resolves.toBe('resource_missing');
  const iterate = async () => {
    for await (const _ of lost()) expect.unreachable();
  };
  await expect(iterate()).rejects.toMatchObject({ reason: 'resource_missing' });
});
