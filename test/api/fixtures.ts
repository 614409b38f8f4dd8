import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { isUpdate } from '../../src/outbox/event-types.ts';
import type { Answer, Api } from '../support/api.ts';
import { isLong } from '../support/depth.ts';
import { inlinePaths } from '../support/description.ts';
import { NOTE_MADE } from '../support/seed.ts';
import type { World } from '../support/world.ts';

export const PAYOUTS = '/v2/affiliates/payouts';
export const COMMISSIONS = '/v2/affiliates/commissions';
export const AFFILIATES = '/v2/affiliates';
export const PROGRAMS = '/v2/affiliates/programs';
export const ENDPOINTS = '/v2/webhook-endpoints';
export const EVENT_LOG = '/v2/webhook-events/';
export const EVENTS = '/v2/events';

/** A parsed JSON record; tests read records of every shape. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Json = any;

let serial = 0;
/** A text that no other record of the file has. */
export const unique = (prefix: string) => `${prefix}-${++serial}`;

/** Creates an affiliate; returns its record. */
export async function makeAffiliate(api: Api, fields: object = {}): Promise<Json> {
  const made = await api.post(AFFILIATES, { email: `${unique('affiliate')}@example.com`, ...fields });
  expect(made.status, made.text).toBe(201);
  return made.body;
}

/** Creates a commission of 10.00 USD, or one with these `fields`; returns its record. */
export async function makeCommission(api: Api, affiliateId: number, fields: object = {}): Promise<Json> {
  const made = await api.post(COMMISSIONS, {
    external_id: unique('order'),
    affiliate_id: affiliateId,
    amount: 1000,
    currency: 'usd',
    ...fields,
  });
  expect(made.status, made.text).toBe(201);
  return made.body;
}

/** Creates an affiliate with a destination and a commission; returns the affiliate. */
export async function makePayee(
  api: Api,
  destination: object,
  { commission, affiliate = {} }: { commission: object; affiliate?: object },
): Promise<Json> {
  const made = await makeAffiliate(api, affiliate);
  const put = await api.put(`${AFFILIATES}/${made.id}/destination`, destination);
  expect(put.status, put.text).toBe(200);
  await makeCommission(api, made.id, commission);
  return made;
}

/** The text of a file with these lines. */
export const csv = (...lines: readonly string[]): string => [...lines, ''].join('\n');

/** Creates the unpaid payout; returns its record. */
export async function makePayout(api: Api, body?: object): Promise<Json> {
  const made = await api.post(PAYOUTS, body);
  expect(made.status, made.text).toBe(201);
  return made.body;
}

/** Completes a payout with every line paid, or with the given entries; returns its record. */
export async function completePayout(api: Api, payout: Json, entries?: object[]): Promise<Json> {
  const commissions =
    entries ?? payout.affiliates.map((line: Json) => ({ affiliate_id: line.affiliate_id, is_paid: true }));
  const done = await api.put(`${PAYOUTS}/${payout.id}`, { commissions });
  expect(done.status, done.text).toBe(200);
  return done.body;
}

const CODES: Readonly<Record<number, string>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'bad_request',
  409: 'conflict',
  429: 'conflict',
  500: 'internal_error',
  503: 'internal_error',
};

/** A refusal in the envelope: exactly code and message, the reason and the request's id in headers. */
export function expectRefusal(answer: Answer, status: number, reason?: string, ...parts: string[]): void {
  expect(answer.status, answer.text).toBe(status);
  expect(answer.body).toEqual({ error: { code: CODES[status], message: expect.stringMatching(/./) } });
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(answer.headers.get('payhook-request-id')).toMatch(/^req_[0-9a-f]{24}$/);
  expect(answer.reason).toMatch(/^[a-z_]+$/);
  if (reason !== undefined) expect(answer.reason, answer.text).toBe(reason);
  for (const part of parts) expect(answer.body.error.message).toContain(part);
}

/** Patterns of the tables that hold sums of others; chores fold into them at any time. */
const SUMS = '{delivery\\_count%,attempt\\_counts,affiliate\\_balance%,commission\\_series%}';

const dumps = new WeakMap<Pick<World, 'query'>, string>();

async function dumpQuery(world: Pick<World, 'query'>): Promise<string> {
  // rows of a partition are rows of its parent; a row as text takes a third of the time of one as JSON
  const tables = await world.query<{ name: string; columns: string }>(
    `select relname as name, string_agg(quote_ident(attname), ', ' order by attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid and attnum > 0 and not attisdropped
     where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
       and attname not in ('last_used_at', 'last_seen_at') and relname not like all ('${SUMS}')
       and relname not in ('commission_arrivals', 'program_affiliates', 'schema_migrations', 'server_settings', 'workers')
     group by relname`,
  );
  return tables
    .map(({ name, columns }) => `select '${name} ' || row(${columns})::text as row from ${name}`)
    .join(' union all ');
}

