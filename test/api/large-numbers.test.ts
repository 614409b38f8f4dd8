import { expect, test } from 'vitest';
import { makeEndpoint } from '../support/seed.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { ENDPOINTS, EVENTS, expectRefusal, nothingChanges } from './fixtures.ts';

/*
 * Filters read a payload as jsonb, whose numbers have limits. An event with a number beyond them would reach no
 * endpoint that has a filter.
 */

const world = useWorld();
const api = useAccount(world);

const send = (path: string, body: string) =>
  api.request('POST', path, { body, headers: { 'content-type': 'application/json' } });

/** Whether PostgreSQL itself can hold a number as jsonb. */
const isHeld = (number: string): Promise<boolean> =>
  world.query('select $1::text::jsonb', [number]).then(
    () => true,
    () => false,
  );

const NUMBERS = [
  '1e131071',
  '-1e131071',
  '9'.repeat(131_072),
  '10e131070',
  '0.001e131074',
  '1e-16383',
  `0.${'1'.repeat(16_383)}`,
  '1.5e-16382',
  '0e200000',
  '0.0e+1073741822',
  '1.5E00000000000000000000003',
  '1e131072',
  '-1e131072',
  '1e131073',
  '1'.repeat(131_073),
  '10e131071',
  '0.001e131075',
  '1e-16384',
  '-0.0E-16383',
  '0e-16384',
  `1.${'0'.repeat(16_384)}`,
  '1.5e-16383',
  '0e1073741824',
  '1e99999999999999999999',
  '1e-99999999999999999999',
];

test('an event is refused exactly when PostgreSQL cannot hold one of its numbers; any other reaches endpoints with a filter', async () => {
  const endpoint = await makeEndpoint(api, { filter: { 'data.is': 'wanted' } });
  const published: string[] = [];
  let refused = 0;
  for (const number of NUMBERS) {
    const publish = () =>
      send(EVENTS, `{"type":"order.created","data":{"is":"wanted","lines":[{"n":1},{"n":${number}}]}}`);
    if (await isHeld(number)) {
      const answer = await publish();
      expect(answer.status, `${number.slice(0, 40)}: ${answer.text.slice(0, 300)}`).toBe(201);
      expect(answer.text).toContain(`{"n":${number}}`);
      published.push(answer.body.id);
    } else {
      await nothingChanges(world, async () =>
        expectRefusal(
          await publish(),
          400,
          'invalid_body',
          'data.lines[1].n must have at most 131072 digits before the decimal point and 16383 after it',
        ),
      );
      refused += 1;
    }
  }
  const { body } = await api.get(`${ENDPOINTS}/${endpoint}/events?sort=id`);
  expect(body.data.map(({ id }: { id: string }) => id)).toEqual(published);
  expect([published.length, refused]).toEqual([11, 14]);
});

test('so is one in a batch, in a test event and in the payload of a filter trial, each by its path', async () => {
  const endpoint = await makeEndpoint(api);
  const [fine, bad] = ['{"n":1e131071}', '{"n":1e131072}'];
  const ways: [string, (data: string) => string, string][] = [
    [
      `${EVENTS}/batch`,
      (data) => `{"events":[{"type":"a.b","data":{}},{"type":"a.b","data":${data}}]}`,
      'events[1].data.n',
    ],
    [`${ENDPOINTS}/${endpoint}/test`, (data) => `{"type":"order.created","data":${data}}`, 'data.n'],
    [
      `${ENDPOINTS}/${endpoint}/test-filter`,
      (data) => `{"filter":{"data.n":{"$gt":1}},"payload":{"type":"a.b","data":${data}}}`,
      'payload.data.n',
    ],
  ];
  for (const [path, body, field] of ways) {
    await nothingChanges(world, async () =>
      expectRefusal(await send(path, body(bad)), 400, 'invalid_body', `${field} must have at most`),
    );
    const answer = await send(path, body(fine));
    expect(answer.status, answer.text.slice(0, 300)).toBeLessThan(300);
  }
});
