import { CALLBACK, register, signedIn, tokensFor } from '../oauth/support.ts';
import type { Api } from './api.ts';
import type { World } from './world.ts';

/**
 * The CTEs with which the API notes new commissions, for a test that inserts some itself: `made` returns all of them.
 */
export const NOTE_MADE = `arrived as (
    insert into commission_arrivals (account_id, count) select account_id, count(*) from made group by 1)
  insert into affiliate_balance_notes (account_id, affiliate_id, currency, available_at, owed, paid)
  select account_id, affiliate_id, currency, available_at, amount, 0 from made`;

/** One commission to create; the rest has defaults. */
export interface Sale {
  readonly external_id: string;
  readonly affiliate_id: number;
  readonly amount: number;
  readonly currency?: string;
  readonly occurred_at?: string;
}

/** Creates affiliates named after `prefix`; returns their ids. */
export async function makeAffiliates(api: Api, count: number, prefix = 'affiliate'): Promise<number[]> {
  const ids: number[] = [];
  for (let index = 0; index < count; index++) {
    const made = await api.post('/v2/affiliates', {
      email: `${prefix}-${index}@example.com`,
      external_id: `${prefix}-${index}`,
      name_first: 'Ada',
      name_last: `No ${index}`,
      paypal_email: `pay-${prefix}-${index}@example.com`,
      payout_method: 'paypal',
    });
    if (made.status !== 201) throw new Error(made.text);
    ids.push(made.body.id);
  }
  return ids;
}

/** `count` sales, assigned to the affiliates in turn; amounts 100, 101, 102 … */
export function salesFor(affiliates: readonly number[], count: number, prefix = 'sale'): Sale[] {
  return Array.from({ length: count }, (_, index) => ({
    external_id: `${prefix}-${index}`,
    affiliate_id: affiliates[index % affiliates.length] ?? 0,
    amount: 100 + index,
    currency: 'usd',
  }));
}

/** Creates sales, a thousand per request. */
export async function takeIn(api: Api, sales: readonly Sale[]): Promise<void> {
  for (let start = 0; start < sales.length; start += 1000) {
    const taken = await api.post('/v2/affiliates/commissions/batch', {
      commissions: sales.slice(start, start + 1000),
    });
    if (taken.status !== 200) throw new Error(taken.text);
  }
}

/** The CSV file of these sales. */
export function salesFile(sales: readonly Sale[]): string {
  const lines = sales.map(({ external_id, affiliate_id, amount, currency = 'usd' }) =>
    [external_id, affiliate_id, (amount / 100).toFixed(2), currency].join(','),
  );
  return `external_id,affiliate_id,amount,currency\n${lines.join('\n')}\n`;
}

/** The same with descriptions of 1,000 characters, for a file that is larger than what buffers hold. */
export function longSalesFile(sales: readonly Sale[]): string {
  const [header = '', ...lines] = salesFile(sales).trimEnd().split('\n');
  return `${header},description\n${lines.map((line) => `${line},${'x'.repeat(1000)}\n`).join('')}`;
}

/** The sum of sales. */
export function sumOf(sales: readonly { readonly amount: number }[]): number {
  return sales.reduce((sum, { amount }) => sum + amount, 0);
}

/** Creates an endpoint whose address nothing listens on; returns its id. */
export async function makeEndpoint(api: Api, fields: object = {}): Promise<string> {
  const made = await api.post('/v2/webhook-endpoints', { url: 'http://127.0.0.1:9/hook', ...fields });
  if (made.status !== 201) throw new Error(made.text);
  return made.body.id;
}

/** An attempt as a worker would have written it. */
export interface SeededAttempt {
  /** Null = no response. */
  readonly status: number | null;
  readonly trigger?: 'scheduled' | 'manual' | 'recovery';
  readonly body?: string;
}

/**
 * Writes attempts of an event at an endpoint as a worker would have: the last one decides between `delivered` and
 * `failed`, unless the event `ends` otherwise, and nothing waits any more. For tests of lists; test/delivery tests real attempts.
 */
