import { type Json, makeAffiliate, makeCommission, OPERATIONS, unique } from '../api/fixtures.ts';
import type { Api } from './api.ts';
import { certificateFor } from './certificate.ts';

/** A field that a request can set, as the description of the running program has it. */
export interface Field {
  readonly name: string;
  readonly schema: Json;
  /** The value that tests send: the example of the description. */
  readonly example: Json;
  readonly isNullable: boolean;
}

/** A resource whose fields requests can set, and what a door cannot do with some of them. */
export interface Resource {
  /** The operations whose bodies are fields of the resource, such as `POST /v2/affiliates`. */
  readonly create: string;
  readonly change?: string;
  readonly put?: string;
  /** Where records are read: by default the path of `create` and the id. */
  readonly read?: string;
  /** The record in what is read there. */
  readonly recordIn?: (body: Json) => Json;
  /** What a record needs from its surroundings: parameters of the path and values of fields. */
  readonly prepare?: (api: Api) => Promise<Json>;
  /** What a new record needs besides the fields that the description requires. */
  readonly least?: Json;
  /** An affiliate who is erased may be named in the texts of the fields. */
  readonly mayNameAffiliate?: true;
  /** Values that replace examples; a field with undefined is left out. */
  readonly values?: Json;
  /** What records show of these fields; undefined if they do not show them. */
  readonly shown?: Json;
  /** What a change of a field has to send with it. */
  readonly changedWith?: Readonly<Record<string, Json>>;
  /** Fields that keep their value once they have one. */
  readonly kept?: readonly string[];
  /** What else a change of a field changes. */
  readonly alsoChanges?: Readonly<Record<string, readonly string[]>>;
  /** The file of the export of an account that has the records. */
  readonly exported?: string;
  /** The kind of file that creates records, and the fields that no column gives. */
  readonly file?: { readonly kind: string; readonly without: readonly string[] };
  /** The record is one of an affiliate: lines of a file and commands name the affiliate. */
  readonly isOfAffiliate?: true;
  /** The fields that an erasure of the person keeps. */
  readonly keptByErasure?: readonly string[];
  /** The command that creates a record, and the fields without an option. */
  readonly command?: { readonly words: readonly string[]; readonly without: readonly string[] };
  /** The fields that the form of the dashboard leaves to another control. */
  readonly withoutInput?: readonly string[];
}

const DAY_MS = 86_400_000;
const certificate = certificateFor('payhook');
const SECOND_UNTIL = new Date(Date.now() + DAY_MS).toISOString();

/** A field that the resource does not have, or does not show. */
const none = undefined;

const affiliateFor = async (api: Api): Promise<Json> => ({ affiliate_id: (await makeAffiliate(api)).id });
const programFor = async (api: Api): Promise<Json> => ({
  program_id: (await api.post('/v2/affiliates/programs', { name: unique('program') })).body.id,
});
const destination = {
  create: 'PUT /v2/affiliates/{affiliate_id}/destination',
  read: '/v2/affiliates/{affiliate_id}/destination',
  recordIn: ({ destinations }: Json) => destinations[0],
  prepare: affiliateFor,
  isOfAffiliate: true,
  // a file sets the destination for all currencies
  file: { kind: 'affiliates', without: ['currency'] },
  command: { words: ['affiliates', 'destination', 'set', '{affiliate_id}'], without: [] },
} as const;
const shownAsLines = { amount: none, sale_amount: none, currency: none };
const orderRefund = {
  create: 'POST /v2/affiliates/refunds',
  exported: 'refunds',
  shown: shownAsLines,
};
const commissionRefund = {
  create: 'POST /v2/affiliates/commissions/{commission_id}/refund',
  read: '/v2/affiliates/refunds/{id}',
  prepare: async (api: Api): Promise<Json> => {
    const { id } = await makeAffiliate(api);
    const made = await makeCommission(api, id, { amount: 10_000, sale_amount: 50_000 });
    return { commission_id: made.id };
  },
  exported: 'refunds',
  shown: shownAsLines,
};
/** The fields whose values `prepare` makes. */
export const PREPARED: Json = { affiliate_id: true, program_id: true };

