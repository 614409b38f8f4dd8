import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type * as undici from 'undici';

// Loaded by file: undici's index also loads its fetch, WebSocket, caches and mocks, which take 80 ms of a start and 8 MB.
const load = createRequire(import.meta.url);

/** A connection of undici. */
export const Client = load('undici/lib/dispatcher/client.js') as typeof undici.Client;
export type Client = undici.Client;

/** Creates a connector. */
export const buildConnector = load('undici/lib/core/connect.js') as typeof undici.buildConnector;

/** Receives each socket as soon as it exists, connected or not, so that it can be destroyed. */
export type Adopt = (socket: Socket) => void;

/** Connects to a target. */
export type Dial = (
  target: undici.buildConnector.Options,
  done: undici.buildConnector.Callback,
  adopt: Adopt,
) => void;
