import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { keepHouse } from '../db/chores.ts';
import { distributionProblem } from '../db/citus.ts';
import type { ConnectionTarget, Database, Tx } from '../db/connect.ts';
import type { EmbeddedDatabase, Purpose } from '../db/embedded/open.ts';
import { isUnavailable } from '../db/faults.ts';
import { requireSession } from '../db/inspect.ts';
import { despiteLocks } from '../db/locks.ts';
import { type MigrationReport, migrate } from '../db/migrate.ts';
import { MigrationError } from '../db/migration-files.ts';
import { makePartitions } from '../db/partitions.ts';
import { noteFirstKey, readSecretKeyState } from '../db/secret-key.ts';
import type { OperatorCredential } from '../http/auth.ts';
import { connectionsFor } from '../http/capacity.ts';
import { addressRules, LOOPBACK } from '../kernel/addresses.ts';
import type { Config } from '../kernel/config.ts';
import type { AccountId } from '../kernel/ids.ts';
import { programPath } from '../kernel/installation.ts';
import { fingerprintOf, type Vault, vaultOf } from '../kernel/vault.ts';
import { instrumentsOf } from '../metrics/instruments.ts';
import { removeAccount } from '../people/accounts/removal.ts';
import {
  createAccount,
  createFirstAccount,
  type ListedAccount,
  listAccounts,
} from '../people/accounts/service.ts';
import { markDemo } from '../people/accounts/store.ts';
import { newSetUpLink } from '../people/users/service.ts';
import { createThreads } from '../threads/pool.ts';
import { disableEndpoint } from '../webhooks/endpoints/service.ts';
import { createNotifier } from '../webhooks/engine/wake.ts';
import { createWorker, type Worker, type WorkerOptions } from '../webhooks/engine/worker.ts';
import { plainAddress } from './address.ts';
import { roomOf } from './checks.ts';
import { tellOfFailingChore } from './chore-alerts.ts';
import { choresOf } from './chores.ts';
import { openDatabase } from './database.ts';
import { createLog } from './log.ts';
import { readinessOf } from './readiness.ts';
import { exposedSecretKey, heldKeys, makeFolderKey, refusalOfKeys, unfinished } from './secret-keys.ts';
import { startTelemetry, type Telemetry } from './telemetry.ts';

const FIRST_HOUSEKEEPING_MS = 60_000;
const DRAIN_MS = 15_000;
const TRY_AGAIN_MS = 2000;
const IDLE_CHECK_MS = 50;

/** A database opened and brought to this program's schema. */
export interface Platform {
  readonly config: Config;
  readonly db: Database;
  readonly log: Logger;
  readonly embedded: EmbeddedDatabase | undefined;
  /** Opens what is encrypted at rest. */
  readonly vault: Vault;
  readonly migrations: MigrationReport;
  /** The very first key, when this start made it, and the file it was written to. */
  readonly firstKey: { secret: string; path: string } | undefined;
  /** The secret of a link that makes the first owner, when this start made the first account. */
  readonly setUpSecret: string | undefined;
  /** Accounts cross tenants: for the operator at the machine only. */
  readonly accounts: {
    list(): Promise<ListedAccount[]>;
    create(name: string): Promise<{ id: AccountId; json: string }>;
    /** Notes that the demo fills an account (UUID). */
    markDemo(account: AccountId): Promise<void>;
    /** Deletes an account (UUID) that the demo filled, whole; returns null, or why nothing was done. */
    remove(account: AccountId): Promise<string | null>;
    /** The address of a page that makes the first owner of an account (UUID); null when it has users. */
    setUpLink(account: AccountId): Promise<string | null>;
  };
  close(): Promise<void>;
}

export interface PlatformOptions {
  /** How the embedded PostgreSQL is opened: see EmbeddedOptions. One of your own is waited for, but not by a `command`. */
  readonly purpose: Purpose;
  /** Refuses with NoDataError or MigrationError to make anything anew. */
  readonly onlyExisting?: boolean;
  /** Accept any secret key, whatever the database was set up with: for giving up a lost one. */
  readonly anySecretKey?: boolean;
  readonly log?: Logger;
  /** Another server than the settings name: tests use it. */
  readonly target?: ConnectionTarget | readonly ConnectionTarget[] | undefined;
  /** The same for DATABASE_LISTEN_URL. */
  readonly direct?: ConnectionTarget | undefined;
  /** The same for DATABASE_REPLICA_URL. */
  readonly replica?: ConnectionTarget | undefined;
}

