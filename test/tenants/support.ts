import { dump as rowsOf } from '../api/fixtures.ts';
import { makeUser } from '../people/support.ts';
import type { Answer, Api, RequestOptions } from '../support/api.ts';
import { inlinePaths } from '../support/description.ts';
import { makeAffiliates, makeEndpoint, makeGrant, salesFor, takeIn } from '../support/seed.ts';
import type { World } from '../support/world.ts';

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly format?: string;
  readonly minimum?: number;
  readonly minLength?: number;
}

export interface Operation {
  readonly operationId: string;
  readonly method: string;
  /** With its parameters in braces. */
  readonly path: string;
  /** The required query, as `?name=value`; empty for most. */
  readonly query: string;
  /** Those that name a record. */
  readonly pathParameters: readonly string[];
  readonly queryParameters: readonly string[];
  readonly body: Schema | undefined;
  /** The media type of the body. */
  readonly mediaType: string | undefined;
  /** Who may call it, according to the description. */
  readonly access: Access;
}

export interface Access {
  /** An API key is enough. */
  readonly key: boolean;
  /** The scope a token needs; null when no token, or any token, is enough. */
  readonly scope: string | null;
  /** Any token is enough. */
  readonly anyToken: boolean;
  /** The roles of users who may use it. */
  readonly roles: readonly string[];
  readonly capability: string;
  /** A session shows its token in a header too. */
  readonly csrf: boolean;
}

type Described = Record<
  string,
  Record<
    string,
    {
      operationId: string;
      parameters: {
        name: string;
        in: string;
        required?: boolean;
        schema: { examples?: readonly string[] };
      }[];
      requestBody?: { content: Record<string, { schema: Schema }> };
      security: Record<string, string[]>[];
      'x-roles': readonly string[];
      'x-capability': string;
    }
  >
>;

function accessOf({
  security,
  'x-roles': roles,
  'x-capability': capability,
}: Described[string][string]): Access {
  const ways = Object.assign({}, ...security);
  return {
    key: security.some((way) => Object.keys(way).join() === 'apiKey'),
    scope: ways.oauth2?.[0] ?? null,
    anyToken: ways.oauth2?.length === 0,
    roles,
    capability,
    csrf: ways.csrfToken !== undefined,
  };
}

/** Path parameters that are no id of ours: an enumerated word, and names that the account chose. */
const WORDS: Readonly<Record<string, string>> = {
  format: 'summary',
  external_id: 'ours-0',
  type: 'order.created',
};

function neededQuery(parameters: Described[string][string]['parameters']): string {
  const needed = parameters.filter((each) => each.in === 'query' && each.required);
  const query = needed.map(({ name, schema }) => `${name}=${schema.examples?.[0]}`).join('&');
  return query && `?${query}`;
}

/** Every operation of the description, as a client reads it. */
export const OPERATIONS: readonly Operation[] = Object.entries(inlinePaths() as Described).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, described]) => {
      const { operationId, parameters, requestBody } = described;
      const named = (place: string) => parameters.filter((each) => each.in === place).map(({ name }) => name);
      const [mediaType, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
      return {
        operationId,
        method: method.toUpperCase(),
        path,
        query: neededQuery(parameters),
        pathParameters: named('path').filter((name) => WORDS[name] === undefined),
        queryParameters: named('query'),
        body: content?.schema,
        mediaType,
        access: accessOf(described),
      };
    }),
);

/** Names of fields, parameters and columns that point to a record of the account. */
export const REFERENCES = [
  'payout_id',
  'affiliate_id',
  'program_id',
  'commission_id',
  'key_id',
  'user_id',
  'session_id',
  'application_id',
  'grant_id',
  'id', // of a webhook endpoint, as the interface calls it
  'event_id',
  'recovery_id',
  'import_id',
  'refund_id',
  'return_id',
  'invoice_id',
  'webhook_endpoint_id',
  'link_id',
  'schedule_id',
  'channel_id',
  'correction_id',
] as const;
export type Reference = (typeof REFERENCES)[number];
export type Ids = Readonly<Record<Reference, string | number>>;

