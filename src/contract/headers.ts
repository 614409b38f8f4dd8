type Json = Record<string, unknown>;

const text = (description: string, more: Json = {}) => ({ description, schema: { type: 'string', ...more } });

/** The documented response headers, by name. */
const HEADERS = {
  'Payhook-Request-Id': text('identifies the request; include it in support questions', {
    pattern: '^req_[0-9a-f]{24}$',
  }),
  'X-Request-Id': text('the id that the caller gave the request in this header, if well-formed', {
    pattern: '^[A-Za-z0-9_.:/+=@-]{1,128}$',
  }),
  'Cache-Control': text(
    'the caller may cache the response of a read, but must revalidate it each time; nothing else may be cached',
    {
      enum: ['no-store', 'private, no-cache'],
    },
  ),
  ETag: text('for `If-None-Match`; of a payout it begins with the revision, for `If-Match`', {
    pattern: '^"[^"]+"$',
  }),
  Link: text('RFC 8288: links to the pages `first`, `prev`, `next` and `last`, where they exist'),
  Location: text('the address of the record in the response', { format: 'uri-reference' }),
  'Content-Disposition': text('the name of the file'),
  'Content-Security-Policy': text('of a page: it loads nothing and runs no script'),
  'Idempotent-Replayed': text('`true` if this is the stored response of an earlier request with this key', {
    enum: ['true'],
  }),
  'Retry-After': {
    description: 'seconds to wait before trying again',
    schema: { type: 'integer', minimum: 0 },
  },
  RateLimit: text('for each limit, the remaining requests (`r`) and the seconds until another one (`t`)', {
    examples: ['"key";r=0;t=1'],
  }),
  'RateLimit-Policy': text('for each limit, the requests (`q`) per number of seconds (`w`)', {
    examples: ['"key";q=600;w=60'],
  }),
  'WWW-Authenticate': text('RFC 6750: what is missing'),
  Allow: text('the methods of this path'),
  'Payhook-Dropped-Headers': text(
    'names of the headers whose values were dropped because the URL has a new origin',
  ),
  'Payhook-Schema-Violation': text(
    'how the event violates the schema of its type, which the account only warns about; of a batch, the first violation and the ' +
      'number of others',
  ),
  'Payhook-Skipped-Affiliates': {
    description: 'how many affiliates of the chosen currency the file leaves out',
    schema: { type: 'integer', minimum: 0 },
  },
  'Payhook-Affiliates-Above-Limit': {
    description: "how many payments in all parts of the file exceed the provider's limit for one payment",
    schema: { type: 'integer', minimum: 0 },
  },
  'Payhook-File-Set': text('the file set of the payment file; different content is a different set', {
    pattern: '^pfs_[0-9a-f]{32}$',
  }),
  'Payhook-Replaces-File-Set': text('the file set that was downloaded before this one was created', {
    pattern: '^pfs_[0-9a-f]{32}$',
  }),
  'Payhook-Affiliates-In-Other-Files': {
    description:
      'a warning: how many affiliates of the file are also in another, different payment file of the payout that was downloaded. ' +
      'If both are sent, they are paid twice',
    schema: { type: 'integer', minimum: 0 },
  },
} as const;

export type HeaderName = keyof typeof HEADERS;

/** Headers of every response; the last two if a limit is set. */
export const ALWAYS: readonly HeaderName[] = [
  'Payhook-Request-Id',
  'X-Request-Id',
  'Cache-Control',
  'RateLimit',
  'RateLimit-Policy',
];

/** The headers as components of the description. */
export const HEADER_COMPONENTS: Json = HEADERS;

/** References to headers by name, as the `headers` of a response. */
export const headersOf = (names: readonly HeaderName[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
