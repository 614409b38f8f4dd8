import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { openPlatform, type Platform } from '../../src/app/platform.ts';
import { serve } from '../../src/app/serve.ts';
import type { ConnectionTarget } from '../../src/db/connect.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { measure } from '../../src/metrics/instruments.ts';
import { createKey } from '../../src/people/keys/service.ts';
import { type Api, apiOf } from '../support/api.ts';
import { type LatencyProxy, latencyProxy } from '../support/latency.ts';
import { type Pair, startPair } from '../support/replica.ts';
import { until } from '../support/wire.ts';

/** A server that reads from a replica. */
export interface Server {
  readonly platform: Platform;
  readonly url: string;
  /** How many requests each of the two has answered since the last call. */
  answered(): { primary: number; replica: number };
  /** Waits until the replica is read. */
  untilUsed(): Promise<void>;
  /** Waits until it is excluded for this reason. */
  untilExcluded(reason: RegExp): Promise<void>;
  close(): Promise<void>;
}

/** A primary, its replica and a server on them. */
export interface Replicated extends Server {
  readonly pair: Pair;
  /** Between the servers and the replica. */
  readonly proxy: LatencyProxy;
  /** The first account's client. */
  readonly api: Api;
  /** The key of a new account. */
  otherAccount(): Promise<{ readonly secret: string }>;
  /** Another server on the same two, or with something else as its replica; the caller closes it. */
  secondServer(replica?: ConnectionTarget): Promise<Server>;
  /** Pauses or resumes replay on the replica. */
  replay(does: boolean): Promise<void>;
}

/** Starts them and waits until the replica is read. */
export async function startReplicated(): Promise<Replicated> {
  const folder = mkdtempSync(join(tmpdir(), 'payhook-replica-'));
  const pair = await startPair({ synchronous: false, settings: { fsync: 'off' } });
  const proxy = await latencyProxy(pair.replica.connection, 0);
  const throughProxy = { ...pair.replica.connection, host: '127.0.0.1', port: proxy.port };
  const start = (replica: ConnectionTarget = throughProxy) => startServer(folder, pair, replica);
  const first = await start();
  const { platform } = first;
  await first.untilUsed();
  return {
    ...first,
    pair,
    proxy,
    api: apiOf(first.url, platform.firstKey?.secret ?? ''),
    async otherAccount() {
      const { id } = await platform.accounts.create('Other');
      return platform.db.transaction((tx) => createKey(tx, id, { name: 'key', createdBy: 'test' }));
    },
    secondServer: start,
    replay: (does) => pair.query('replica', `select pg_wal_replay_${does ? 'resume' : 'pause'}()`),
    async close() {
      await first.close();
      await proxy.close();
      await pair.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startServer(folder: string, pair: Pair, replica: ConnectionTarget): Promise<Server> {
  const config = readConfig({
    DATA_DIR: folder,
    SECRET_KEY: 'a secret key for tests, long enough for the rule',
    LOG_LEVEL: 'silent',
  });
  const log = pino({ level: 'silent' });
  const platform = await openPlatform(config, {
    purpose: 'command',
    target: pair.primary.connection,
    replica,
    log,
  });
  const server = await serve(platform, { listen: { host: '127.0.0.1', port: 0 }, keepsHouse: false });
  let counted = { primary: 0, replica: 0 };
  measure(platform.db, {
    observe: () => undefined,
    count(name, by, labels) {
      if (name === 'reads') counted[(labels as unknown as { from: keyof typeof counted }).from] += by;
    },
  });
  const problem = () => platform.db.replica?.state().problem ?? null;
  return {
    platform,
    url: server.address,
    answered() {
      const before = counted;
      counted = { primary: 0, replica: 0 };
      return before;
    },
    untilUsed: async () => void (await until('the replica to be used', () => problem() === null)),
    async untilExcluded(reason) {
      await until(`the replica to be left out: ${reason}`, () => reason.test(problem() ?? ''));
    },
    async close() {
      await server.close();
      await platform.close();
    },
  };
}
