import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import { type ConnectionTarget, connect, type Database, type Tx } from './db/connect.ts';
import { type EmbeddedDatabase, openEmbedded } from './db/embedded/open.ts';
import { type DatabaseFacts, inspect } from './db/inspect.ts';
import { MigrationError, type MigrationReport, migrate } from './db/migrate.ts';
import { makePartitions } from './db/partitions.ts';
import { readSetting, writeSetting } from './db/settings.ts';
import { foldCounts } from './delivery/counts.ts';
import { dropOldWeeks } from './delivery/retention.ts';
import { createNotifier } from './delivery/wake.ts';
import { createWorker, type Worker, type WorkerOptions } from './delivery/worker.ts';
import { createAccount, createFirstAccount, listAccounts } from './features/accounts/service.ts';
import { foldArrivals } from './features/commissions/arrivals.ts';
import { forgetOldSessions } from './features/sessions/service.ts';
import { forgetOldAttempts } from './features/users/attempts.ts';
import { newSetUpLink } from './features/users/service.ts';
import { disableEndpoint } from './features/webhook-endpoints/service.ts';
import type { OperatorCredential } from './http/auth.ts';
import { forgetOldReplies } from './http/idempotency.ts';
import { createServer } from './http/server.ts';
import { addressRules, LOOPBACK } from './kernel/addresses.ts';
import type { Config } from './kernel/config.ts';
import { type Vault, vaultOf } from './kernel/vault.ts';
import { forgetExpired } from './oauth/service.ts';

const HOUSEKEEPING_MS = 3_600_000;
const FIRST_HOUSEKEEPING_MS = 60_000;
const FOLDING_MS = 2000;
const DRAIN_MS = 15_000;
const IDLE_CHECK_MS = 50;

export type { DatabaseFacts } from './db/inspect.ts';

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
    list(): Promise<{ id: string; uuid: string; name: string }[]>;
    create(name: string): Promise<{ id: string; json: string }>;
    /** The address of a page that makes the first owner of an account (UUID); null when it has users. */
    setUpLink(account: string): Promise<string | null>;
  };
  close(): Promise<void>;
}

export interface PlatformOptions {
  /** `serve` owns the embedded PostgreSQL; a `command` joins a running one. */
  readonly purpose: 'serve' | 'command';
  readonly log?: Logger;
  /** Another server than the settings name: tests use it. */
  readonly target?: ConnectionTarget;
}

// Errors of libraries carry what they hold, connections and their parameters too: none of that belongs in a log.
function plainError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error ? { code: String(error.code) } : {};
  return { type: error.name, message: error.message, ...code, stack: error.stack };
}

/** A JSON log on standard error: standard output belongs to people and to --json. */
export function createLog(config: Config): Logger {
  return pino(
    {
      level: config.logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: plainError },
    },
    pino.destination(2),
  );
}

/**
 * Opens the database (embedded, or DATABASE_URL), migrates it and makes the first account on an empty one. Throws
 * EmbeddedDatabaseError or MigrationError with what to do. The caller closes the platform.
 */
