import { callsOver } from './calls.ts';
import { resourcesOf } from './resources.ts';
import { type ClientOptions, openTransport } from './transport.ts';

// This file is what `payhook/client` gives: the types of every record, and the errors, come with it.
export type * from './api.ts';
export type { ConditionalOptions, KeyedOptions } from './calls.ts';
export type { Download } from './download.ts';
// biome-ignore lint/performance/noBarrelFile: a package has one door
export { ApiError, ConnectionError, InvalidIdError } from './errors.ts';
export type { ListRequest } from './list.ts';
export type { BatchOptions, EventText } from './resources.ts';
export type { CallOptions, ClientOptions } from './transport.ts';
export type { Upload, UploadSource } from './upload.ts';

/** A typed client of the whole API. Its functions throw ApiError or ConnectionError; InvalidIdError for an id that is none. */
export interface Client extends ReturnType<typeof resourcesOf> {
  /** Cuts the connections; calls under way fail. */
  close(): Promise<void>;
}

/**
 * Opens a client of the server at a URL, or behind a unix socket of its machine. Nothing is sent before the first call;
 * the caller closes it. Writes carry an Idempotency-Key, and what is safe to repeat is repeated (docs/client.md).
 * Throws TypeError when the URL is none.
 *
 * @example
 * const payhook = createClient({ url: 'https://payhook.example.com', apiKey });
 * const payout = await payhook.payouts.create({ filters: { currency: 'usd' } });
 */
export function createClient(options: ClientOptions): Client {
  const transport = openTransport(options);
  return { ...resourcesOf(callsOver(transport)), close: transport.close };
}
