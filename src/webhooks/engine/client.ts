import { createRequire } from 'node:module';
import type * as undici from 'undici';

// By their files: the index of undici loads its fetch, WebSocket, caches and mocks too, which take 80 ms of a start and 8 MB.
const load = createRequire(import.meta.url);

/** A connection of undici. */
export const Client = load('undici/lib/dispatcher/client.js') as typeof undici.Client;
export type Client = undici.Client;

/** Makes what connects. */
export const buildConnector = load('undici/lib/core/connect.js') as typeof undici.buildConnector;