export async function openPlatform(config: Config, options: PlatformOptions): Promise<Platform> {
  const log = options.log ?? createLog(config);
  makeFolder(config.dataDir);
  const embedded =
    options.target || config.databaseUrl
      ? undefined
      : await openEmbedded({
          dataDir: config.dataDir,
          purpose: options.purpose,
          log: (level, message, details) => log[level](details ?? {}, message),
        });
  const target = options.target ?? embedded?.connection ?? { connectionString: config.databaseUrl ?? '' };
  const db = connect({
    target,
    poolSize: config.databasePoolSize,
    onIdleError: (error) => log.warn({ err: error }, 'an idle database connection was lost'),
  });
  const close = async () => {
    await db.close();
    await embedded?.close();
  };
  try {
    const { report, first } = await migrate(db, (tx) => firstRun(tx, config));
    const secretKey = existingSecretKey(config);
    if (secretKey === null) throw new MigrationError('the secret key went missing during the start');
    return {
      config,
      db,
      log,
      embedded,
      vault: vaultOf(secretKey),
      migrations: report,
      firstKey: first?.key,
      setUpSecret: first?.setUpSecret,
      accounts: {
        list: () => listAccounts(db.reader),
        create: (name) => db.transaction((tx) => createAccount(tx, name)),
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

// Node's recursive mkdir never ends where a folder cannot be made and does not say so (below /proc, for one).
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  if (!existsSync(dirname(path))) makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

interface FirstRun {
  readonly key: { readonly secret: string; readonly path: string };
  readonly setUpSecret: string | undefined;
}

async function firstRun(tx: Tx, config: Config): Promise<FirstRun | undefined> {
  await makePartitions(tx);
  await checkSecretKey(tx, config);
  const first = await createFirstAccount(tx);
  if (first === null) return undefined;
  // Written before the commit: a key that was never told to anybody would be worse than a file without a key.
  const path = join(config.dataDir, 'first-api-key');
  writePrivate(path, `${first.secret}\n`);
  const setUpSecret = (await newSetUpLink(tx, first.account)) ?? undefined;
  return { key: { secret: first.secret, path }, setUpSecret };
}

/** Where the first owner of an account is made; `address` is where the server listens. */
export function setUpUrl(config: Config, address: string, secret: string): string {
  return `${config.authorizeUrl ?? config.baseUrl ?? address}/set-up?token=${secret}`;
}

/** Where a server with these settings is found. */
export const addressOf = (config: Config): string => config.baseUrl ?? plainAddress(config);

/** The same from this machine. */
function plainAddress({ host, port }: Config): string {
  const isAny = host === '0.0.0.0' || host === '::';
  const name = isAny ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return port === 0 ? `http://${name}` : `http://${name}:${port}`;
}

function writePrivate(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 });
  chmodSync(path, 0o600);
}

/** Every server on one database has the same secret key: its fingerprint is stored and another one is refused. */
async function checkSecretKey(tx: Tx, config: Config): Promise<void> {
  const stored = await readSetting(tx, 'secret_key_fingerprint');
  const secretKey = existingSecretKey(config);
  if (stored === null) {
    await writeSetting(tx, 'secret_key_fingerprint', fingerprintOf(secretKey ?? makeSecretKey(config)));
  } else if (secretKey === null) {
    throw new MigrationError(
      `the file ${secretKeyPath(config)} is missing: put it back from your backup, or set SECRET_KEY to what it held`,
    );
  } else if (stored !== fingerprintOf(secretKey)) {
    throw new MigrationError(
      'SECRET_KEY is not the one this database was set up with: set the same key on every server and command',
    );
  }
}

function fingerprintOf(secretKey: string): string {
  return createHash('sha256').update(`payhook secret key ${secretKey}`).digest('hex');
}

function makeSecretKey(config: Config): string {
  const made = randomBytes(32).toString('base64');
  writePrivate(secretKeyPath(config), `${made}\n`);
  return made;
}

const secretKeyPath = (config: Config) => join(config.dataDir, 'secret-key');

function existingSecretKey(config: Config): string | null {
  if (config.secretKey !== undefined) return config.secretKey;
  try {
    return readFileSync(secretKeyPath(config), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return null;
}

/** The fingerprint of the secret key in force, or null before one was made. */
export function secretKeyFingerprint(config: Config): string | null {
  const secretKey = existingSecretKey(config);
  return secretKey === null ? null : fingerprintOf(secretKey);
}

/** Looks at the database without migrating it; null when the embedded one was never made. Throws as `openPlatform`. */
export async function inspectDatabase(config: Config): Promise<DatabaseFacts | null> {
  const { databaseUrl, dataDir } = config;
  if (databaseUrl === undefined && !existsSync(join(dataDir, 'postgres', 'PG_VERSION'))) return null;
  const embedded =
    databaseUrl === undefined ? await openEmbedded({ dataDir, purpose: 'command' }) : undefined;
  const target = embedded?.connection ?? { connectionString: databaseUrl ?? '' };
  const db = connect({ target, poolSize: 1, onIdleError: () => undefined });
  try {
    return await inspect(db.reader);
  } finally {
    await db.close();
    await embedded?.close();
  }
}

/** A server that answers. */
export interface RunningServer {
  /** Where it listens, for example http://127.0.0.1:8080. */
  readonly address: string;
  /** Stops accepting, answers what is under way (15 s at most), then stops. */
  close(): Promise<void>;
}

/** Serves the platform over HTTP, on a port or on a unix socket. Closing it leaves the platform open. */
export async function serve(
  platform: Platform,
  options: {
    listen: { host: string; port: number } | { path: string };
    operator?: OperatorCredential;
    /** Delivers what is due too. */
    delivers?: boolean;
  },
): Promise<RunningServer> {
  const { config, db, log } = platform;
  let address = '';
  const server = createServer({
    db,
    log,
    baseUrl: () => config.baseUrl ?? address,
    authorizeUrl: () => config.authorizeUrl ?? config.baseUrl ?? address,
    vault: platform.vault,
    trustedProxies: config.trustedProxies,
    addresses: addressRules(config.delivery.allowedNetworks),
    ...(options.operator ? { operator: options.operator } : {}),
  });
  const listening = await server.listen(options.listen);
  // a socket has no URL, and Link headers and links for people need one
  address = 'path' in options.listen ? plainAddress(config) : listening;
  const stopNotifying = createNotifier(db);
  const worker = options.delivers ? createWorker(workerOptions(platform)) : undefined;
  const stopKeeping = keepHouse(platform);
  return {
    address,
    async close() {
      stopKeeping();
      await Promise.all([drain(server), worker?.close()]);
      await stopNotifying();
    },
  };
}

/** Delivers what is due until it is closed, without a server. */
export function work(platform: Platform): Pick<Worker, 'close'> {
  const worker = createWorker(workerOptions(platform));
  const stopKeeping = keepHouse(platform);
  return {
    close() {
      stopKeeping();
      return worker.close();
    },
  };
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

/** What any process may do, and one of them must, now and then. Returns what ends it. */
function keepHouse({ config, db, log }: Platform): () => void {
  const { retentionDays: days } = config.delivery;
  const stopFolding = again(FOLDING_MS, FOLDING_MS, () => foldCounts(db), log);
  const stopKeeping = again(
    FIRST_HOUSEKEEPING_MS,
    HOUSEKEEPING_MS,
    async () => {
      await Promise.all([
        forgetOldReplies(db),
        foldArrivals(db),
        forgetOldAttempts(db),
        forgetOldSessions(db),
        forgetExpired(db),
        db.transaction((tx) => makePartitions(tx)),
      ]);
      await dropOldWeeks({ db, log, days });
    },
    log,
  );
  return () => {
    stopFolding();
    stopKeeping();
  };
}

/** Does something after a while, and a while after it has ended again, whatever came of it. Returns what ends it. */
function again(firstMs: number, pauseMs: number, work: () => Promise<unknown>, log: Logger): () => void {
  let timer = setTimeout(run, firstMs).unref();
  let ended = false;
  function run(): void {
    work()
      .catch((error: unknown) => {
        if (!ended) log.warn({ err: error }, 'housekeeping failed; it is tried again');
      })
      .finally(() => {
        if (!ended) timer = setTimeout(run, pauseMs).unref();
      });
  }
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

async function drain(server: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => server.server.closeAllConnections(), DRAIN_MS);
  // A kept-alive connection whose last answer is out is waited for by nobody.
  const idle = setInterval(() => server.server.closeIdleConnections(), IDLE_CHECK_MS);
  await server.close();
  clearInterval(idle);
  clearTimeout(cut);
}
