import type { Reader, Tx } from '../../db/database.ts';
import { sealingKey } from '../../db/secret-key.ts';
import type { EndpointId } from '../../kernel/ids.ts';
import { type Json, toJson } from '../../kernel/json.ts';
import { placeOf } from '../../outbox/secrets.ts';
import { note } from '../../people/audit/service.ts';
import { signatureOf } from '../signing/rules.ts';
import { readSigning, shownSecret } from '../signing/schemes.ts';
import { headerProblem } from './headers.ts';
import { publicKeysUrl } from './public-keys.ts';
import type { EndpointSecret } from './record.ts';
import { type Caller, checkSubscription, endpointUuid, missingEndpoint, sealing } from './service.ts';
import { endpointRow, lockEndpoint, replaceSecret } from './store.ts';

type SecretCaller = Pick<Caller, 'account' | 'principal' | 'vault'> & {
  /** The address of the server. */
  readonly base: string;
};

/**
 * The signing secret; of a key pair the public key. Throws `resource_missing`, or `insufficient_scope`: knowing the secret is
 * enough to forge deliveries.
 */
export async function getSecret(db: Reader, caller: SecretCaller, id: string): Promise<Json<EndpointSecret>> {
  const { account, principal, vault } = caller;
  const endpoint = endpointUuid(id);
  const row = await endpointRow(db, account, endpoint);
  if (row === null) throw missingEndpoint();
  checkSubscription(principal, row.event_types);
  const secret = vault.open(row.secret, placeOf(account, endpoint, 'secret'));
  return secretJson(caller, endpoint, { ...row, secret });
}

/** The same, with an entry in the audit log: whoever has the secret can forge deliveries. Throws as `getSecret`. */
export async function showSecret(
  tx: Tx,
  { requestId, ...caller }: SecretCaller & { readonly requestId: string },
  id: string,
): Promise<Json<EndpointSecret>> {
  const secret = await getSecret(tx, caller, id);
  await note(tx, caller.principal, { action: 'getWebhookEndpointSecret', target: id, requestId });
  return secret;
}

/**
 * Generates a new signing secret, or imports one. For `overlapSeconds` the old one signs too, so that receivers can
 * change over without a gap. Where the scheme takes only one signature, the old one signs until then. Throws
 * `resource_missing`, `insufficient_scope`, `invalid_secret`.
 */
export async function rotateSecret(
  tx: Tx,
  caller: SecretCaller,
  id: string,
  { overlapSeconds, secret: given }: { overlapSeconds: number; secret: string | undefined },
): Promise<Json<EndpointSecret>> {
  const { account, principal, vault } = caller;
  const endpoint = endpointUuid(id);
  const row = await lockEndpoint(tx, account, endpoint);
  if (row === null) throw missingEndpoint();
  checkSubscription(principal, row.event_types);
  const { secret } = signatureOf(
    given === undefined ? {} : { secret: given },
    { signing: readSigning(row.signing), secret: null },
    headerProblem,
  );
  const until = await replaceSecret(tx, account, endpoint, {
    secret: sealing({ account, vault }, endpoint, await sealingKey(tx))(secret),
    overlapSeconds,
  });
  return secretJson(caller, endpoint, { signing: row.signing, secret, previous_secret_until: until });
}

interface Shown {
  readonly signing: string | null;
  /** In clear. */
  readonly secret: string;
  readonly previous_secret_until: string | null;
}

function secretJson(
  { account, base }: SecretCaller,
  endpoint: EndpointId,
  { signing: stored, secret, previous_secret_until: until }: Shown,
): Json<EndpointSecret> {
  const signing = readSigning(stored);
  return toJson({
    object: 'webhook_endpoint_secret',
    secret: shownSecret(signing, secret),
    previous_secret_expires_at: until,
    public_keys_url: signing === 'ed25519' ? publicKeysUrl(base, account, endpoint) : null,
  });
}