/**
 * A body that passes the schema: the required fields and the references among `also`, with values from `ids`. Built
 * from the description, so that a new operation needs no line here.
 */
export function sampleBody(schema: Schema, ids: Ids, also: ReadonlySet<string> = new Set()): unknown {
  return sample(schema, '', ids, also);
}

/** Whether a property is one of these names, or contains one of them. */
function leadsTo(
  name: string,
  { properties = {}, items, anyOf = [] }: Schema,
  names: ReadonlySet<string>,
): boolean {
  if (names.has(name)) return true;
  const inner = [
    ...Object.entries(properties),
    ...[...anyOf, ...(items ? [items] : [])].map((each) => ['', each] as const),
  ];
  return inner.some(([key, schema]) => leadsTo(key, schema as Schema, names));
}

const sizeOf = (schema: Schema) => Math.max(schema.minimum ?? 1, 1);

function sample(schema: Schema, name: string, ids: Ids, also: ReadonlySet<string>): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return sample(schema.anyOf[0] as Schema, name, ids, also);
  if ((REFERENCES as readonly string[]).includes(name)) return ids[name as Reference];
  if (schema.type === 'object') {
    const wanted = Object.entries(schema.properties ?? {}).filter(
      ([key, property]) =>
        schema.required?.includes(key) ||
        key === 'affiliate_id' || // or one of its other names, which a schema does not list
        DEFAULTS[key] !== undefined ||
        leadsTo(key, property, also),
    );
    return Object.fromEntries(wanted.map(([key, property]) => [key, sample(property, key, ids, also)]));
  }
  if (DEFAULTS[name] !== undefined) return DEFAULTS[name];
  if (schema.type === 'array') return [sample(schema.items ?? {}, name, ids, also)];
  if (schema.type === 'boolean') return true;
  if (schema.type === 'integer' || schema.type === 'number') return sizeOf(schema);
  return schema.format === 'email' ? 'a@example.com' : `some-${name}`;
}

// fields that the schema leaves open and the operation requires
const DEFAULTS: Readonly<Record<string, unknown>> = {
  email: 'sample@example.com',
  amount: 100,
  currency: 'usd',
  description: 'some description',
  country: 'US',
};

/**
 * Every stored row, except when keys, sessions and grants were last used, and how counts and clocks are kept: those
 * change besides the request.
 */
export async function dump(
  world: World,
  { without = [] }: { without?: readonly string[] } = {},
): Promise<string> {
  const isLeftOut = (row: string) => without.some((table) => row.startsWith(`${table} `));
  return (await rowsOf(world)).filter((row) => !isLeftOut(row)).join('\n');
}

/** Well-formed ids that nobody has. */
export const nobodys: Ids = {
  payout_id: `po_${'0192f8e5'.repeat(4)}`,
  commission_id: `com_${'0192f8e5'.repeat(4)}`,
  key_id: `key_${'0192f8e5'.repeat(4)}`,
  user_id: `usr_${'0192f8e5'.repeat(4)}`,
  session_id: `ses_${'0192f8e5'.repeat(4)}`,
  application_id: `app_${'0192f8e5'.repeat(4)}`,
  grant_id: `grant_${'0192f8e5'.repeat(4)}`,
  affiliate_id: 987_654_321,
  program_id: 987_654_329,
  id: `we_${'0192f8e5'.repeat(4)}`,
  event_id: `evt_${'0192f8e5'.repeat(4)}`,
  recovery_id: `rec_${'0192f8e5'.repeat(4)}`,
  import_id: `imp_${'0192f8e5'.repeat(4)}`,
  refund_id: `ref_${'0192f8e5'.repeat(4)}`,
  return_id: `ret_${'0192f8e5'.repeat(4)}`,
  invoice_id: `inv_${'0192f8e5'.repeat(4)}`,
  webhook_endpoint_id: `we_${'0192f8e5'.repeat(4)}`,
  link_id: `pl_${'0192f8e5'.repeat(4)}`,
  schedule_id: `psc_${'0192f8e5'.repeat(4)}`,
  channel_id: `alc_${'0192f8e5'.repeat(4)}`,
  correction_id: `cor_${'0192f8e5'.repeat(4)}`,
};