/** Not loaded by what does not serve: Fastify, all routes and the pages are a third of the program. */
const loadServer = () => import('../http/server.ts');

/**
 * Opens the database (embedded, or DATABASE_URL), migrates it and makes the first account on an empty one. Throws
 * EmbeddedDatabaseError or MigrationError with what to do. The caller closes the platform.
 */
export async function openPlatform(config: Config, options: PlatformOptions): Promise<Platform> {
  const log = options.log ?? createLog(config);
  const { onlyExisting = false } = options;
  // while PostgreSQL starts; who serves waits for it, and is told when it cannot be loaded
  if (options.purpose === 'serve') loadServer().catch(() => undefined);
  const { db, embedded, close } = await openDatabase(config, { ...options, log });
  try {
    // our own PostgreSQL was running a moment ago: if it has ended, so does the process that launched it
    const waits = embedded === undefined && options.purpose !== 'command';
    // what runs on listens for work
    if (options.purpose !== 'command') await whenReachable(waits, log, () => requireSession(db));
    const { report, first } = await whenReachable(waits, log, () =>
      migrate(
        db,
        async (tx) => {
          await makePartitions(tx);
          if (!options.anySecretKey) await checkSecretKey(tx, config, log);
          return firstRun(tx, config);
        },
        { onlyExisting },
      ),
    );
    if (options.purpose !== 'command') {
      const problem = await whenReachable(waits, log, () => distributionProblem(db.reader));
      if (problem !== null) log.warn(problem);
    }
    const exposed = options.purpose === 'serve' ? exposedSecretKey(config) : null;
    if (exposed !== null) log.warn(`the secret key: ${exposed}`);
    return {
      config,
      db,
      log,
      embedded,
      vault: vaultOf(() => heldKeys(config)),
      migrations: report,
      firstKey: first?.key,
      setUpSecret: first?.setUpSecret,
      accounts: {
        list: () => listAccounts(db.reader),
        create: (name) => db.transaction((tx) => createAccount(tx, name)),
        markDemo: (account) => db.transaction((tx) => markDemo(tx, account)),
        remove: (account) =>
          despiteLocks(() => db.transaction((tx) => removeAccount(tx, account), { takesLong: true })),
        async setUpLink(account) {
          const secret = await db.transaction((tx) => newSetUpLink(tx, account));
          return secret === null ? null : setUpUrl(config, plainAddress(config), secret);
        },
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Does something that needs PostgreSQL. If `waits`, tries again while it cannot be reached. */
async function whenReachable<Result>(waits: boolean, log: Logger, work: () => Promise<Result>) {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!waits || !isUnavailable(error)) throw error;
      log.warn({ err: error }, 'PostgreSQL cannot be reached; it will be tried again');
      await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
    }
  }
}

interface FirstRun {
  readonly key: { readonly secret: string; readonly path: string };
  readonly setUpSecret: string | undefined;
}

async function firstRun(tx: Tx, config: Config): Promise<FirstRun | undefined> {
  const first = await createFirstAccount(tx);
  if (first === null) return undefined;
  // Written before the commit: a key that nobody was told would be worse than a file without a key.
  const path = join(config.dataDir, 'first-api-key');
  writePrivate(path, `${first.secret}\n`);
  const setUpSecret = (await newSetUpLink(tx, first.account)) ?? undefined;
  return { key: { secret: first.secret, path }, setUpSecret };
}

/** Where the first owner of an account is made; `address` is where the server listens. */
export function setUpUrl(config: Config, address: string, secret: string): string {
  return `${config.authorizeUrl ?? config.baseUrl ?? address}/set-up?token=${secret}`;
}

function writePrivate(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 });
  chmodSync(path, 0o600);
}

/**
 * Every process on one database has the same secret keys: their fingerprints are stored, and other keys are
 * refused.
 */
async function checkSecretKey(tx: Tx, config: Config, log: Logger): Promise<void> {
  const state = await readSecretKeyState(tx);
  if (state.current === null) {
    const [key] = heldKeys(config);
    await noteFirstKey(tx, fingerprintOf(key ?? makeFolderKey(config)));
    return;
  }
  const refusal = refusalOfKeys(config, state);
  if (refusal !== null) throw new MigrationError(refusal);
  const toDo = unfinished(config, state);
  if (toDo !== null) log.warn(`the secret key: ${toDo}`);
}