/**
 * Every stored row as text, except when keys and sessions were last used, and the folding of the log's counts: those
 * change besides the request.
 */
export async function dump(world: Pick<World, 'query'>): Promise<string[]> {
  const query = dumps.get(world) ?? (await dumpQuery(world));
  dumps.set(world, query);
  // with as many tables and partitions, planning takes longer than reading; a new partition changes the text
  const name = `dump ${createHash('sha256').update(query).digest('hex').slice(0, 16)}`;
  return (await world.query<{ row: string }>(query, [], name)).map(({ row }) => row).sort();
}

/** What the tests of a table share: the first of them makes it. */
export function madeOnce<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined;
  return () => (made ??= make());
}

/** Runs `work` and checks that no stored row changed. */
export async function nothingChanges<Result>(world: World, work: () => Promise<Result>): Promise<Result> {
  const before = await dump(world);
  const result = await work();
  expect(await dump(world)).toEqual(before);
  return result;
}

/** As nothingChanges, for a preview. A short run compares no rows here, because import-layouts.test.ts does. */
export const previewChangesNothing = <Result>(world: World, look: () => Promise<Result>): Promise<Result> =>
  isLong ? nothingChanges(world, look) : look();

/**
 * As nothingChanges, for tests of a table that follow each other: each finds the rows that the one before left. `read` returns
 * all rows.
 */
export function nothingChangesInTurn(
  read: () => Promise<unknown>,
): (work: () => Promise<unknown>) => Promise<void> {
  let left: unknown;
  return async (work) => {
    const before = left ?? (await read());
    left = undefined;
    await work();
    expect(await read()).toEqual(before);
    left = before;
  };
}

/** Runs `work`, which succeeds, and checks that no stored row changed except in the audit log. */
export async function onlyAudited<Result>(world: World, work: () => Promise<Result>): Promise<Result> {
  const others = (all: string[]) => all.filter((row) => !/^(audit_log|imports) /.test(row));
  const before = await dump(world);
  const result = await work();
  const after = await dump(world);
  expect(others(after)).toEqual(others(before));
  expect(after.length).toBeGreaterThan(before.length);
  return result;
}

export interface StoredEvent {
  readonly type: string;
  readonly payload: Json;
}

/** The stored events of an account, of one type or all, oldest first, each with a checked envelope. */
export async function eventsOf(world: World, api: Api, type?: string): Promise<StoredEvent[]> {
  const account = (await api.get('/v2/account')).body.id;
  const found = await world.query<{ id: string; type: string; payload: string }>(
    `select 'evt_' || replace(id::text, '-', '') as id, type, payload from events
     where account_id = $1 and ($2::text is null or type = $2) order by id`,
    [account.slice(4), type ?? null],
  );
  return found.map(({ id, payload, ...event }) => {
    const parsed = JSON.parse(payload);
    expect(parsed).toEqual({
      id,
      object: 'event',
      type: event.type,
      timestamp: expect.stringMatching(TIMESTAMP),
      account_id: account,
      api_version: '2.0.0',
      ...(isUpdate(event.type) && {
        changes: { added: expect.any(Object), updated: expect.any(Object), removed: expect.any(Object) },
      }),
      data: expect.any(Object),
    });
    return { type: event.type, payload: parsed };
  });
}

/** The data of the newest event of a type. */
export async function newestEvent(world: World, api: Api, type: string): Promise<Json> {
  return (await eventsOf(world, api, type)).at(-1)?.payload.data;
}

/** A payout as events and lists show it: without its long lists. */
export function withoutLists({ affiliates, excluded, shared_destinations, signals, ...rest }: Json): Json {
  return rest;
}

/** Books a debt of an affiliate, as a refund of an old payment would. */
export async function bookDebt(
  world: Pick<World, 'query'>,
  affiliateId: number,
  amount: number,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const row: Record<string, unknown> = {
    external_id: unique('debt'),
    type: 'adjustment',
    currency: 'usd',
    occurred_at: '2020-01-01T00:00:00Z',
    ...fields,
  };
  const names = Object.keys(row);
  await world.query(
    `with made as (
     insert into commissions (account_id, affiliate_id, amount, original_amount, available_at, ${names.join(', ')})
     select account_id, id, $2, $2, '2020-01-01', ${names.map((_, index) => `$${index + 3}`).join(', ')}
     from affiliates where id = $1 returning *),
     ${NOTE_MADE}`,
    [affiliateId, amount, ...Object.values(row)],
  );
}

/** Every item of a list, page by page. */
export async function allOf(api: Api, path: string): Promise<Json[]> {
  const items: Json[] = [];
  for (let page = 1; ; page += 1) {
    const answer = await api.get(`${path}${path.includes('?') ? '&' : '?'}per_page=100&page=${page}`);
    expect(answer.status, answer.text).toBe(200);
    items.push(...answer.body.data);
    if (page >= answer.body.pagination.pages) return items;
  }
}