/** Lets the account write invoices of an affiliate. */
async function agreeOnInvoices(api: Api, affiliate_id: number, profile: object): Promise<void> {
  const own = { legal_name: 'Shop', country: 'US', address: { line1: '2 Main St', city: 'Boston' } };
  const rules = [{ category: 'O', exemption: 'Not subject to VAT' }];
  await api.patch('/v2/account', { tax_profile: own, invoicing: { rules } });
  const self_billing = { agreed_on: '2020-01-01', agreed_by: 'Ada' };
  await api.put(`/v2/affiliates/${affiliate_id}/tax-profile`, { ...profile, self_billing });
}

/** Pays an affiliate in a payout of its own, with an invoice, and the money is returned; returns the ids of both. */
async function makeReturn(
  api: Api,
  affiliate_id: number,
  prefix: string,
): Promise<{ return_id: string; invoice_id: string }> {
  await takeIn(api, salesFor([affiliate_id], 1, `${prefix}-returned`));
  const { body: payout } = await api.post('/v2/affiliates/payouts');
  const path = `/v2/affiliates/payouts/${payout.id}`;
  await api.put(path, { commissions: [{ affiliate_id, is_paid: true }] });
  await api.post(`${path}/invoices`);
  await api.post(`${path}/affiliates/${affiliate_id}/returned`, { reason: 'closed' });
  const { body: list } = await api.get(`${path}/affiliates/${affiliate_id}/returned`);
  const { body: invoices } = await api.get(`/v2/affiliates/invoices?payout_id=${payout.id}&kind=invoice`);
  return { return_id: list.data[0].id, invoice_id: invoices.data[0].id };
}

/** A correction of an affiliate's destination, as if a bank had sent it; returns its id. */
async function makeCorrection(world: World, api: Api, affiliate: number): Promise<string> {
  const account = { type: 'sepa', account_holder: 'A. Lovelace', iban: 'DE89370400440532013000' };
  await api.put(`/v2/affiliates/${affiliate}/destination`, account);
  const [made] = await world.query<{ id: string }>(
    `insert into destination_corrections (account_id, destination_id, affiliate_id, payout_id, code, account_holder, received_on, due_on)
     select account_id, id, affiliate_id, new_id(), 'C04', 'Ada Lovelace', now(), now() from affiliate_destinations
     where affiliate_id = $1 and replaced_at is null returning public_id('cor', id) as id`,
    [affiliate],
  );
  return made?.id ?? '';
}

/**
 * Gives an account one record of each kind; returns their ids. The payout is unpaid, so it can be completed and
 * deleted.
 */
