import { SCOPES } from '../../contract/scopes.ts';
import { REASONS } from '../../kernel/errors.ts';
import { escapeHtml } from '../../kernel/html.ts';
import type { Book } from './book.ts';
import { jsonHtml } from './code.ts';
import type { Operation } from './description.ts';
import { type FieldContext, fieldList } from './fields.ts';
import { answerFigure, figure, headerLines, requestFigure } from './figures.ts';
import { groupsHtml } from './groups.ts';
import { GUIDES } from './guides.ts';
import { inline, paragraphs } from './text.ts';

/** A part of the overview: what holds for every operation, with an example. */
export interface Part {
  readonly id: string;
  readonly title: string;
  /** HTML. */
  readonly text: (book: Book) => string;
  readonly shown?: (book: Book) => string;
}

const say = (text: string) => (book: Book) => paragraphs(text, (word) => book.linkTo(word, null));

/** The figures of an operation's example, if the description has it. */
const of = (id: string, make: (operation: Operation, book: Book) => string) => (book: Book) => {
  const operation = book.operation(id);
  return operation ? make(operation, book) : '';
};

/** What holds everywhere, in the order of the overview. */
export const PARTS: readonly Part[] = [
  {
    id: 'base-address',
    title: 'Base address',
    text: (book) =>
      `<p>All paths begin at <code>${escapeHtml(book.baseUrl)}</code>. Requests and answers are JSON in UTF-8 unless an ` +
      'operation says otherwise. The examples on these pages are requests the test suite makes and what the server ' +
      'answered; paste them with your key in <code>PAYHOOK_API_KEY</code>.</p>' +
      '<p>The complete interface as OpenAPI 3.1: <a href="/v2/openapi.json">/v2/openapi.json</a>. The version is in the ' +
      'path; new fields and event types may be added within it, so ignore what you do not know.</p>',
    shown: of(
      'getAccount',
      (operation, book) => requestFigure(operation, book.baseUrl) + answered(operation),
    ),
  },
  {
    id: 'authentication',
    title: 'Authentication',
    text: (book) =>
      say(
        'Send `Authorization: Bearer …` with one of these:\n- An API key (`ph_…`), for programs of your own. It opens everything ' +
          'of its account. Make one for each program: `createApiKey`.\n- An access token (`pha_…`) of OAuth 2.0, for ' +
          'other people and their programs. It opens the scopes the merchant ticked. No token opens keys, users, applications, ' +
          'grants or the audit log.\n\nSigned-in users call the same operations from a browser, within their ' +
          'role. Each operation lists who may call it. 401 means that the credential is unknown, 403 that it is not enough.',
      )(book) + scopesHtml(),
    shown: of('getAccount', (operation) => refused(operation, 401)),
  },
  {
    id: 'errors',
    title: 'Errors',
    text: (book) =>
      say(
        'Every error has the same body, with one of six codes and a message for people that names the field and the rule. The ' +
          'precise reason is a stable word in the header `Payhook-Reason`: branch on it, show the message. ' +
          '`Payhook-Request-Id` identifies the request in the log of the server.\n\nA refused request has changed nothing. ' +
          'Unknown fields and parameters are refused by name, because an ignored filter would send money to the wrong people.',
      )(book) +
      fieldList(book.schemaOf('Error').properties?.error ?? {}, contextOf(book)) +
      reasonsHtml(),
    shown: of('createPayout', (operation) => refused(operation, 409)),
  },
  {
    id: 'pagination',
    title: 'Pagination',
    text: (book) =>
      say(
        'Lists take `page` (from 1) and `per_page` (1 to 100, default 50) and answer with `data` and `pagination`. The ' +
          'total is exact. The header `Link` leads to the first, previous, next and last page (RFC 8288). A page past the ' +
          'end is empty, not an error.\n\nInstead of `page`, `after` takes the `next` of the page before: records that come in or ' +
          'leave meanwhile neither repeat nor hide others. It goes with the same filters, and is opaque.\n\nSome filters of events and ' +
          'their log make the server count row by row, which takes a second for every few million. These lists take `max_total`: ' +
          'the counting stops there, a total that equals it means at least that number, and pages beyond are empty.',
      )(book) + fieldList(book.schemaOf('Pagination'), contextOf(book)),
    shown: of('listCommissions', pageFigures),
  },
  {
    id: 'sorting',
    title: 'Filters and sorting',
    text: say(
      'Filters are query parameters, all of which must hold; each list names its own. Times take four comparisons, ' +
        '`created_at[gte]`, `[gt]`, `[lte]` and `[lt]`, each with an instant or a day `YYYY-MM-DD` of the `time_zone` of the account.\n\n`sort` takes ' +
        'one field; a `-` in front means descending. The default is `-created_at` unless the list says otherwise, and ' +
        'records that are equal in it are ordered by id.',
    ),
  },
  {
    id: 'idempotency',
    title: 'Repeating a request',
    text: say(
      'A network can fail after the server has done its work. Send an `Idempotency-Key` (up to 255 characters, your choice) with ' +
        'POST, PUT and PATCH: the same key with the same request within 24 hours gets the stored answer, marked ' +
        '`Idempotent-Replayed: true`, and nothing happens twice. The same key with another request is a 409, ' +
        '`idempotency_key_reused`. Secrets are not in stored answers.\n\nWhat you send in also has an `external_id` of yours, ' +
        'unique forever: sending it again with the same content changes nothing, with other content it is a 409.',
    ),
    shown: of('createCommission', (operation, book) => requestFigure(operation, book.baseUrl)),
  },
  {
    id: 'concurrency',
    title: 'Two at once',
    text: say(
      'A payout has a `revision` that rises with every change; the `ETag` of the payout begins with it, and that of its ' +
        'files is it. Send the one you saw as `If-Match` when you complete or delete: if a refund came in between, you get a 409, ' +
        '`payout_changed`, with the new totals, instead of ticking off a list that is not the one you paid.\n\nOf two ' +
        'conflicting requests one wins, and the other gets a 409.',
    ),
    shown: of('completePayout', (operation, book) => requestFigure(operation, book.baseUrl)),
  },
  {
    id: 'polling',
    title: 'Looking again',
    text: say(
      'Every read has an `ETag`, lists too. Send it as `If-None-Match` when you read again: as long as nothing in the ' +
        'answer is different, you get a 304 without a body. Browsers do this automatically.',
    ),
  },
  {
    id: 'money',
    title: 'Money',
    text: say(
      'An amount is an integer of minor units with a `currency` (ISO 4217, lower case): `3190` and `usd` are 31.90 ' +
        'dollars, `528` and `jpy` are 528 yen. Sums are exact; currencies are never added to each other. Files carry ' +
        "decimals with the currency's digits.",
    ),
  },
  {
    id: 'time',
    title: 'Time and ids',
    text: say(
      'A time is RFC 3339 in UTC with milliseconds: `2026-09-15T08:30:00.000Z`. Ids are opaque texts with a prefix ' +
        'that says what they name (`po_…`, `com_…`, `evt_…`) and sort by time of creation; affiliates and programs have ' +
        'integers. An id that is malformed, and one of another account, is a 404 like any other that does not exist.',
    ),
  },
  {
    id: 'webhooks',
    title: 'Webhooks',
    text: say(
      'Make an endpoint with `createWebhookEndpoint`; every event it subscribes to is POSTed there, signed as Standard ' +
        'Webhooks says: verify the signature over the raw body, store the event under its `webhook-id`, answer 2xx at ' +
        'once, and do the work afterwards. An event may come twice, or after a later one.\n\n`event_types` takes names and prefixes ' +
        '(`payout.*`). What was sent and what came back is in the log: `listWebhookEvents`, `getEventOfWebhookEndpoint`, ' +
        '`retryEventOfWebhookEndpoint`.',
    ),
    shown: of('getEventOfWebhookEndpoint', deliveryFigure),
  },
  {
    id: 'guides',
    title: 'Guides',
    text: () =>
      '<p>The folder <code>docs</code> of the installation has them:</p><ul>' +
      GUIDES.map(([file, text]) => `<li><code>docs/${file}</code>: ${escapeHtml(text)}</li>`).join('') +
      '</ul>',
  },
];