/** Every resource that a request can create or change field by field. */
export const RESOURCES: Readonly<Record<string, Resource>> = {
  affiliates: {
    create: 'POST /v2/affiliates',
    change: 'PATCH /v2/affiliates/{affiliate_id}',
    put: 'PUT /v2/affiliates/by-external-id/{external_id}',
    exported: 'affiliates',
    // a file has no column with a sum per currency, nor one with keys, and does not decide who gets e-mails
    file: { kind: 'affiliates', without: ['minimum_payout', 'is_notified', 'metadata'] },
    keptByErasure: ['minimum_payout', 'commissions_are'],
    command: { words: ['affiliates', 'create'], without: [] },
    // "Pause payouts" says what it means for what is owed
    withoutInput: ['is_ready_for_payout'],
  },
  programs: {
    create: 'POST /v2/affiliates/programs',
    change: 'PATCH /v2/affiliates/programs/{program_id}',
    exported: 'programs',
    command: { words: ['programs', 'create'], without: [] },
  },
  commissions: {
    create: 'POST /v2/affiliates/commissions',
    prepare: async (api) => ({ ...(await affiliateFor(api)), ...(await programFor(api)) }),
    least: { external_id: 'order-1', amount: 1000 },
    mayNameAffiliate: true,
    // exactly one of three fields names the affiliate
    values: { affiliate_external_id: none, affiliate_email: none },
    exported: 'commissions',
    file: { kind: 'commissions', without: ['metadata'] },
    command: { words: ['commissions', 'create'], without: [] },
  },
  adjustments: {
    create: 'POST /v2/affiliates/{affiliate_id}/adjustments',
    read: '/v2/affiliates/commissions/{id}',
    prepare: async (api) => ({ ...(await affiliateFor(api)), ...(await programFor(api)) }),
    exported: 'commissions',
  },
  'refunds of the lines of an order': {
    ...orderRefund,
    values: { product_id: none, amount: none, sale_amount: none },
  },
  'refunds of a part of a sale': { ...orderRefund, values: { lines: none, amount: none } },
  'refunds of a part of a commission': { ...orderRefund, values: { lines: none, sale_amount: none } },
  'refunds of a commission by amount': { ...commissionRefund, values: { sale_amount: none } },
  'refunds of a commission by sale': { ...commissionRefund, values: { amount: none } },
  'destinations of type sepa': {
    ...destination,
    values: { routing_number: none, account_number: none, account_type: none },
    shown: { iban: none },
  },
  'destinations of type ach': {
    ...destination,
    values: { type: 'ach', currency: 'usd', iban: none, bic: none },
    shown: { account_number: none },
  },
  'tax profiles': {
    create: 'PUT /v2/affiliates/{affiliate_id}/tax-profile',
    read: '/v2/affiliates/{affiliate_id}/tax-profile',
    prepare: affiliateFor,
    isOfAffiliate: true,
    shown: { tax_id: { type: 'us_ssn', ending: '4399', is_lost: false, shared_with: [] } },
    exported: 'tax-profiles',
    file: { kind: 'affiliates', without: [] },
    command: { words: ['affiliates', 'tax', 'set', '{affiliate_id}'], without: [] },
  },
  'pull endpoints': {
    create: 'POST /v2/webhook-endpoints',
    least: { delivery: 'pull' },
    values: {
      delivery: none,
      ...Object.fromEntries(
        [
          'url',
          'headers',
          'batch',
          'rate_limit',
          'proxy',
          'client_certificate',
          'client_credentials',
          'second_signature',
        ].map((name) => [name, none]),
      ),
      secret: `whsec_${Buffer.alloc(32, 'p').toString('base64')}`,
      signing: none,
      custom_signing: none,
    },
    shown: { secret: none, held: none },
  },
  'webhook endpoints': {
    create: 'POST /v2/webhook-endpoints',
    change: 'PATCH /v2/webhook-endpoints/{id}',
    put: 'PUT /v2/webhook-endpoints/by-external-id/{external_id}',
    exported: 'webhook-endpoints',
    least: { url: 'https://shop.example.com/in' },
    // an endpoint that has one keeps it
    withoutInput: ['owner'],
    values: {
      delivery: none,
      second_signature: {
        signing: 'stripe',
        secret: 'whsec_of_the_other_product',
        expires_at: SECOND_UNTIL,
      },
      secret: `whsec_${Buffer.alloc(32, 'p').toString('base64')}`,
      client_certificate: { certificate: certificate.cert, key: certificate.key },
    },
    shown: {
      headers: ['x-shop'],
      secret: none,
      held: none,
      second_signature: { signing: 'stripe', custom_signing: null, expires_at: SECOND_UNTIL },
      client_certificate: { subject: 'CN=payhook' },
      client_credentials: { client_id: 'payhook', scope: 'events:write', authentication: 'body' },
    },
    changedWith: {
      held: { status: 'enabled' },
      signing: { custom_signing: { header: 'x-signature', content: '{body}', encoding: 'hex' } },
      custom_signing: { signing: 'custom' },
    },
    kept: ['owner'],
    alsoChanges: {
      status: ['disabled_reason', 'disabled_at'],
      signing: ['custom_signing', 'second_signature'],
      custom_signing: ['signing', 'second_signature'],
      secret: ['second_signature'],
    },
    // these have options of several values
    command: {
      words: ['webhooks', 'create', 'https://shop.example.com/payhook'],
      without: [
        'url',
        'event_types',
        'filter',
        'status',
        'batch',
        'headers',
        'signing',
        'custom_signing',
        'secret',
        'second_signature',
        'proxy',
        'client_certificate',
        'client_credentials',
      ],
    },
  },
};

