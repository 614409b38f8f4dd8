import { createHmac } from 'node:crypto';
import { verify as verifyGithub } from '@octokit/webhooks-methods';
import { CloudEvent, HTTP } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { expect, test } from 'vitest';
import { verifyWebhook } from '../../src/client/verify.ts';
import type { Received } from '../support/receiver.ts';
import { type Endpoint, onStage, type Stage, uuidOf } from './support.ts';

const settings = { DELIVERY_SCHEDULE: '0s,1h,1h' };
const FORMS = ['full', 'thin', 'cloudevents'] as const;
// numbers that JavaScript would round or rewrite, a key that looks like the envelope's, blanks
const DATA =
  '{"id": "order-7", "object":"order","data":{"type":"x"},"n":12345678901234567890.10,"e":1e3,",\\"data\\":":0}';

/** Publishes an event with this JSON text as its data; returns the event as in the response. */
async function publish({ api }: Stage, data = DATA, type = 'order.created') {
  const headers = { 'content-type': 'application/json' };
  const { status, text, body } = await api.post('/v2/events', `{"type":"${type}","data":${data}}`, headers);
  expect(status, text).toBe(201);
  return { id: String(body.id), text, timestamp: body.timestamp, account: String(body.account_id) };
}

const thinOf = (text: string, about: string) => {
  const [envelope] = text.split(',"data":');
  const { id } = JSON.parse(text);
  return `${envelope}${about},"url":"/v2/events/${id}"}`;
};
const ABOUT = ',"related_object":{"id":"order-7","object":"order"}';

const cloudEventOf = ({ id, timestamp, account }: Awaited<ReturnType<typeof publish>>, data = DATA) =>
  `{"specversion":"1.0","id":"${id}","source":"urn:uuid:${uuidOf(account)}","type":"order.created","subject":"order-7",` +
  `"time":"${timestamp}","datacontenttype":"application/json","accountid":"${account}","apiversion":"2.0.0","data":${data}}`;

/** The event in a request, as the SDK of CloudEvents reads and validates it. */
function readBySdk({ headers, body }: Received) {
  const event = HTTP.toEvent({ headers, body });
  if (!(event instanceof CloudEvent)) throw new Error('it is not one event');
  expect(event.validate()).toBe(true);
  return event;
}

test('an endpoint gets the whole event, a thin one, or a CloudEvent, leased at once or by a claim', () =>
  onStage({ settings }, async (stage) => {
    const receivers = await Promise.all(FORMS.map(() => stage.receiver()));
    const endpoints: Endpoint[] = [];
    for (const [index, payload] of FORMS.entries()) {
      endpoints.push(await stage.endpoint(receivers[index]!, { payload }));
    }
    const leased = await publish(stage);
    for (const endpoint of endpoints) await stage.change(endpoint, { status: 'disabled' });
    const claimed = await publish(stage);
    for (const endpoint of endpoints) await stage.change(endpoint, { status: 'enabled' });
    const [full, thin, cloud] = await Promise.all(receivers.map((receiver) => receiver.until(2)));
    for (const [place, event] of [leased, claimed].entries()) {
      const at = (all: Received[] | undefined) =>
        all?.find(({ headers }) => headers['webhook-id'] === event.id) as Received;
      expect(at(full).body, String(place)).toBe(event.text);
      expect(at(full).headers['content-type']).toBe('application/json; charset=utf-8');
      expect(at(full).headers).not.toHaveProperty('webhook-payload');
      expect(at(thin).body).toBe(thinOf(event.text, ABOUT));
      expect(at(thin).headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'webhook-payload': 'thin',
      });
      expect(at(cloud).body).toBe(cloudEventOf(event));
      expect(at(cloud).headers).toMatchObject({
        'content-type': 'application/cloudevents+json; charset=utf-8',
        'webhook-payload': 'cloudevents',
      });
      const { url } = JSON.parse(at(thin).body);
      expect((await stage.api.get(url)).text).toContain(`"payload":${event.text}`);
    }
  }));

test('the SDK of CloudEvents accepts a CloudEvent, and test events are marked as tests', () =>
  onStage({ settings }, async (stage) => {
    const receiver = await stage.receiver();
    const endpoint = await stage.endpoint(receiver, { payload: 'cloudevents' });
    const { id, account, timestamp } = await publish(stage, '{"id":"order-7","amount":900}');
    const read = readBySdk((await receiver.until(1))[0]!);
    expect(read).toMatchObject({
      specversion: '1.0',
      id,
      source: `urn:uuid:${uuidOf(account)}`,
      type: 'order.created',
      subject: 'order-7',
      time: timestamp,
      datacontenttype: 'application/json',
      accountid: account,
      apiversion: '2.0.0',
      data: { id: 'order-7', amount: 900 },
    });
    expect(read).not.toHaveProperty('istest');
    expect((await stage.api.post(`${endpoint.path}/test`)).status).toBe(201);
    const tested = readBySdk((await receiver.until(2))[1]!);
    expect(tested).toMatchObject({ type: 'webhook_endpoint.test', istest: true });
  }));

