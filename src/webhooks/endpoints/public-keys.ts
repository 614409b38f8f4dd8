import type { Reader } from '../../db/database.ts';
import { type AccountId, type EndpointId, idOf, uuidOf } from '../../kernel/ids.ts';
import type { AccountVault } from '../../kernel/vault.ts';
import { placeOf } from '../../outbox/secrets.ts';
import { type PublicJwk, publicJwkOf, publicKeyOf } from '../signing/ed25519.ts';
import { readSigning } from '../signing/schemes.ts';
import { endpointRow } from './store.ts';

/** The path under which the public keys of all endpoints are. */
export const PUBLIC_KEYS_PATH = '/webhook-keys';

/** Where anyone can read the public keys of an endpoint. `base`: the address of the server. */
export const publicKeysUrl = (base: string, account: AccountId, endpoint: EndpointId): string =>
  `${base}${PUBLIC_KEYS_PATH}/${idOf('acc', account)}/${idOf('we', endpoint)}`;

/** The account and the endpoint that such a path names; null if it names none. */
export function namedIn(path: string): { account: AccountId; endpoint: EndpointId } | null {
  const [account, endpoint, ...more] = path.slice(PUBLIC_KEYS_PATH.length + 1).split('/');
  const [ofAccount, ofEndpoint] = [uuidOf('acc', account ?? ''), uuidOf('we', endpoint ?? '')];
  return ofAccount === null || ofEndpoint === null || more.length > 0
    ? null
    : { account: ofAccount, endpoint: ofEndpoint };
}

/** A public key: a JSON Web Key (RFC 7517), and its text of Standard Webhooks. */
interface PublicKey extends PublicJwk {
  readonly use: 'sig';
  readonly alg: 'EdDSA';
  readonly public_key: string;
}

/** The public keys that verify the signatures of an endpoint now: the current one first. Empty if it has none. */
export async function publicKeysOf(
  db: Reader,
  { account, vault }: AccountVault,
  endpoint: EndpointId,
): Promise<PublicKey[]> {
  const row = await endpointRow(db, account, endpoint);
  if (row === null) return [];
  const previous = row.previous_secret_until === null ? null : row.previous_secret;
  const signatures = [
    { signing: row.signing, sealed: row.secret },
    { signing: row.previous_signing, sealed: previous },
  ];
  return signatures.flatMap(({ signing, sealed }) => {
    if (sealed === null || readSigning(signing) !== 'ed25519') return [];
    const secret = vault.open(sealed, placeOf(account, endpoint, 'secret'));
    return [{ ...publicJwkOf(secret), use: 'sig', alg: 'EdDSA', public_key: publicKeyOf(secret) }];
  });
}
