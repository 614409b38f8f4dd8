import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Adapter, type AdapterPayload, Provider } from 'oidc-provider';

/** Awkward on purpose: each must be encoded in its own way. */
const CLIENT = { client_id: 'payhook:7', client_secret: 'a secret+of%20the&client=7/:' };

/** An OAuth 2 server on 127.0.0.1 that issues tokens to one client. */
export interface IdentityProvider {
  /** `client_credentials` of an endpoint. */
  readonly credentials: typeof CLIENT & { readonly token_url: string; readonly scope: string };
  /** The scopes of the tokens issued so far. */
  readonly given: string[];
  /** Whether a header `Authorization` has a live token of this server. */
  isLive(authorization: string | undefined): Promise<boolean>;
  /** Ends the token of a header `Authorization`. */
  revoke(authorization: string): Promise<void>;
  close(): Promise<void>;
}

/** Signs nothing, as the tokens are opaque; the provider requires one. */
const SIGNING_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });

/** The provider's token store: without users or grants, because its client acts for itself. */
function keptInMemory(): () => Adapter {
  const kept = new Map<string, AdapterPayload>();
  return () => ({
    upsert: async (id, payload) => void kept.set(id, payload),
    find: async (id) => kept.get(id),
    destroy: async (id) => void kept.delete(id),
    consume: async () => undefined,
    findByUserCode: async () => undefined,
    findByUid: async () => undefined,
    revokeByGrantId: async () => undefined,
  });
}

/** Starts a server whose tokens live this many seconds, for a client that must authenticate in this one way. */
export async function startIdentityProvider(
  authentication: 'basic' | 'post' = 'basic',
  lifeS = 600,
): Promise<IdentityProvider> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const provider = new Provider(`http://127.0.0.1:${port}`, {
    clients: [
      {
        ...CLIENT,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
        token_endpoint_auth_method: `client_secret_${authentication}`,
        scope: 'events:write',
        id_token_signed_response_alg: 'ES256',
      },
    ],
    adapter: keptInMemory(),
    jwks: { keys: [SIGNING_KEY] },
    scopes: ['events:write'],
    features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
    ttl: { ClientCredentials: lifeS },
    clockTolerance: 0,
  });
  const given: string[] = [];
  provider.on('client_credentials.saved', ({ scope }) => given.push(scope ?? ''));
  server.on('request', provider.callback());
  const find = (authorization = '') => provider.ClientCredentials.find(authorization.replace('Bearer ', ''));
  return {
    credentials: { ...CLIENT, token_url: `http://127.0.0.1:${port}/token`, scope: 'events:write' },
    given,
    isLive: async (authorization) => (await find(authorization)) !== undefined,
    async revoke(authorization) {
      await (await find(authorization))?.destroy();
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
