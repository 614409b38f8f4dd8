import { SIGNING_SCHEMES } from '../../src/client/fields.ts';

type KnownScheme = keyof typeof SIGNING_SCHEMES;
const known = Object.entries(SIGNING_SCHEMES);

/** The texts about how requests to an endpoint are signed. */
export const signing = {
  change: 'Change how it signs',
  action: 'Change it',
  changed: 'Signature changed',
  scheme: 'Signed as',
  schemes: {
    ...(Object.fromEntries(known.map(([name, { label }]) => [name, label])) as Record<KnownScheme, string>),
    custom: 'Custom',
  },
  hints: {
    ...(Object.fromEntries(
      known.map(([name, { header, content }]) => [name, `${header}, over ${content}.`]),
    ) as Record<KnownScheme, string>),
    ed25519: 'The receiver verifies with a public key, so it holds nothing secret.',
    custom: 'An HMAC in a header of your choice.',
  },
  secret: 'Secret the receiver already has',
  secretHint: 'If you leave it empty, the current one stays, or a new one is created and shown.',
  overlap: 'How long the current signature is also sent',
  overlapHint: 'Switch the receiver over in that time.',
  overlaps: {
    '0': 'Not at all',
    '3600': 'One hour',
    '86400': 'One day',
    '604800': 'One week',
    '2592000': '30 days',
  },
  header: 'Header',
  content: 'What is signed',
  contentHint: '{body} exactly once; {id}, {timestamp} and {url} where needed.',
  value: 'Value of the header',
  valueHint: '{signature} exactly once; {id} and {timestamp} where needed.',
  headers: 'Other signature headers',
  headersHint: 'Headers that the receiver reads to verify, such as a separate timestamp.',
  furtherName: 'Name of the header',
  furtherValue: 'Its value: {timestamp} or {id}',
  addHeader: 'Add a signature header',
  removeHeader: (name: string) => (name === '' ? 'Remove the header' : `Remove ${name}`),
  encoding: 'Encoding',
  algorithm: 'Algorithm',
  prefix: 'Prefix of new secrets',
};