export async function furnish(world: World, api: Api, prefix: string): Promise<Ids> {
  const endpoint = await makeEndpoint(api, { headers: { 'x-shop': prefix }, external_id: `${prefix}-0` });
  const [affiliate_id = 0, other = 0] = await makeAffiliates(api, 2, prefix);
  const address = { line1: '1 Main St', city: 'Boston' };
  const rhythm = { name: prefix, every: 'month', day: 1 };
  const { body: schedule } = await api.post('/v2/affiliates/payout-schedules', rhythm);
  const signed = { legal_type: 'person', legal_name: `Ada ${prefix}`, country: 'US', address };
  await api.put(`/v2/affiliates/${affiliate_id}/tax-profile`, signed);
  await agreeOnInvoices(api, other, signed);
  const { return_id, invoice_id } = await makeReturn(api, other, prefix);
  const { body: program } = await api.post('/v2/affiliates/programs', { name: `Program of ${prefix}` });
  await takeIn(api, salesFor([affiliate_id], 4, prefix));
  await api.post('/v2/affiliates/commissions', {
    external_id: `${prefix}-order`,
    affiliate_id,
    program_id: program.id,
    amount: 500,
    currency: 'eur',
    order_id: `order of ${prefix}`,
  });
  const { body: payout } = await api.post('/v2/affiliates/payouts');
  const { body: list } = await api.get(`/v2/affiliates/commissions?affiliate_id=${affiliate_id}`);
  const { body: key } = await api.post('/v2/api-keys', { name: `till of ${prefix}` });
  const user = await makeUser(api, 'owner', `user-of-${prefix}@example.com`);
  const { body: sessions } = await api.get(`/v2/sessions?user_id=${user.id}`);
  const { application_id, grant_id } = await makeGrant(world, api);
  const { body: log } = await api.get(`/v2/webhook-endpoints/${endpoint}/events`);
  const { body: recovery } = await api.post(`/v2/webhook-endpoints/${endpoint}/recover`, {
    since: '2020-01-01',
  });
  const { body: imported } = await api.upload(
    '/v2/imports?kind=affiliates',
    `email\nimported-of-${prefix}@example.com\n`,
  );
  const refund = { external_id: `${prefix}-refund`, order_id: `late order of ${prefix}` };
  const { body: link } = await api.post(`/v2/webhook-endpoints/${endpoint}/portal-link`);
  const { body: waiting } = await api.post('/v2/affiliates/refunds', refund);
  const { body: channel } = await api.post('/v2/alert-channels', {
    name: `channel of ${prefix}`,
    format: 'slack',
    url: 'https://hooks.example.com/x',
    kinds: [],
  });
  return {
    user_id: user.id,
    session_id: sessions.data[0].id,
    application_id,
    grant_id,
    payout_id: payout.id,
    commission_id: list.data[0].id,
    key_id: key.id,
    affiliate_id,
    program_id: program.id,
    id: endpoint,
    event_id: log.data[0].id,
    recovery_id: recovery.id,
    import_id: imported.import_id,
    refund_id: waiting.id,
    return_id,
    invoice_id,
    webhook_endpoint_id: endpoint,
    link_id: link.id,
    schedule_id: schedule.id,
    channel_id: channel.id,
    correction_id: await makeCorrection(world, api, other),
  };
}

/**
 * The numbers of affiliates and programs begin where nothing else in a response resembles them, as long as `nobodys`.
 */
export async function numberApart(world: World): Promise<void> {
  // not by ALTER TABLE, which Citus refuses for a table on a node
  await world.query(
    `select setval(pg_get_serial_sequence('affiliates', 'id'), 712345001, false),
            setval(pg_get_serial_sequence('affiliate_programs', 'id'), 812345001, false)`,
  );
}

/** The path of an operation for these records, with its required query. */
export function pathOf(operation: Pick<Operation, 'path' | 'query'>, ids: Ids): string {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = WORDS[name] ?? ids[name as keyof Ids];
    if (value === undefined) throw new Error(`the tests know no record for the parameter ${name}`);
    return String(value);
  });
  return path + operation.query;
}

/** A well-formed request. */
export function requestOf(operation: Operation, ids: Ids, also?: ReadonlySet<string>): RequestOptions {
  if (operation.mediaType === 'application/octet-stream')
    return { body: 'reference\nP1-A1\n', headers: { 'content-type': operation.mediaType } };
  if (operation.mediaType === 'text/csv') {
    const body = 'external_id,email\nx,x@example.com\n';
    return { body, headers: { 'content-type': 'text/csv' } };
  }
  return operation.body ? { body: sampleBody(operation.body, ids, also) } : {};
}

/** These differ in each response; an ETag is a digest of the text, which is compared. */
const OWN_HEADERS = new Set(['date', 'payhook-request-id', 'etag']);

/** Everything by which a client can distinguish two responses. */
export function visible(answer: Answer, ids: Ids): unknown {
  // how well a response compresses depends on the ids in it
  const isCompressed = answer.headers.has('content-encoding');
  const headers = [...answer.headers].filter(
    ([name]) => !OWN_HEADERS.has(name) && !(isCompressed && name === 'content-length'),
  );
  // a response may contain only ids that the request itself named
  const anonymous = (text: string) =>
    REFERENCES.reduce((rest, name) => rest.replaceAll(String(ids[name]), `<${name}>`), text);
  return {
    status: answer.status,
    headers: headers.map(([name, value]) => [name, anonymous(value)]),
    text: anonymous(answer.text),
  };
}
