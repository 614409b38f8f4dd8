import { type AddressRules, refusalOfUrl } from '../../kernel/addresses.ts';
import { fail } from '../../kernel/errors.ts';
import type { ClientCredentials, ClientCredentialsInput } from './record.ts';

// what RFC 6749 lets them be made of (appendix A)
const VISIBLE = /^[\x20-\x7e]+$/;
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/**
 * The client credentials of an endpoint after a change. The secret of `before` stays when none is given and the token
 * endpoint and the client are the same; `before` is undefined where the secret may not stay. Throws `invalid_client_credentials`
 * unless webhooks might be sent to the address of the token endpoint.
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
      'must be given; a change may leave it out while token_url, client_id and the origin of url stay',
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

/** Stored client credentials, as they may be shown. */
export function shownCredentials({ client_secret: _, ...shown }: ClientCredentials) {
  return shown;
}

const refuse = (field: string, rule: string) =>
  fail('invalid_client_credentials', `client_credentials.${field} ${rule}`);