/** A server that answers. */
export interface RunningServer {
  /** Where it listens, for example http://127.0.0.1:8080. */
  readonly address: string;
  /** Where its metrics are, for example http://127.0.0.1:9090/metrics; null = nowhere. */
  readonly metricsAddress: string | null;
  /** From now on `/readyz` says that the server is stopping; requests are still served. */
  turnAway(): void;
  /** Stops accepting, answers the requests in progress (15 s at most), then stops. */
  close(): Promise<void>;
}

/** Serves the platform over HTTP, on a port or on a unix socket. Closing it leaves the platform open. */
export async function serve(
  platform: Platform,
  options: {
    listen: { host: string; port: number } | { path: string };
    operator?: OperatorCredential;
    /** Also delivers what is due. */
    delivers?: boolean;
    /** Does the chores of the database; true by default, and false only in servers that are examined closely. */
    keepsHouse?: boolean;
  },
): Promise<RunningServer> {
  const { config, db, log } = platform;
  let address = '';
  const isPublic = 'port' in options.listen;
  const readiness = readinessOf(platform);
  const { createServer } = await loadServer();
  const threads = createThreads({
    program: programPath('app/thread'),
    files: config.http.uploads,
    onTask: (task, outcome) => instrumentsOf(db)?.count('threadTasks', 1, { task, outcome }),
    onEnded: (task, why) => log.warn({ task, why }, 'a thread was ended'),
  });
  const server = createServer({
    db,
    log,
    threads,
    baseUrl: () => config.baseUrl ?? address,
    authorizeUrl: () => config.authorizeUrl ?? config.baseUrl ?? address,
    vault: platform.vault,
    trustedProxies: config.trustedProxies,
    addresses: addressRules(config.delivery.allowedNetworks),
    limits: {
      ...config.http,
      connections: connectionsFor(config, { isPublic, delivers: options.delivers ?? false, log }),
    },
    readiness: () => readiness.problem(),
    isStopping: () => readiness.isStopping(),
    disk: async () => (platform.embedded ? roomOf(config.dataDir) : null),
    ...(options.operator ? { operator: options.operator } : {}),
  });
  const telemetry = isPublic ? await startTelemetry(platform) : undefined;
  const listening = await listenOr(server, options.listen, telemetry);
  // a socket has no URL, and Link headers and links for people need one
  address = 'path' in options.listen ? plainAddress(config) : listening;
  const stopNotifying = createNotifier(db);
  const worker = options.delivers ? createWorker(workerOptions(platform)) : undefined;
  const chores = (options.keepsHouse ?? true) ? choresOf(platform) : [];
  const stopKeeping = keepHouse(chores, housekeeping(platform));
  return {
    address,
    metricsAddress: telemetry?.metricsAddress ?? null,
    turnAway: () => readiness.stop(),
    async close() {
      readiness.stop();
      stopKeeping();
      await Promise.all([drain(server), worker?.close()]);
      await threads.close();
      await stopNotifying();
      await telemetry?.close();
    },
  };
}

/** Delivers what is due until it is closed, without a server. */
export function work(platform: Platform): Pick<Worker, 'close'> {
  const worker = createWorker(workerOptions(platform));
  const stopKeeping = keepHouse(choresOf(platform), housekeeping(platform));
  return {
    close() {
      stopKeeping();
      return worker.close();
    },
  };
}

const housekeeping = ({ db, log }: Platform) => ({
  db,
  log,
  firstMs: FIRST_HOUSEKEEPING_MS,
  tell: tellOfFailingChore,
});

/** Listens; the telemetry of the process ends when that fails. */
async function listenOr(
  server: FastifyInstance,
  where: { host: string; port: number } | { path: string },
  telemetry: Telemetry | undefined,
): Promise<string> {
  try {
    return await server.listen(where);
  } catch (error) {
    await telemetry?.close();
    throw error;
  }
}

function workerOptions({ config, db, log, vault }: Platform): WorkerOptions {
  const { allowedNetworks } = config.delivery;
  return {
    db,
    log,
    vault,
    addresses: addressRules(allowedNetworks),
    localAddresses: addressRules([...allowedNetworks, ...LOOPBACK]),
    config: config.delivery,
    disableEndpoint,
  };
}

async function drain(server: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => server.server.closeAllConnections(), DRAIN_MS);
  // Nobody waits for a kept-alive connection whose last response is out.
  const idle = setInterval(() => server.server.closeIdleConnections(), IDLE_CHECK_MS);
  await server.close();
  clearInterval(idle);
  clearTimeout(cut);
}
