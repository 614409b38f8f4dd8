import { beforeAll, describe, expect, inject, test } from 'vitest';
import { askerOf, type Member, memberOf } from '../access/support.ts';
import { nothingChangesInTurn } from '../api/fixtures.ts';
import type { Api } from '../support/api.ts';
import { useWorld } from '../support/world.ts';
import {
  dump,
  furnish,
  type Ids,
  nobodys,
  numberApart,
  OPERATIONS,
  pathOf,
  REFERENCES,
  requestOf,
  visible,
} from './support.ts';

const { replica } = inject('postgres');
const world = useWorld(replica && { settings: { METRICS_PORT: '0' } });
let ours: Ids;
let theirs: Ids;
let other: Api;
let person: Member;
beforeAll(async () => {
  await numberApart(world);
  ours = await furnish(world, world.api, 'ours');
  person = await memberOf(world.api, 'member');
  other = await world.otherAccount();
  theirs = await furnish(world, other, 'theirs');
});

/** Runs the work and checks that no row of any account changed. */
async function changingNothing(
  work: () => Promise<void>,
  but: { readonly without?: readonly string[] } = {},
): Promise<void> {
  const before = await dump(world, but);
  await work();
  expect(await dump(world, but)).toBe(before);
}

describe("with another account's ids", () => {
  const withParameters = OPERATIONS.filter(({ pathParameters }) => pathParameters.length > 0);
  const leavingAll = nothingChangesInTurn(() => dump(world));

  test.each(withParameters)('$operationId answers as for a missing row and changes nothing', (operation) =>
    leavingAll(async () => {
      const names = operation.pathParameters as (keyof Ids)[];
      // each parameter by itself, so that a right payout does not open a wrong affiliate, and then all together
      for (const wrong of [...names.map((name) => [name]), names]) {
        const ask = (foreign: Ids) => {
          const ids = { ...ours, ...Object.fromEntries(wrong.map((name) => [name, foreign[name]])) };
          const request = [operation.method, pathOf(operation, ids), requestOf(operation, ours)] as const;
          return askerOf(world.api, person, !operation.access.key)(...request);
        };
        const [answer, missing] = [await ask(theirs), await ask(nobodys)];
        expect(answer.status, answer.text).toBe(404);
        expect(visible(answer, theirs)).toEqual(visible(missing, nobodys));
        expect(answer.text).toBe(missing.text);
      }
    }),
  );

  // the sample of a body omits these: enumerated values, such as `payload` of an endpoint; the fields of a PUT stay
  // together, which is checked first
  const changes = withParameters.filter(({ method }) => method !== 'PUT');
  const choices = changes.flatMap((operation) =>
    Object.entries(operation.body?.properties ?? {}).flatMap(([field, schema]) => {
      const values = [schema, ...(schema.anyOf ?? [])].flatMap((each) => each.enum ?? []);
      return values.length > 0 ? [{ operation, operationId: operation.operationId, field, values }] : [];
    }),
  );

  test.each(choices)(
    "$operationId sets no $field of another account's record",
    ({ operation, field, values }) =>
      leavingAll(async () => {
        for (const value of values) {
          const askOf = (foreign: Ids) => {
            const request = requestOf(operation, ours);
            const body = { ...(request.body as object), [field]: value };
            const ask = askerOf(world.api, person, !operation.access.key);
            return ask(operation.method, pathOf(operation, foreign), { ...request, body });
          };
          const [answer, missing] = [await askOf(theirs), await askOf(nobodys)];
          expect([answer.status, answer.reason], answer.text).toEqual([404, 'resource_missing']);
          expect(visible(answer, theirs)).toEqual(visible(missing, nobodys));
        }
      }),
  );

  const references = OPERATIONS.flatMap((operation) =>
    REFERENCES.filter((name) => JSON.stringify(operation.body ?? {}).includes(`"${name}"`)).map((name) => ({
      operation,
      name,
      operationId: operation.operationId,
    })),
  );

  test.each(references)('$operationId refuses their $name in the body as it refuses one nobody has', (each) =>
    leavingAll(async () => {
      const askOf = (foreign: Ids) => {
        const ids = { ...ours, [each.name]: foreign[each.name] };
        const body = requestOf(each.operation, ids, new Set([each.name]));
        expect(JSON.stringify(body)).toContain(`"${each.name}":${JSON.stringify(foreign[each.name])}`);
        const ask = askerOf(world.api, person, !each.operation.access.key);
        return ask(each.operation.method, pathOf(each.operation, ours), body);
      };
      const [answer, missing] = [await askOf(theirs), await askOf(nobodys)];
      // the account has an unpaid payout, which is checked before the commissions of a new one; its endpoint has a URL, and
      // the id in an acknowledgement is that of an event (delivery/pull)
      const judgedBefore = ['createPayout', 'acknowledgeWebhookEvents', 'extendWebhookLeases'].includes(
        each.operationId,
      );
      expect(answer.status, answer.text).toBe(judgedBefore ? 409 : 400);
      expect(visible(answer, theirs)).toEqual(visible(missing, nobodys));
    }),
  );

  test('their own id of a record is unknown here; a record created with it is ours', async () => {
    const at = (name: string) => `/v2/affiliates/by-external-id/${name}`;
    await changingNothing(async () => {
      const [foreign, missing] = [await world.api.get(at('theirs-1')), await world.api.get(at('nobodys-1'))];
      expect([foreign.status, foreign.text]).toEqual([404, missing.text]);
      const changed = await world.api.put(at('theirs-1'), { name_first: 'Mallory' });
      expect([changed.status, changed.text]).toEqual([
        400,
        (await world.api.put(at('nobodys-1'), { name_first: 'Mallory' })).text,
      ]);
    });
    const before = (await other.get(at('theirs-1'))).text;
    const made = await world.api.put(at('theirs-1'), { email: 'theirs-1@example.com' });
    expect(made.status, made.text).toBe(201);
    expect((await other.get(at('theirs-1'))).text).toBe(before);
  });

  test.each(['affiliate_external_id', 'affiliate_email'])(
    'a commission for their %s is refused as one for nobody',
    (name) =>
      changingNothing(async () => {
        const at = name === 'affiliate_email' ? '@example.com' : '';
        const ask = (text: string) =>
          world.api.post('/v2/affiliates/commissions', { external_id: 'x', amount: 1, [name]: text });
        const [foreign, missing] = [await ask(`theirs-0${at}`), await ask(`nobody-0${at}`)];
        expect([foreign.status, foreign.reason]).toEqual([400, 'unknown_affiliate']);
        expect(foreign.text.replaceAll('theirs', '?')).toBe(missing.text.replaceAll('nobody', '?'));
      }),
  );

  interface Bucket {
    readonly published: number;
  }
  const leavingAllFilters = nothingChangesInTurn(() => dump(world));
  const filters = OPERATIONS.flatMap((operation) =>
    REFERENCES.filter((name) => operation.queryParameters.includes(name)).map((name) => ({
      operation,
      name,
      operationId: operation.operationId,
    })),
  );

  // its query names the record, as a path does elsewhere
  const isAbout = ({ operation }: (typeof filters)[number]) => operation.path.startsWith('/v2/alerts');

  test.each(filters.filter(isAbout))('$operationId finds no record of their $name', ({ operation, name }) =>
    leavingAllFilters(async () => {
      const ask = (foreign: Ids) =>
        world.api.request(
          operation.method,
          `${operation.path}?${name}=${foreign[name]}`,
          requestOf(operation, ours),
        );
      const [answer, missing] = [await ask(theirs), await ask(nobodys)];
      expect([answer.status, answer.reason]).toEqual([404, 'resource_missing']);
      expect(visible(answer, theirs)).toEqual(visible(missing, nobodys));
    }),
  );

  test.each(filters.filter((each) => !isAbout(each)))(
    '$operationId finds for their $name what it finds for one nobody has',
    (each) =>
      leavingAllFilters(async () => {
        const ask = (foreign: Ids) =>
          world.api.request(
            each.operation.method,
            `${pathOf(each.operation, ours)}?${each.name}=${foreign[each.name]}`,
          );
        const [answer, missing] = [await ask(theirs), await ask(nobodys)];
        expect(answer.status).toBe(200);
        expect(visible(answer, theirs)).toEqual(visible(missing, nobodys));
        const { data, series, buckets = [] } = answer.body;
        expect(data ?? series ?? buckets.filter((bucket: Bucket) => bucket.published > 0)).toEqual([]);
      }),
  );

  test('the tests above cover the references in paths, bodies and queries', () => {
    expect(withParameters.length).toBeGreaterThan(10);
    expect(choices.map(({ operationId, field }) => `${operationId} ${field}`)).toContain(
      'changeWebhookEndpoint payload',
    );
    expect(references.length).toBeGreaterThan(3);
    expect(filters.length).toBeGreaterThan(4);
  });

  test.each(['payouts', 'payouts/preview'])(
    'POST %s refuses a filter by their affiliate or program',
    (path) =>
      changingNothing(async () => {
        for (const field of ['affiliate_id', 'program_id'] as const) {
          for (const shape of [
            (id: unknown) => id,
            (id: unknown) => [id],
            (id: unknown) => ({ nin: [id] }),
          ]) {
            const ask = (foreign: Ids) =>
              world.api.post(`/v2/affiliates/${path}`, { filters: { [field]: shape(foreign[field]) } });
            const [answer, missing] = [await ask(theirs), await ask(nobodys)];
            // the account's unpaid payout prevents a create in either case
            expect([400, 409], answer.text).toContain(answer.status);
            expect(visible(answer, theirs)).toEqual(visible(missing, nobodys));
          }
        }
      }),
  );

  test('a partial batch imports nothing for their affiliate and gives the error of a missing one', () =>
    changingNothing(async () => {
      const ask = (foreign: Ids) =>
        world.api.post('/v2/affiliates/commissions/batch', {
          partial: true,
          commissions: [
            { external_id: 'x', affiliate_id: foreign.affiliate_id, amount: 1, currency: 'usd' },
            {
              external_id: 'y',
              affiliate_id: ours.affiliate_id,
              program_id: foreign.program_id,
              amount: 1,
              currency: 'usd',
            },
          ],
        });
      const [answer, missing] = [await ask(theirs), await ask(nobodys)];
      expect(answer.body.items.map(({ status }: { status: number }) => status)).toEqual([400, 400]);
      expect(visible(answer, theirs)).toEqual(visible(missing, nobodys));
    }));

  const columns = [
    ['affiliate_id', () => theirs.affiliate_id, () => nobodys.affiliate_id],
    ['affiliate_email', () => 'theirs-0@example.com', () => 'nobody-0@example.com'],
    ['affiliate_external_id', () => 'theirs-0', () => 'nobody-0'],
  ] as const;
  test.each(columns)(
    'a file with their %s is refused like one with an unknown affiliate',
    (column, id, none) =>
      changingNothing(
        async () => {
          const ask = (value: unknown, query = '') =>
            world.api.upload(
              `/v2/affiliates/commissions/import${query}`,
              `external_id,${column},amount,currency\nx,${value},1.00,usd\n`,
            );
          for (const query of ['', '?partial=true', '?dry_run=true']) {
            const [foreign, missing] = [await ask(id(), query), await ask(none(), query)];
            expect(foreign.status).toBe(query === '' ? 400 : 200);
            expect(foreign.text.replaceAll(String(id()), '?')).toBe(
              missing.text.replaceAll(String(none()), '?'),
            );
          }
        },
        // a partial import succeeds, although it found nothing to import
        { without: ['audit_log', 'imports'] },
      ),
  );

  test('the audit log shows nothing of another account, whatever filter is used', async () => {
    const entries = await other.get('/v2/audit-log?per_page=100');
    const { actor } = entries.body.data[0];
    expect(entries.body.pagination.total).toBeGreaterThan(5);
    for (const filter of [`actor_id=${actor.id}`, ...REFERENCES.map((name) => `target=${theirs[name]}`)]) {
      const answer = await world.api.get(`/v2/audit-log?${filter}`);
      expect([answer.status, answer.body.data], filter).toEqual([200, []]);
    }
  });

  test('a refund by their order finds no commission: it waits, as for an order nobody has', async () => {
    const listed = async () => (await other.get('/v2/affiliates/commissions?order_id=order of theirs')).text;
    const before = await listed();
    for (const order_id of ['order of theirs', 'order of nobody']) {
      const foreign = await world.api.post('/v2/affiliates/refunds', { external_id: order_id, order_id });
      expect(foreign.status, foreign.text).toBe(201);
      expect(foreign.body).toMatchObject({ status: 'waiting', refunds: [] });
    }
    expect(await listed()).toBe(before);
  });
});

