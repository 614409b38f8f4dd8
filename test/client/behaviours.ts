import { type Answer, type Behaviour, html, json, pageOf, refusal } from './behaviour.ts';
import { OAUTH, PUBLIC_KEYS, SIGNING, WEBHOOKS } from './behaviours-of-secrets.ts';

// What all clients do. behaviours.test.ts runs each row with the client in every language.

const account = json(200, { id: 'acc_1' });
const payout = json(201, { id: 'po_1' });
const busy = refusal(500, 'internal_error', { 'retry-after': '0', 'payhook-reason': 'database_unavailable' });
const limited = (after: string) =>
  refusal(429, 'too_many', { 'retry-after': after, 'payhook-reason': 'rate_limited' });
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString();
const unknown = { outcome: 'unknown' };
const NOT_API = 'without an error of the API: is the address right?';

const AFTER_LOSS: readonly Behaviour[] = (
  [
    ['a gateway answers 504 after the commit', html(504)],
    ['the connection is reset', 'reset'],
    ['the answer is cut off', { ...(payout as object), how: 'cut' } as Answer],
    ['the server lost its database and asks for a retry', busy],
  ] as const
).flatMap(([when, lost]): Behaviour[] => [
  {
    title: `a write is repeated under its key when ${when}`,
    call: { verb: 'create' },
    answers: [lost, payout],
    result: { outcome: 'ok', value: { id: 'po_1' } },
    requests: [{ method: 'POST' }, { method: 'POST', body: '{"filters":{"currency":"usd"}}' }],
    isOneKey: true,
  },
  {
    title: `a write has an unknown outcome when ${when} and nothing is repeated`,
    call: { verb: 'create', retries: 0, key: 'mine' },
    answers: [lost],
    result: { ...unknown, key: 'mine' },
    requests: [{ key: 'mine' }],
  },
  {
    title: `a DELETE is not repeated when ${when}`,
    call: { verb: 'delete' },
    answers: [lost],
    result: unknown,
    requests: [{ method: 'DELETE' }],
  },
  {
    title: `a read changed nothing when ${when}`,
    call: { verb: 'read', retries: 0 },
    answers: [lost],
    result: lost === busy ? { outcome: 'refused' } : { outcome: 'not_done' },
    requests: [{ method: 'GET' }],
  },
]);

const RETRIES: readonly Behaviour[] = [
  {
    title: 'a refusal has status, code, reason, request id and the time of the next try',
    call: { verb: 'read' },
    answers: [
      refusal(404, 'not_found', {
        'payhook-reason': 'resource_missing',
        'payhook-request-id': 'req_1',
        'retry-after': '7',
      }),
    ],
    result: {
      ...{ outcome: 'refused', status: 404, code: 'not_found', reason: 'resource_missing' },
      ...{ requestId: 'req_1', retryAfter: 7 },
    },
    requests: [{}],
  },
  ...[limited('0'), limited(inSeconds(-1))].map(
    (answer, index): Behaviour => ({
      title: `a request that was rejected unread is sent again, even a DELETE (Retry-After ${index === 0 ? 'in seconds' : 'as a date'})`,
      call: { verb: 'delete' },
      answers: [answer, { status: 204 }],
      result: { outcome: 'ok' },
      requests: [{}, {}],
    }),
  ),
  {
    title: 'a Retry-After of an hour ends the call',
    call: { verb: 'create' },
    answers: [limited('3600')],
    result: { outcome: 'refused', reason: 'rate_limited', retryAfter: 3600 },
    requests: [{}],
  },
  {
    title: 'a Retry-After that is a date far away ends the call',
    call: { verb: 'create' },
    answers: [limited(new Date(Date.now() + 86_400_000).toUTCString())],
    result: { outcome: 'refused', reason: 'rate_limited' },
    requests: [{}],
  },
  {
    title: 'an outcome stays unknown when the repeat is refused before it is compared with the first attempt',
    call: { verb: 'create', retries: 1 },
    answers: [html(504), limited('3600')],
    result: { ...unknown, status: 429 },
    requests: [{}, {}],
    isOneKey: true,
  },
  {
    title: 'a repeat that the server compared and refused is a refusal',
    call: { verb: 'create', retries: 1 },
    answers: [html(504), refusal(409, 'conflict', { 'payhook-reason': 'nothing_to_pay' })],
    result: { outcome: 'refused', reason: 'nothing_to_pay' },
    requests: [{}, {}],
  },
  {
    title:
      'a failure of the server without Retry-After is not repeated, and leaves the outcome of a write unknown',
    call: { verb: 'create' },
    answers: [refusal(500, 'internal_error', { 'payhook-reason': 'internal_error' })],
    result: unknown,
    requests: [{}],
  },
  {
    title: 'a full disk is a refusal: the server knows that nothing was changed',
    call: { verb: 'create', retries: 0 },
    answers: [refusal(500, 'internal_error', { 'payhook-reason': 'disk_full' })],
    result: { outcome: 'refused', reason: 'disk_full' },
    requests: [{}],
  },
  {
    title: 'after the last retry the call fails',
    call: { verb: 'read', retries: 1 },
    answers: [html(503)],
    result: { outcome: 'not_done', status: 503 },
    requests: [{}, {}],
  },
  {
    title: 'a silent server ends a write with an unknown outcome',
    call: { verb: 'create', retries: 0, timeoutMs: 300 },
    answers: ['silence'],
    result: unknown,
    requests: [{}],
  },
  {
    title: 'a body that arrives slowly is not a silent server',
    call: { verb: 'read', retries: 0, timeoutMs: 1500 },
    answers: [{ ...(account as object), how: 'slow' } as Answer],
    result: { outcome: 'ok', value: { id: 'acc_1' } },
    requests: [{}],
  },
];

