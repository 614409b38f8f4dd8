import { callsOver } from './calls.ts';
import { resourcesOf } from './resources.ts';
import { type ClientOptions, openTransport } from './transport.ts';

// This file is the entry point of `payhook-client`, so it also exports the types of all records and the errors.
export type * from './api.ts';
export type { BatchOptions, CallResult, ConditionalOptions, KeyedOptions } from './calls.ts';
// biome-ignore lint/performance/noBarrelFile: the entry point of a package
export { type ConsumeOptions, consumeEvents } from './consume.ts';
export type { Download } from './download.ts';
export { ApiError, ConnectionError, InvalidIdError } from './errors.ts';
export type { ListRequest } from './list.ts';
export {
  createOAuth,
  type OAuth,
  type OAuthAuthorization,
  OAuthError,
  type OAuthOptions,
  type OAuthTokens,
} from './oauth.ts';
export type { EventText } from './publish.ts';
export type {
  CallOptions,
  ClientOptions,
  RequestInfo,
  ResponseDetails,
  ResponseInfo,
  WithResponse,
} from './transport.ts';
export type { Upload, UploadSource } from './upload.ts';

/**
 * A typed client of the whole API. Calls throw ApiError or ConnectionError, InvalidIdError for an invalid id, and OAuthError if the
 * access token could not be refreshed.
 */
export interface Client extends ReturnType<typeof resourcesOf> {
  /** Closes the connections; calls in progress fail. */
  close(): Promise<void>;
}

/**
 * Opens a client for the server at a URL or a local unix socket. Nothing is sent before the first call; the caller
 * closes the client. Writes carry an Idempotency-Key, and requests are retried where that is safe (docs/client.md).
 * Throws TypeError if the URL is invalid.
 *
 * @example
 * const payhook = createClient({ url: 'https://payhook.example.com', apiKey });
 * const payout = await payhook.payouts.create({ filters: { currency: 'usd' } });
 */
export function createClient(options: ClientOptions): Client {
  const transport = openTransport(options);
  return { ...resourcesOf(callsOver(transport)), close: transport.close };
}