test('unique values of one account are free in another: ids, e-mails, names and Idempotency-Keys', async () => {
  const key = { 'idempotency-key': 'the same key' };
  for (const [path, body] of [
    ['/v2/affiliates', { email: 'theirs-0@example.com', external_id: 'theirs-0' }],
    ['/v2/affiliates/programs', { name: 'Program of theirs' }],
    ['/v2/api-keys', { name: 'till of theirs' }],
  ] as const) {
    expect((await world.api.post(path, body)).status, path).toBe(201);
  }
  const sale = { external_id: 'theirs-0', affiliate_id: ours.affiliate_id, amount: 7, currency: 'usd' };
  expect((await world.api.post('/v2/affiliates/commissions', sale, key)).status).toBe(201);
  const same = { ...sale, external_id: 'new', affiliate_id: theirs.affiliate_id };
  const made = await other.post('/v2/affiliates/commissions', same, key);
  expect([made.status, made.headers.get('idempotent-replayed')]).toEqual([201, null]);
});

test('a key sees nothing of another account in any list', async () => {
  const lists = OPERATIONS.filter(
    ({ method, path, queryParameters }) =>
      method === 'GET' && queryParameters.includes('per_page') && !path.startsWith('/v2/me/'),
  );
  expect(lists.length).toBeGreaterThan(5);
  for (const operation of lists) {
    const answer = await world.api.get(pathOf(operation, ours));
    expect(answer.status).toBe(200);
    for (const name of [
      'payout_id',
      'commission_id',
      'key_id',
      'user_id',
      'session_id',
      'application_id',
      'grant_id',
      'id',
      'event_id',
      'recovery_id',
      'import_id',
      'return_id',
    ] as const)
      expect(answer.text, operation.operationId).not.toContain(theirs[name]);
    expect(answer.text).not.toMatch(new RegExp(`"affiliate_id":${theirs.affiliate_id}[,}]`));
  }
});

test.runIf(replica)('the replica answered the lists and reports above', async () => {
  const metrics = await (await fetch(world.metricsUrl)).text();
  const [, reads] = /^payhook_reads_total\{from="replica"\} (\d+)$/m.exec(metrics) ?? [];
  expect(Number(reads)).toBeGreaterThan(100);
});
