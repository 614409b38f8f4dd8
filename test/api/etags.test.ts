import { beforeAll, describe, expect, test } from 'vitest';
import type { Answer, Api } from '../support/api.ts';
import { someOf } from '../support/depth.ts';
import { inlinePaths } from '../support/description.ts';
import { useWorld } from '../support/world.ts';
import { furnish, type Ids, OPERATIONS, type Operation, pathOf } from '../tenants/support.ts';

const world = useWorld({ cell: 0 }); // it reads the state of the installation too
const { api } = world;
let other: Api;
let ids: Ids;
let theirs: Ids;
beforeAll(async () => {
  other = await world.otherAccount();
  ids = await everything(api, 'ours');
  theirs = await everything(other, 'theirs');
});

/** One record of each kind, and the event type that paths name. */
async function everything(by: Api, whose: string): Promise<Ids> {
  expect((await by.put('/v2/event-types/order.created', { description: whose })).status).toBe(200);
  return furnish(world, by, whose);
}

type Described = Record<string, Record<string, { responses: Record<string, { content?: object }> }>>;
const PATHS = inlinePaths() as Described;
const isJson = ({ path, method }: Operation) =>
  'application/json' in (PATHS[path]?.[method.toLowerCase()]?.responses['200']?.content ?? {});
/** Responses that show a secret of the caller. */
const SECRET = ['getWebhookEndpointSecret', 'getMe'];
const READS = OPERATIONS.filter((each) => each.method === 'GET');
/** What a key sees only with the name of a person. */
const OF_SOMEBODY = ['getAlertSettings', 'listOwnSessions'];
const KEPT = READS.filter((each) => isJson(each) && ![...SECRET, ...OF_SOMEBODY].includes(each.operationId));

const look = (path: string, etag: string, method = 'GET', by = api): Promise<Answer> =>
  by.request(method, path, { headers: { 'if-none-match': etag } });
const tagOf = (answer: Answer) => answer.headers.get('etag') ?? '';

test('most reads are tested here', () => {
  expect(KEPT.length).toBeGreaterThan(25);
});

test.each(someOf(KEPT, 14))('$operationId is not sent again to a client that has it', async (operation) => {
  const path = pathOf(operation, ids);
  // the last use of a credential is stored with the first request of its minute
  await api.get(path);
  const first = await api.get(path);
  expect(first.status, first.text).toBe(200);
  expect(first.headers.get('cache-control')).toBe('private, no-cache');
  const etag = tagOf(first);
  expect(etag).toMatch(/^"(\d+-)?[\w-]{22}(-gzip)?"$/);
  const isFirst = operation === KEPT[0];
  for (const known of isFirst ? [etag, `W/${etag}`, `"other", ${etag}`, '*'] : [etag]) {
    const again = await look(path, known);
    expect([again.status, again.text, tagOf(again)], known).toEqual([304, '', etag]);
    expect(again.headers.get('cache-control')).toBe('private, no-cache');
  }
  for (const unknown of isFirst ? ['"other"', etag.replaceAll('"', ''), ''] : ['"other"']) {
    const again = await look(path, unknown);
    expect([again.status, again.text], unknown).toEqual([200, first.text]);
  }
  if (!isFirst) return;
  const head = await look(path, '"other"', 'HEAD');
  expect([head.status, head.text, tagOf(head)]).toEqual([200, '', etag]);
  expect((await look(path, etag, 'HEAD')).status).toBe(304);
});

test.each(someOf(KEPT, 12))(
  'the ETag of our $operationId matches nothing of another account',
  async (operation) => {
    const [mine, foreign] = [
      await api.get(pathOf(operation, ids)),
      await other.get(pathOf(operation, theirs)),
    ];
    const answer = await look(pathOf(operation, theirs), tagOf(mine), 'GET', other);
    // the catalogue of types is the same for everyone; nobody there has our own id
    expect(answer.status).toBe(mine.text === foreign.text ? 304 : foreign.status);
    const missing = await look(pathOf(operation, theirs), tagOf(foreign));
    if (operation.pathParameters.length > 0) expect(missing.status).toBe(404);
  },
);

test('responses with a secret, files and refusals must not be cached', async () => {
  const named = READS.filter(({ operationId }) => SECRET.includes(operationId));
  const answers = await Promise.all([
    ...named.map((operation) => api.get(pathOf(operation, ids))),
    api.get(`/v2/affiliates/payouts/${ids.payout_id}/download`),
    api.get('/v2/affiliates?page=none'),
    api.post('/v2/affiliates/payouts/preview'),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 400, 200]);
  for (const answer of answers) expect(answer.headers.get('cache-control')).toBe('no-store');
  for (const answer of [...answers.slice(0, 2), ...answers.slice(3)]) expect(tagOf(answer)).toBe('');
});

test('every change of a record or a list changes its ETag', async () => {
  const [one, list] = [`/v2/affiliates/${ids.affiliate_id}`, '/v2/affiliates'];
  const before = [tagOf(await api.get(one)), tagOf(await api.get(list))] as const;
  await api.patch(one, { name_first: 'Grace' });
  expect((await look(one, before[0])).body.name_first).toBe('Grace');
  expect((await look(list, before[1])).status).toBe(200);
  // the next page is another response than the first
  const first = tagOf(await api.get(`${list}?per_page=1`));
  expect((await look(`${list}?per_page=1&page=2`, first)).status).toBe(200);
});

describe('of a payout', () => {
  const path = () => `/v2/affiliates/payouts/${ids.payout_id}`;

  test('If-Match accepts it like the bare revision, and refuses that of an older revision', async () => {
    const commissions = [{ affiliate_id: ids.affiliate_id, is_paid: true }];
    const complete = (tag: string) => api.put(path(), { commissions }, { 'if-match': tag });
    const old = await api.get(path());
    expect(tagOf(old)).toMatch(new RegExp(`^"${old.body.revision}-`));
    // the destination is another name
    await api.patch(`/v2/affiliates/${ids.affiliate_id}`, { name_first: 'Maria' });
    const now = await api.get(path());
    expect(now.body.revision).toBeGreaterThan(old.body.revision);
    for (const tag of [tagOf(old), `"${old.body.revision}"`, `"${now.body.revision}x"`]) {
      const refused = await complete(tag);
      expect([refused.status, refused.reason], tag).toEqual([409, 'payout_changed']);
    }
    const done = await complete(tagOf(now));
    expect([done.status, done.body.status]).toEqual([200, 'paid']);
  });
});