/** Operations with a JSON body that are not in RESOURCES: the files that send each of their fields. */
export const TESTED_IN: Readonly<Record<string, string>> = {
  // the items have the schema of one commission, and of one event
  'POST /v2/affiliates/commissions/batch': 'api/batch',
  'POST /v2/events/batch': 'api/publish-batch api/owners api/tags',
  'POST /v2/events': 'api/publish-batch api/owners api/tags',
  // filters choose what is paid; a preview stores nothing
  'POST /v2/affiliates/payouts': 'api/payouts api/metadata',
  'POST /v2/affiliates/payouts/{payout_id}/invoices': 'api/invoices',
  'POST /v2/affiliates/payouts/preview': 'api/payouts',
  'POST /v2/affiliates/payouts/preview/affiliates': 'api/payouts',
  'POST /v2/affiliates/payouts/preview/excluded': 'api/payouts',
  'POST /v2/affiliates/payouts/preview/signals': 'api/payouts',
  'POST /v2/affiliates/payouts/{payout_id}/signals/review': 'api/payout-signals',
  'POST /v2/affiliates/payout-schedules': 'api/schedules',
  'PATCH /v2/affiliates/payout-schedules/{schedule_id}': 'api/schedules',
  // decisions about a payout, a line or a commission
  'PUT /v2/affiliates/payouts/{payout_id}': 'api/payout-complete api/metadata',
  'POST /v2/affiliates/payouts/{payout_id}/approve': 'api/approval',
  'POST /v2/affiliates/payouts/{payout_id}/reject': 'api/approval',
  'POST /v2/affiliates/payouts/{payout_id}/affiliates/{affiliate_id}/returned': 'api/returns',
  'POST /v2/affiliates/commissions/{commission_id}/void': 'api/refunds',
  // actions on an endpoint
  'POST /v2/webhook-endpoints/{id}/rotate-secret': 'api/webhook-endpoints',
  'POST /v2/webhook-endpoints/{id}/claims': 'delivery/pull',
  'POST /v2/webhook-endpoints/{id}/acknowledgements': 'delivery/pull',
  'POST /v2/webhook-endpoints/{id}/extensions': 'delivery/pull',
  'POST /v2/webhook-endpoints/{id}/token': 'delivery/pull',
  'POST /v2/webhook-endpoints/{id}/test': 'api/webhook-endpoints',
  'POST /v2/webhook-endpoints/{id}/test-filter': 'api/filters',
  'POST /v2/webhook-endpoints/{id}/portal-link': 'access/portal',
  'PUT /v2/event-types/{type}': 'api/own-event-types',
  'POST /v2/webhook-endpoints/{id}/recover': 'api/recoveries',
  'POST /v2/webhook-endpoints/{id}/discard': 'api/discards',
  'POST /v2/webhook-endpoints/{id}/preview-recovery': 'api/discards',
  'POST /v2/affiliates/{affiliate_id}/destination/verified-name': 'api/verifications',
  // settings, people and access
  'PUT /v2/alerts': 'operations/alerts',
  'POST /v2/alert-channels': 'operations/alerts',
  'PATCH /v2/alert-channels/{channel_id}': 'operations/alerts',
  'PATCH /v2/account': 'api/settings',
  'POST /v2/api-keys': 'access/audit',
  'POST /v2/users': 'access/audit',
  'PATCH /v2/users/{user_id}': 'access/audit',
  'POST /v2/oauth-applications': 'oauth/applications',
  'PATCH /v2/oauth-applications/{application_id}': 'oauth/applications',
};

/** The operations of a resource. */
export const operationsOf = ({ create, change, put }: Resource): string[] =>
  [create, change, put].filter((operation) => operation !== undefined);

/** `POST /v2/affiliates` as an operation of the description. */
export function operationOf(name: string) {
  const found = OPERATIONS.find(({ method, path }) => `${method} ${path}` === name);
  if (found === undefined) throw new Error(`the description has no operation ${name}`);
  return found;
}

/** The fields that the body of an operation can set. Throws for one without an example. */
export function fieldsOf(name: string): Field[] {
  const { properties } = operationOf(name).requestBody?.content['application/json']?.schema ?? {};
  return Object.entries<Json>(properties ?? {}).map(([field, schema]) => {
    if (schema.examples === undefined)
      throw new Error(`${field} of ${name} has no example: add one to its row`);
    const isNullable = schema.anyOf?.some(({ type }: Json) => type === 'null') ?? false;
    return { name: field, schema, example: schema.examples[0], isNullable };
  });
}

/** The fields with the parts of an object, such as `form.signed_on`, instead of the object, if a form has the parts. */
export const singly = (fields: readonly Field[], forms: Json): Field[] =>
  fields.flatMap((field) => {
    const parts = Object.entries<Json>(typeof field.example === 'object' ? field.example : {})
      .map(([part, example]) => ({ ...field, name: `${field.name}.${part}`, example, isNullable: false }))
      .filter(({ name }) => name in forms);
    return parts.length > 0 ? parts : [field];
  });

/** A body with the example of each field, or the value that the resource has instead. */
export const examplesOf = (fields: readonly Field[], { values = {} }: Partial<Resource> = {}): Json =>
  Object.fromEntries(
    fields.flatMap(({ name, example }) => {
      const value = name in values ? values[name] : example;
      return value === undefined ? [] : [[name, value]];
    }),
  );
