import { expect, test } from 'vitest';
import { API_VERSIONS, payloadAt } from '../../src/db/api-versions.ts';
import { expectRefusal } from '../api/fixtures.ts';
import { onStage, uuidOf } from './support.ts';

const OLDEST = '1.0.0';
/** Two breaking changes: 1.1.0 renamed `sum` to `total`, and 2.0.0 moved `currency` into `money`. */
const VERSIONS = {
  names: [OLDEST, '1.1.0', ...API_VERSIONS.names],
  downgrades: {
    '1.1.0': { 'order.created': `data - 'total' || jsonb_build_object('sum', data -> 'total')` },
    '2.0.0': {
      'order.created': `data - 'money' || jsonb_build_object('currency', data -> 'money' -> 'currency')`,
    },
  },
};
// a number that JavaScript would round, and a key that looks like the envelope's
const DATA = '{"total":12345678901234567890.10,"money":{"currency":"eur"},"api_version":"2.0.0"}';

test('an endpoint gets events in its version, leased at once, by a claim, thin and in batches; the log shows what was sent', () =>
  onStage({ own: true, settings: { DELIVERY_SCHEDULE: '0s,1h' } }, async (stage) => {
    const { world } = stage;
    await world.query(payloadAt(VERSIONS));
    const receivers = await Promise.all([0, 1, 2, 3, 4].map(() => stage.receiver()));
    const [current, former, oldest, thin, batched] = receivers;
    const made = async (receiver: (typeof receivers)[number], version: string, more = {}) => {
      const endpoint = await stage.endpoint(receiver, { event_types: ['order.*'], ...more });
      await world.query('update webhook_endpoints set api_version = $2 where id = $1', [
        uuidOf(endpoint.id),
        version,
      ]);
      return endpoint;
    };
    await made(current as never, '2.0.0');
    await made(former as never, '1.1.0');
    const old = await made(oldest as never, OLDEST);
    await made(thin as never, OLDEST, { payload: 'thin' });
    await made(batched as never, OLDEST, { batch: { max_wait_ms: 0 } });
    const publish = async (type: string) => {
      const answer = await stage.api.post('/v2/events', `{"type":"${type}","data":${DATA}}`, {
        'content-type': 'application/json',
      });
      expect(answer.status, answer.text).toBe(201);
      return answer;
    };
    const leased = await publish('order.created');
    await Promise.all(receivers.map((receiver) => receiver.until(1)));
    await stage.change(old, { status: 'disabled' });
    const claimed = await publish('order.created');
    await stage.change(old, { status: 'enabled' });
    const other = await publish('order.sent');

    const bodyOf = async (receiver: (typeof receivers)[number], id: string) =>
      (await receiver.until(3)).find(({ headers }) => headers['webhook-id'] === id);
    const inOne = '{"sum":12345678901234567890.10,"currency":"eur","api_version":"2.0.0"}';
    for (const { body: event, text } of [leased, claimed]) {
      const [now, before, first] = await Promise.all(
        [current, former, oldest].map((receiver) => bodyOf(receiver as never, event.id)),
      );
      expect(now?.body).toBe(text);
      expect(now?.headers).not.toHaveProperty('webhook-api-version');
      expect(before?.headers['webhook-api-version']).toBe('1.1.0');
      expect(JSON.parse(before?.body ?? '')).toMatchObject({
        id: event.id,
        api_version: '1.1.0',
        data: { currency: 'eur' },
      });
      expect(before?.body).toContain('"total": 12345678901234567890.10');
      expect(first?.headers['webhook-api-version']).toBe(OLDEST);
      expect(first?.body).toContain(`"api_version":"${OLDEST}","data":{`);
      expect(first?.body.split('"data":')[1]?.slice(0, -1)).toSatisfy((data: string) =>
        sameJson(data, inOne),
      );
      const logged = await stage.untilLog(old, event.id, { status: 'delivered' });
      expect(logged.attempts[0]?.request_body).toBe(first?.body);
    }
    const [unchanged, short] = await Promise.all([
      bodyOf(oldest as never, other.body.id),
      bodyOf(thin as never, leased.body.id),
    ]);
    expect(unchanged?.body).toBe(other.text.replace('"api_version":"2.0.0"', `"api_version":"${OLDEST}"`));
    expect(JSON.parse(short?.body ?? '')).toMatchObject({
      api_version: OLDEST,
      url: `/v2/events/${leased.body.id}`,
    });
    const [batch] = await (batched as (typeof receivers)[number]).until(1);
    expect(JSON.parse(batch?.body ?? '')).toMatchObject([{ api_version: OLDEST, data: { currency: 'eur' } }]);
    expect((await stage.api.get(`/v2/events/${leased.body.id}`)).text).toContain(`"data":${DATA}`);
    expect((await stage.api.get(`/v2/webhook-endpoints/${old.id}`)).body.api_version).toBe(OLDEST);
  }));

/** Whether two JSON texts with unique keys are equal, whatever the order of keys and the blanks. */
const sameJson = (one: string, other: string): boolean => {
  const parts = (text: string) => text.replaceAll(' ', '').slice(1, -1).split(',').sort().join();
  return parts(one) === parts(other);
};

test('an endpoint is created in the current version, and a version that nobody knows is refused', () =>
  onStage({}, async ({ api }) => {
    const endpoint = { url: 'https://shop.example.com/hooks' };
    const { body: made } = await api.post('/v2/webhook-endpoints', endpoint);
    expect(made.api_version).toBe('2.0.0');
    const at = `/v2/webhook-endpoints/${made.id}`;
    for (const refused of [
      await api.post('/v2/webhook-endpoints', { ...endpoint, api_version: '1.9.0' }),
      await api.patch(at, { api_version: '3.0.0' }),
    ])
      expectRefusal(refused, 400, 'invalid_body', 'api_version');
    expect((await api.get(at)).body).toEqual({ ...made, secret: undefined });
  }));