const FOREIGN: readonly Behaviour[] = [
  {
    title: 'a truncated JSON text is no success, and leaves the outcome of a write unknown',
    call: { verb: 'create' },
    answers: [{ status: 201, headers: { 'content-type': 'application/json' }, body: '{"id":"po_' }],
    result: unknown,
    requests: [{}],
  },
  {
    title: 'a page of HTML is no success',
    call: { verb: 'read' },
    answers: [html(200)],
    result: { outcome: 'not_done', message: /is the address right\?/ },
    requests: [{}],
  },
  {
    title: 'a redirect to another host is not followed, so the credentials stay',
    call: { verb: 'create' },
    answers: (other) => [html(307, { location: `${other}/v2/affiliates/payouts` })],
    result: { outcome: 'refused', status: 307, message: new RegExp(NOT_API.replace('?', '\\?')) },
    requests: [{ token: 'Bearer secret' }],
  },
  {
    title: 'a redirect of a read is not followed either',
    call: { verb: 'read' },
    answers: (other) => [html(302, { location: `${other}/v2/account` })],
    result: { outcome: 'refused', status: 302 },
    requests: [{}],
  },
  {
    title: 'an id that would lead to another operation is not sent',
    call: { verb: 'invalid_id' },
    result: { outcome: 'invalid_id' },
  },
];

const LISTS: readonly Behaviour[] = [
  {
    title: 'a page has the given query',
    call: { verb: 'page' },
    answers: [pageOf([7, 8], null)],
    result: { outcome: 'ok', value: [7, 8] },
    requests: [{ url: '/v2/affiliates?per_page=2&status=active' }],
  },
  {
    title: 'a loop gets every page, by id, each after the last record of the one before',
    call: { verb: 'all' },
    answers: [pageOf([1, 2], 'after-2'), pageOf([3], null)],
    result: { outcome: 'ok', value: [1, 2, 3] },
    requests: [
      { url: '/v2/affiliates?page=1&per_page=100&sort=id' },
      { url: '/v2/affiliates?after=after-2&per_page=100&sort=id' },
    ],
  },
  {
    title: 'a token that expires in the middle of a loop ends it with a refusal',
    call: { verb: 'all' },
    answers: [
      pageOf([1, 2], 'after-2'),
      refusal(401, 'unauthorized', { 'payhook-reason': 'invalid_credentials' }),
    ],
    result: { outcome: 'refused', status: 401, reason: 'invalid_credentials', seen: [1, 2] },
    requests: [{}, {}],
  },
];