const contextOf = (book: Book): FieldContext => ({
  linker: (word) => book.linkTo(word, null),
  schemaOf: book.schemaOf,
  isRequest: false,
});

/** The inside of the overview: where to go, then what holds everywhere. */
export function overviewHtml(book: Book): string {
  const count = (operations: readonly Operation[]) =>
    `${operations.length} ${operations.length === 1 ? 'operation' : 'operations'}`;
  const parts = PARTS.map(
    ({ id, title, text, shown }) =>
      `<section class="op" id="${id}" aria-labelledby="${id}-name"><div class="text">` +
      `<h2 id="${id}-name"><a class="anchor" href="#${id}">${escapeHtml(title)}</a></h2>${text(book)}</div>` +
      `<div class="shown"><div class="stay">${shown?.(book) ?? ''}</div></div></section>`,
  );
  return (
    '<h1>API reference</h1><p class="lead">Payhook answers two questions over HTTP. Whom do I pay, how much, and has it been ' +
    'paid already? Did my webhook arrive, and if not, why?</p>' +
    groupsHtml((section) => count(book.operationsOf(section))) +
    parts.join('')
  );
}

function scopesHtml(): string {
  const rows = Object.entries(SCOPES)
    .map(([scope, meaning]) => `<tr><td><code>${scope}</code></td><td>${escapeHtml(meaning)}</td></tr>`)
    .join('');
  return (
    '<details><summary>All scopes</summary><table class="reasons"><thead><tr><th scope="col">Scope</th>' +
    `<th scope="col">What it is for</th></tr></thead><tbody>${rows}</tbody></table></details>`
  );
}

