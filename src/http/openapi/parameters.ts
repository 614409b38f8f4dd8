import type { TSchema } from 'typebox';
import { DEFAULT_SORT, type ListDefinition, MAX_PAGE, MOST_COUNTED } from '../../contract/lists.ts';
import type { Route } from '../../contract/route.ts';
import type { IdPrefix } from '../../kernel/ids.ts';
import { isKeyed } from '../../kernel/keyed-methods.ts';

type Json = Record<string, unknown>;

const opaque = (prefix: IdPrefix, description: string): Json => ({
  description,
  schema: { type: 'string', pattern: `^${prefix}_[0-9a-f]{32}$` },
});
const number = (description: string): Json => ({
  description,
  schema: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
});

/** The path parameters by name. */
const IN_PATHS: Readonly<Record<string, Json>> = {
  affiliate_id: number('the affiliate'),
  program_id: number('the program'),
  payout_id: opaque('po', 'the payout'),
  correction_id: opaque('cor', 'the correction'),
  commission_id: opaque('com', 'the commission'),
  import_id: opaque('imp', 'the import'),
  refund_id: {
    description: 'the refund: its id, or your external_id',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  return_id: opaque('ret', 'the return'),
  invoice_id: opaque('inv', 'the invoice or credit note'),
  external_id: { description: 'your own id', schema: { type: 'string', minLength: 1, maxLength: 255 } },
  id: opaque('we', 'the webhook endpoint'),
  link_id: opaque('pl', 'the portal link'),
  schedule_id: opaque('psc', 'the schedule'),
  channel_id: opaque('alc', 'the alert channel'),
  event_id: opaque('evt', 'the event: the `webhook-id` for the receiver'),
  recovery_id: opaque('rec', 'the recovery'),
  key_id: opaque('key', 'the API key'),
  user_id: opaque('usr', 'the user'),
  session_id: opaque('ses', 'the session'),
  application_id: opaque('app', 'the application'),
  grant_id: opaque('grant', 'the grant'),
};
const PAYOUT_OR_CURRENT: Json = {
  description: 'the payout, or `current` for the unpaid one',
  schema: { type: 'string', pattern: '^(po_[0-9a-f]{32}|current)$' },
};

/** The meaning of parameters of queries whose schema does not say it, by name. */
const IN_QUERIES: Readonly<Record<string, string>> = {
  currency: 'the currency of the amounts',
  kind: 'what the file has',
  encoding: 'how bytes are written as text; guessed by default',
  separator: 'the character between columns; guessed by default',
  dry_run: 'only checks the file, and stores nothing',
  partial: 'stores the good lines although others are bad',
  accept_guesses: 'imports although the meaning of columns or values was guessed',
};

/** The parameters of an operation: in its path, its query and its headers. */
export function parametersOf(route: Route): Json[] {
  return [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)];
}

function pathParameters({ path, kind, inPath = {} }: Route): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const known = name === 'payout_id' && kind === 'read' ? PAYOUT_OR_CURRENT : IN_PATHS[name];
    const described = inPath[name] ?? known;
    if (described === undefined) throw new Error(`{${name}} in ${path} has no description`);
    return { name, in: 'path', required: true, ...described };
  });
}

function queryParameters({ query, list }: Route): Json[] {
  const { properties = {}, required = [] } = (query ?? {}) as {
    properties?: Record<string, TSchema>;
    required?: readonly string[];
  };
  const own = Object.entries(properties).map(([name, property]) => {
    const { description = IN_QUERIES[name], ...schema } = property as Json;
    return {
      name,
      in: 'query',
      ...(description === undefined ? {} : { description }),
      ...(required.includes(name) ? { required: true } : {}),
      schema,
    };
  });
  return [...own, ...(list ? listParameters(list) : [])];
}

function listParameters(list: ListDefinition): Json[] {
  const fields = Object.keys(list.sort);
  return [
    {
      name: 'page',
      in: 'query',
      description: 'the page number; a page past the end is empty',
      schema: { type: 'integer', minimum: 1, maximum: Number(MAX_PAGE), default: 1 },
    },
    {
      name: 'per_page',
      in: 'query',
      description: 'items per page',
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
    },
    {
      name: 'after',
      in: 'query',
      description:
        'instead of `page`: the `next` of the previous page. Rows that are added or removed meanwhile are neither repeated nor skipped',
      schema: { type: 'string', minLength: 1 },
    },
    {
      name: 'sort',
      in: 'query',
      description: 'a field; a leading - means descending',
      schema: {
        type: 'string',
        enum: fields.flatMap((field) => [field, `-${field}`]),
        default: list.defaultSort ?? DEFAULT_SORT,
      },
    },
    ...(list.mayStopCounting
      ? [
          {
            name: 'max_total',
            in: 'query',
            description:
              'counting rows one by one may stop here: a `total` equal to it means at least that many, and pages beyond are empty',
            schema: { type: 'integer', minimum: 1, maximum: MOST_COUNTED },
          },
        ]
      : []),
    ...Object.entries(list.filters).map(([name, { rule, schema }]) => ({
      name,
      in: 'query',
      description: rule,
      schema,
    })),
  ];
}

const IDEMPOTENCY = 'the same key and request within 24 h returns the stored response';

function headerParameters(route: Route): Json[] {
  if (route.kind !== 'write') return [];
  return [
    ...(isKeyed(route.method)
      ? [header('Idempotency-Key', IDEMPOTENCY, { maxLength: 255, pattern: '^[ -~]+$' })]
      : []),
    ...(route.ifMatch
      ? [header('If-Match', 'the ETag the caller last saw; another revision is a 409', { minLength: 1 })]
      : []),
  ];
}

function header(name: string, description: string, rule: Json): Json {
  return { name, in: 'header', description, schema: { type: 'string', ...rule } };
}