const FILES: readonly Behaviour[] = [
  {
    title: 'completing a payout sends the revision',
    call: { verb: 'complete', ifMatch: 7, key: 'september' },
    answers: [json(200, { id: 'po_1' })],
    result: { outcome: 'ok' },
    requests: [
      {
        ...{ method: 'PUT', url: '/v2/affiliates/payouts/po_1', ifMatch: '"7"', key: 'september' },
        body: '{"commissions":[],"require_all":true}',
      },
    ],
  },
  {
    title: 'a file is sent again from its beginning',
    call: { verb: 'upload' },
    answers: ['reset', json(200, { created: 1 })],
    result: { outcome: 'ok', value: { created: 1 } },
    requests: [{}, { method: 'POST', body: 'email\nzoë@example.com\n' }],
    isOneKey: true,
  },
  {
    title: 'a file that can be read once is not sent again',
    call: { verb: 'upload_once' },
    answers: ['reset'],
    result: unknown,
    requests: [{ body: 'email\n' }],
  },
  {
    title: 'a download has its name and revision',
    call: { verb: 'download' },
    answers: [
      {
        status: 200,
        headers: { 'content-disposition': 'attachment; filename="payout-1-r3.csv"', etag: '"3"' },
        body: 'a,b\r\n',
      },
    ],
    result: { outcome: 'ok', value: { name: 'payout-1-r3.csv', revision: 3, content: 'a,b\r\n' } },
    requests: [{ url: '/v2/affiliates/payouts/po_1/download' }],
  },
  {
    title: 'a download that is cut off fails',
    call: { verb: 'download' },
    answers: [{ status: 200, body: 'a,b\r\n', how: 'cut' }],
    result: { outcome: 'not_done', message: /the download was cut off/ },
    requests: [{}],
  },
];

const about = { method: 'POST', path: '/v2/affiliates/payouts', key: 'mine' };
const published = json(200, {
  object: 'event_batch',
  items: [{ index: 0, status: 201, event: { id: 'evt_1' } }],
});

const REPORTED: readonly Behaviour[] = [
  {
    title: 'the hooks get each attempt with its status, request id, replay and failure',
    call: { verb: 'observe', key: 'mine' },
    answers: [
      'reset',
      refusal(500, 'internal_error', {
        'retry-after': '0',
        'payhook-reason': 'database_unavailable',
        'payhook-request-id': 'req_1',
      }),
      json(201, { id: 'po_1' }, { 'payhook-request-id': 'req_2', 'idempotent-replayed': 'true' }),
    ],
    result: {
      outcome: 'ok',
      value: {
        requests: [1, 2, 3].map((attempt) => ({ ...about, attempt })),
        responses: [
          { ...about, attempt: 1, status: null, requestId: null, replayed: false, isFailure: true },
          { ...about, attempt: 2, status: 500, requestId: 'req_1', replayed: false, isFailure: true },
          { ...about, attempt: 3, status: 201, requestId: 'req_2', replayed: true, isFailure: false },
        ],
      },
    },
    requests: [{}, {}, {}],
  },
  {
    title: 'more than 1,000 events are published in several requests, each with a key of its own',
    call: { verb: 'publish', count: 2500, key: 'mine' },
    answers: [published],
    result: { outcome: 'ok', value: [0, 1, 2] },
    requests: [
      { method: 'POST', key: 'mine-0', events: 1000 },
      { key: 'mine-1', events: 1000 },
      { key: 'mine-2', events: 500 },
    ],
  },
  {
    title: 'events of more than 15 MiB are published in several requests',
    call: { verb: 'publish', count: 3, bytes: 6 << 20 },
    answers: [published],
    result: { outcome: 'ok', value: [0, 1] },
    requests: [{ events: 2 }, { events: 1 }],
  },
  {
    title: 'events that fit into a request keep their key',
    call: { verb: 'publish', count: 2, key: 'mine' },
    answers: [published],
    result: { outcome: 'ok', value: [0] },
    requests: [{ key: 'mine', events: 2 }],
  },
];

export const BEHAVIOURS: readonly Behaviour[] = [
  ...AFTER_LOSS,
  ...RETRIES,
  ...FOREIGN,
  ...LISTS,
  ...FILES,
  ...REPORTED,
  ...WEBHOOKS,
  ...PUBLIC_KEYS,
  ...SIGNING,
  ...OAUTH,
];