export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly { name: string; in: string; required?: boolean; schema: Json }[];
  /** The required query, as `?name=value`; empty for most. */
  readonly query: string;
  readonly requestBody: { content: Record<string, { schema: Json }> } | undefined;
  /** Only a signed-in user may call it. */
  readonly isForPeople: boolean;
}

/** Every operation of the OpenAPI description. */
export const OPERATIONS: readonly Operation[] = Object.entries(
  inlinePaths() as Record<string, Record<string, Json>>,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    parameters: operation.parameters,
    query: neededQuery(operation.parameters),
    requestBody: operation.requestBody,
    isForPeople: !operation.security.some((way: object) => 'apiKey' in way),
  })),
);

function neededQuery(parameters: Operation['parameters']): string {
  const needed = parameters.filter((each) => each.in === 'query' && each.required);
  const query = needed.map(({ name, schema }) => `${name}=${schema.examples[0]}`).join('&');
  return query && `?${query}`;
}

/** A path with its parameters filled in: by name, else with an id nobody has. */
export function fill(path: string, ids: Readonly<Record<string, string | number>> = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    String(ids[name] ?? MISSING[name] ?? WORDS[name]),
  );
}

/** Parameters that name no record: each is an enumerated word. */
const WORDS: Readonly<Record<string, string>> = { format: 'summary' };

/** Well-formed ids that no record has. */
export const MISSING: Readonly<Record<string, string>> = {
  payout_id: `po_${'0'.repeat(32)}`,
  commission_id: `com_${'0'.repeat(32)}`,
  key_id: `key_${'0'.repeat(32)}`,
  user_id: `usr_${'0'.repeat(32)}`,
  session_id: `ses_${'0'.repeat(32)}`,
  application_id: `app_${'0'.repeat(32)}`,
  grant_id: `grant_${'0'.repeat(32)}`,
  affiliate_id: '999999999',
  program_id: '999999999',
  id: `we_${'0'.repeat(32)}`,
  event_id: `evt_${'0'.repeat(32)}`,
  recovery_id: `rec_${'0'.repeat(32)}`,
  import_id: `imp_${'0'.repeat(32)}`,
  refund_id: `ref_${'0'.repeat(32)}`,
  return_id: `ret_${'0'.repeat(32)}`,
  link_id: `pl_${'0'.repeat(32)}`,
  schedule_id: `psc_${'0'.repeat(32)}`,
  channel_id: `alc_${'0'.repeat(32)}`,
  correction_id: `cor_${'0'.repeat(32)}`,
  external_id: `crm_${'0'.repeat(32)}`,
  type: 'order.unknown',
};

/** Rows of a CSV text with RFC 4180 quoting, read by an independent reader. */
export function parseCsv(text: string): string[][] {
  const table: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    let cell = '';
    if (text[at] === '"') {
      for (at += 1; !(text[at] === '"' && text[at + 1] !== '"'); at += text[at] === '"' ? 2 : 1) {
        if (at >= text.length) throw new Error('a quote is not closed');
        cell += text[at];
      }
      at += 1;
    } else {
      while (at < text.length && text[at] !== ',' && text[at] !== '\r') cell += text[at++];
    }
    row.push(cell);
    if (text[at] === ',') {
      at += 1;
      continue;
    }
    if (text.slice(at, at + 2) !== '\r\n') throw new Error(`no CRLF at ${at}: ${text.slice(at, at + 20)}`);
    table.push(row);
    row = [];
    at += 2;
  }
  return table;
}

/** A requirement that no schema states: an affiliate has three names, and one of them is needed. */
const alsoRequired = (schema: Json): string[] =>
  'affiliate_external_id' in (schema.properties ?? {}) ? ['affiliate_id'] : [];

/** The smallest value that a schema of the description accepts. */
export function sample(schema: Json): Json {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return sample(schema.anyOf[0]);
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        [...(schema.required ?? []), ...alsoRequired(schema)].map((name: string) => [
          name,
          sample(schema.properties[name]),
        ]),
      );
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sample(schema.items));
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, 1);
    case 'string':
      if (schema.pattern) {
        // an e-mail address that no test gives to an affiliate
        const [example = '@'] = schema.examples ?? [];
        return String(example).includes('@') ? 'sample@example.com' : example;
      }
      return schema.examples?.[0] ?? 'usd'.padEnd(schema.minLength ?? 0, 'x');
    default:
      return null;
  }
}

/** A well-formed body, where the operation needs one. */
export function sampleBody(operation: Operation): Json {
  const content = operation.requestBody?.content['application/json'];
  return content ? sample(content.schema) : undefined;
}

/** Rows for `test.each`, titled with the short value each begins with. */
export const labelled = <Rest extends readonly unknown[]>(
  table: readonly (readonly [unknown, ...Rest])[],
): [label: string, value: Json, ...rest: Rest][] =>
  table.map(([value, ...rest]) => [JSON.stringify(value).slice(0, 70), value, ...(rest as unknown as Rest)]);
