import { type AddressRules, refusalOfUrl } from '../../kernel/addresses.ts';
import { fail } from '../../kernel/errors.ts';
import type { ClientCredentials, ClientCredentialsInput } from './record.ts';

// the characters that RFC 6749 allows (appendix A)
const VISIBLE = /^[\x20-\x7e]+$/;
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/**
 * The client credentials of an endpoint after a change. The secret of `before` is kept if none is given and the token
 * endpoint and the client are unchanged; `before` is undefined if the secret must not be kept. Throws
 * `invalid_client_credentials` unless webhooks could be sent to the address of the token endpoint.
 */
export function checkedCredentials(
  input: ClientCredentialsInput,
  before: ClientCredentials | undefined,
  addresses: AddressRules,
): ClientCredentials {
  const { token_url, client_id, scope = null, audience = null, authentication = 'basic' } = input;
  const problem = refusalOfUrl(token_url, addresses);
  if (problem !== null) throw refuse('token_url', `must ${problem}`);
  const isSame = token_url === before?.token_url && client_id === before.client_id;
  const client_secret = input.client_secret ?? (isSame ? before.client_secret : undefined);
  if (client_secret === undefined) {
    throw refuse(
      'client_secret',
      'is required; a change may omit it only while token_url, client_id and the origin of url stay the same',
    );
  }
  for (const [field, value] of Object.entries({ client_id, client_secret, audience })) {
    if (value !== null && !VISIBLE.test(value)) throw refuse(field, 'must be printable ASCII characters');
  }
  if (scope !== null && !SCOPE.test(scope)) {
    throw refuse('scope', 'must be names of ASCII characters, separated by one space each');
  }
  return { token_url, client_id, client_secret, scope, audience, authentication };
}

/** Stored client credentials as shown by the API. */
export function shownCredentials({ client_secret: _, ...shown }: ClientCredentials) {
  return shown;
}

const refuse = (field: string, rule: string) =>
  fail('invalid_client_credentials', `client_credentials.${field} ${rule}`);