export async function seedAttempts(
  world: World,
  { id, webhook_endpoint_id: endpoint }: { id: string; webhook_endpoint_id: string },
  attempts: readonly SeededAttempt[],
  ends?: 'cancelled',
): Promise<void> {
  const made = attempts.map(({ status, trigger = 'scheduled', body = '' }, index) => ({
    number: index + 1,
    trigger,
    status,
    body: status === null ? null : body,
    code: status === null ? 'connection_refused' : status < 300 ? null : 'response_error',
    message: status === null ? 'nobody listens there' : status < 300 ? null : `HTTP ${status}`,
  }));
  const last = made.at(-1);
  if (!last) throw new Error('no attempt');
  await world.query(
    `with whole as (
       select d.account_id, d.endpoint_id, d.event_id, id_time(d.event_id) + $5::int * interval '1 hour' as ended_at
       from deliveries d
       where d.endpoint_id = replace($1, 'we_', '')::uuid and d.event_id = replace($2, 'evt_', '')::uuid),
     made as (
       insert into attempts (account_id, endpoint_id, event_id, number, trigger, url, started_at, duration_ms,
         request_headers, response_status, response_headers, response_body, error_code, error_message)
       select account_id, endpoint_id, event_id, number, trigger, 'http://127.0.0.1:9/hook',
         id_time(event_id) + number * interval '1 hour', 10 * number,
         '{"content-type":"application/json"}', status, case when status is not null then '{"server":"nobody"}'::json end,
         body, code, message
       from whole, json_to_recordset($3) as a (number int, trigger text, status int, body text, code text, message text)
       returning *),
     stored as (
       update deliveries d
       set status = $4::text, attempt_count = $5::int, next_attempt_at = null, last_response_status = $6,
           last_error_code = $7, last_attempt_at = w.ended_at,
           delivered_at = case when $4::text = 'delivered' then w.ended_at end
       from whole w
       where d.account_id = w.account_id and d.endpoint_id = w.endpoint_id and d.event_id = w.event_id),
     counted as (
       insert into delivery_count_deltas (account_id, endpoint_id, minute, total, delivered, failed, cancelled,
         attempted_minute, attempt_codes)
       select account_id, endpoint_id, date_trunc('minute', id_time(event_id)), 0, ($4::text = 'delivered')::int,
         ($4::text = 'failed')::int, ($4::text = 'cancelled')::int, null, null
       from whole
       union all
       select account_id, endpoint_id, date_trunc('minute', id_time(event_id)), 0, 0, 0, 0,
         date_trunc('minute', started_at), array[attempt_code(duration_ms, response_status)]
       from made)
     delete from queue q using whole w
     where q.account_id = w.account_id and q.endpoint_id = w.endpoint_id and q.event_id = w.event_id`,
    [
      endpoint,
      id,
      JSON.stringify(made),
      ends ?? (last.code === null ? 'delivered' : 'failed'),
      made.length,
      last.status,
      last.code,
    ],
  );
}

/** An application of the account, with a grant of all its scopes by one of the account's users. */
export interface Granted {
  readonly application_id: string;
  readonly grant_id: string;
  readonly user_id: string;
  readonly client_secret: string;
  readonly access_token: string;
  readonly refresh_token: string;
}

/** Registers an application of the account, and grants it its scopes, or only `scope`. */
export async function makeGrant(
  world: World,
  api: Api,
  { scope, ...fields }: { scope?: string } & Record<string, unknown> = {},
): Promise<Granted> {
  const owner = await signedIn(world, { api });
  const application = await register(api, { redirect_uris: [CALLBACK], ...fields });
  const { access_token, refresh_token } = await tokensFor(world, owner, application, { scope });
  const { body } = await api.get(`/v2/oauth-grants?application_id=${application.id}`);
  return {
    application_id: application.id,
    grant_id: body.data[0].id,
    user_id: owner.id,
    client_secret: application.client_secret,
    access_token,
    refresh_token,
  };
}
