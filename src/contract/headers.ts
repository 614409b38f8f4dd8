type Json = Record<string, unknown>;

const text = (description: string, more: Json = {}) => ({ description, schema: { type: 'string', ...more } });

/** Every response header that means something to a caller, by its name. */
const HEADERS = {
  'Payhook-Request-Id': text('identifies the request; quote it in questions', {
    pattern: '^req_[0-9a-f]{24}$',
  }),
  'X-Request-Id': text('the id that the caller gave the request in this header, if it is well-formed', {
    pattern: '^[A-Za-z0-9_.:/+=@-]{1,128}$',
  }),
  'Cache-Control': text(
    'the caller may keep the answer of a read, and revalidates it each time; nothing else may be kept',
    {
      enum: ['no-store', 'private, no-cache'],
    },
  ),
  ETag: text('for `If-None-Match`; of a payout it begins with the revision, for `If-Match`', {
    pattern: '^"[^"]+"$',
  }),
  Link: text('RFC 8288: links to the pages `first`, `prev`, `next` and `last`, where they exist'),
  Location: text('the address of the record that the answer is about', { format: 'uri-reference' }),
  'Content-Disposition': text('the name of the file'),
  'Content-Security-Policy': text('of a page: it loads nothing and runs no script'),
  'Idempotent-Replayed': text('`true` when this is the stored answer of an earlier request with this key', {
    enum: ['true'],
  }),
  'Retry-After': {
    description: 'seconds to wait before trying again',
    schema: { type: 'integer', minimum: 0 },
  },
  RateLimit: text('of each limit, the requests left (`r`) and the seconds until there is another one (`t`)', {
    examples: ['"key";r=0;t=1'],
  }),
  'RateLimit-Policy': text('of each limit, the requests (`q`) in so many seconds (`w`)', {
    examples: ['"key";q=600;w=60'],
  }),
  'WWW-Authenticate': text('RFC 6750: what is missing'),
  Allow: text('the methods of this address'),
  'Payhook-Dropped-Headers': text(
    'names of the header values that were dropped because the URL has a new origin',
  ),
  'Payhook-Skipped-Affiliates': {
    description: 'how many affiliates of the chosen currency the file leaves out',
    schema: { type: 'integer', minimum: 0 },
  },
  'Payhook-Affiliates-Above-Limit': {
    description:
      'how many payments in the file, over all its parts, are above what the provider sends at once',
    schema: { type: 'integer', minimum: 0 },
  },
  'Payhook-File-Set': text('the file set that the payment file belongs to; another content is another set', {
    pattern: '^pfs_[0-9a-f]{32}$',
  }),
  'Payhook-Replaces-File-Set': text('the file set that was downloaded before this one was made', {
    pattern: '^pfs_[0-9a-f]{32}$',
  }),
  'Payhook-Affiliates-In-Other-Files': {
    description:
      'a warning: how many affiliates of the file are also in another payment file of the payout that was downloaded and differs. ' +
      'If both are sent, they are paid twice',
    schema: { type: 'integer', minimum: 0 },
  },
} as const;

export type HeaderName = keyof typeof HEADERS;

/** Headers of every answer; the last two where a limit is set. */
export const ALWAYS: readonly HeaderName[] = [
  'Payhook-Request-Id',
  'X-Request-Id',
  'Cache-Control',
  'RateLimit',
  'RateLimit-Policy',
];

/** The headers as components of the description. */
export const HEADER_COMPONENTS: Json = HEADERS;

/** References to headers. In: their names. Out: the `headers` of a response. */
export const headersOf = (names: readonly HeaderName[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