test('changes are in the whole event, a text of a CloudEvent, and not in a thin event, whatever they contain', () =>
  onStage({ settings }, async (stage) => {
    const receivers = await Promise.all(FORMS.map(() => stage.receiver()));
    for (const [index, payload] of FORMS.entries()) {
      await stage.endpoint(receivers[index]!, { payload, event_types: ['affiliate.updated'] });
    }
    const metadata = { data: ',"data":', changes: ',"changes":{', '","data":{"': '"is_test":true' };
    const made = await stage.api.post('/v2/affiliates', { email: 'ada@example.com', metadata });
    expect(made.status, made.text).toBe(201);
    const { id } = made.body;
    await stage.api.patch(`/v2/affiliates/${id}`, { metadata: { data: 'x' }, name_last: 'Okafor' });
    const [full, thin, cloud] = await Promise.all(
      receivers.map(async (receiver) => (await receiver.until(1))[0] as Received),
    );
    const { changes, data, ...envelope } = JSON.parse(full?.body ?? '');
    expect(changes).toEqual({ added: { name_last: 'Okafor' }, updated: { metadata }, removed: {} });
    expect(JSON.parse(thin?.body ?? '')).toEqual({
      ...envelope,
      related_object: { id, object: 'affiliate' },
      url: `/v2/events/${envelope.id}`,
    });
    const event = readBySdk(cloud as Received);
    expect(JSON.parse(String(event.changes))).toEqual(changes);
    expect(event.data).toEqual(data);
    const { body } = await stage.api.get(`/v2/events/${envelope.id}`);
    expect(body.payload).toEqual({ ...envelope, changes, data });
  }));

// possible ids in the data, and the resulting name of the event
const IDS: readonly (readonly [string, { thin: string; subject?: string }])[] = [
  ['{"id":7}', { thin: ',"related_object":{"id":7}', subject: '7' }],
  [
    '{"id":12345678901234567890}',
    { thin: ',"related_object":{"id":12345678901234567890}', subject: '12345678901234567890' },
  ],
  [
    '{"id":"zo\\u00eb \\"x\\" \\\\","object":5}',
    { thin: ',"related_object":{"id":"zoë \\"x\\" \\\\","object":5}', subject: 'zoë "x" \\' },
  ],
  ['{"amount":1}', { thin: '' }],
  ['{"id":""}', { thin: '' }],
  ['{"id":null}', { thin: '' }],
  ['{"id":{"a":1}}', { thin: '' }],
  ['{"id":"two\\nlines"}', { thin: '' }],
  [`{"id":"${'x'.repeat(256)}"}`, { thin: '' }],
  [`{"id":"a","n":${'1'.repeat(131_000)}}`, { thin: ',"related_object":{"id":"a"}', subject: 'a' }],
  [
    `{"id":"deep","a":${'['.repeat(90)}${']'.repeat(90)}}`,
    { thin: ',"related_object":{"id":"deep"}', subject: 'deep' },
  ],
];

test('any data is sent, and an id that cannot be a name is omitted', () =>
  onStage({ settings }, async (stage) => {
    const [thin, cloud] = [await stage.receiver(), await stage.receiver()];
    await stage.endpoint(thin, { payload: 'thin' });
    await stage.endpoint(cloud, { payload: 'cloudevents' });
    for (const [data, { thin: about, subject }] of IDS) {
      const { id, text } = await publish(stage, data);
      const of = (all: Received[]) => all.find(({ headers }) => headers['webhook-id'] === id);
      const request = of(await thin.until((all) => of(all) !== undefined));
      expect(request?.body).toBe(thinOf(text, about));
      const event = readBySdk(of(await cloud.until((all) => of(all) !== undefined))!);
      expect(event.subject, data.slice(0, 50)).toBe(subject);
      expect(of(cloud.received)?.body.endsWith(`,"data":${data}}`)).toBe(true);
    }
  }));