function reasonsHtml(): string {
  const rows = Object.entries(REASONS)
    .sort(([, a], [, b]) => a.status - b.status)
    .map(
      ([reason, { status, meaning }]) =>
        `<tr id="${reason}"><td><code>${status}</code></td><td><code>${reason}</code> ${inline(meaning)}</td></tr>`,
    );
  return (
    '<details><summary>All reasons</summary><table class="reasons"><thead><tr><th scope="col">Status</th>' +
    `<th scope="col">Reason and meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table></details>`
  );
}

/** What an operation answers. */
function answered({ answers: [answer] }: Operation): string {
  if (!answer) return '';
  const { status, headers, content } = answer;
  return answerFigure({ status, headers, body: content?.example });
}

/** A refusal of an operation, if the description has the example of one. */
function refused({ refusals }: Operation, status: number): string {
  const example = refusals.find((each) => each.status === status)?.example;
  return example ? answerFigure({ status, ...example }, 'wrap') : '';
}

/** The request for a page, its `Link` and the members next to the data. */
function pageFigures(operation: Operation, { baseUrl }: Book): string {
  const [answer] = operation.answers;
  const { pagination } = (answer?.content?.example ?? {}) as { pagination?: unknown };
  if (!answer || pagination === undefined) return '';
  const body = { data: [], pagination };
  return (
    requestFigure(operation, baseUrl) + answerFigure({ status: answer.status, headers: answer.headers, body })
  );
}

/** What a receiver is sent: the headers of an attempt and the body. */
function deliveryFigure(operation: Operation): string {
  const { payload, attempts } = (operation.answers[0]?.content?.example ?? {}) as {
    payload?: unknown;
    attempts?: readonly { readonly request_headers: Readonly<Record<string, string>> | null }[];
  };
  if (payload === undefined) return '';
  const headers = headerLines(attempts?.[0]?.request_headers ?? {});
  return figure('What your endpoint gets', `${headers}\n\n${jsonHtml(payload)}`, 'response');
}