test('the signature covers the sent bytes, in every scheme', () =>
  onStage({ settings }, async (stage) => {
    const CUSTOM = { header: 'x-sign', content: '{body}', encoding: 'hex' };
    const holds: Record<string, (secret: string, request: Received) => unknown> = {
      standard: (secret, { body, headers }) =>
        new Webhook(secret).verify(body, headers as Record<string, string>) &&
        verifyWebhook(body, headers, secret),
      stripe: (secret, { body, headers }) =>
        Stripe.webhooks.constructEvent(body, headers['stripe-signature'] ?? '', secret),
      github: (secret, { body, headers }) =>
        verifyGithub(secret, body, String(headers['x-hub-signature-256'])),
      shopify: (secret, { body, headers }) =>
        headers['x-shopify-hmac-sha256'] === createHmac('sha256', secret).update(body).digest('base64'),
      custom: (secret, { body, headers }) =>
        headers['x-sign'] === createHmac('sha256', secret).update(body).digest('hex'),
    };
    for (const payload of ['thin', 'cloudevents']) {
      for (const [signing, verify] of Object.entries(holds)) {
        const receiver = await stage.receiver();
        const fields = signing === 'custom' ? { custom_signing: CUSTOM } : {};
        const endpoint = await stage.endpoint(receiver, { payload, signing, ...fields });
        const event = await publish(stage);
        const [request] = await receiver.until(1);
        expect(await verify(endpoint.secret, request!), `${payload} ${signing}`).toBeTruthy();
        expect(request?.body).toBe(payload === 'thin' ? thinOf(event.text, ABOUT) : cloudEventOf(event));
        const type = request?.headers['x-github-event'] ?? request?.headers['x-shopify-topic'];
        if (type !== undefined) expect(type).toBe('order.created');
        await stage.api.delete(endpoint.path);
      }
    }
  }));

test('a form changed between attempts applies to the next one, and the log shows each as it was sent', () =>
  onStage({ settings }, async (stage) => {
    const receiver = await stage.receiver();
    receiver.respond(500);
    const endpoint = await stage.endpoint(receiver);
    const event = await publish(stage);
    await stage.untilLog(endpoint, event.id, { attempt_count: 1 });
    await stage.change(endpoint, { payload: 'thin' });
    await stage.passTime(endpoint);
    await stage.untilLog(endpoint, event.id, { attempt_count: 2 });
    await stage.change(endpoint, { payload: 'cloudevents' });
    expect(await stage.retry(endpoint, event.id)).toBe(200);
    await stage.untilLog(endpoint, event.id, { attempt_count: 3 });
    await stage.change(endpoint, { payload: 'full' });
    receiver.respond(200);
    const recovery = { since: event.timestamp, status: ['pending', 'failed'] };
    expect((await stage.api.post(`${endpoint.path}/recover`, recovery)).status).toBe(201);
    const log = await stage.untilLog(endpoint, event.id, { attempt_count: 4, status: 'delivered' });
    const sent = await receiver.until(4);
    expect(sent.map(({ headers }) => headers['webhook-id'])).toEqual(Array(4).fill(event.id));
    expect(sent.map(({ body }) => body)).toEqual([
      event.text,
      thinOf(event.text, ABOUT),
      cloudEventOf(event),
      event.text,
    ]);
    expect(log.attempts.map((attempt: { request_body: string | null }) => attempt.request_body)).toEqual([
      null,
      sent[1]?.body,
      sent[2]?.body,
      null,
    ]);
    for (const [index, { headers }] of sent.entries()) {
      const shown = log.attempts[index].request_headers;
      expect(shown['content-type']).toBe(headers['content-type']);
      expect(shown['webhook-payload']).toBe(headers['webhook-payload']);
    }
    expect((await stage.log(endpoint, event.id)).payload).toEqual(JSON.parse(event.text));
  }));

test('an endpoint from before forms existed gets whole events, also of the largest size in every form', () =>
  onStage({ settings }, async (stage) => {
    const receiver = await stage.receiver();
    const endpoint = await stage.endpoint(receiver);
    // written by a server of the previous version
    const [row] = await stage.world.query('select payload_form from webhook_endpoints where id = $1', [
      endpoint.uuid,
    ]);
    expect(row).toEqual({ payload_form: null });
    expect((await stage.api.get(endpoint.path)).body.payload).toBe('full');
    await stage.change(endpoint, { payload: 'cloudevents' });
    const data = `{"id":"order-7","text":"${'é'.repeat(130_000)}"}`;
    const event = await publish(stage, data);
    const [request] = await receiver.until(1);
    expect(request?.body).toBe(cloudEventOf(event, data));
  }));
