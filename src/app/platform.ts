import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { accountsIn, type PlacedAccount } from '../cells/accounts.ts';
import { requireAgreement } from '../cells/agreement.ts';
import { type Connecting, type OpenCells, openCells } from '../cells/open.ts';
import { refuseOtherCell } from '../cells/schemas.ts';
import { distributionProblem } from '../db/citus.ts';
import type { ConnectionTarget } from '../db/connect.ts';
import type { Database, Tx } from '../db/database.ts';
import type { EmbeddedDatabase, Purpose } from '../db/embedded/open.ts';
import { isUnavailable } from '../db/faults.ts';
import { requireSession } from '../db/inspect.ts';
import { despiteLocks } from '../db/locks.ts';
import { type MigrationReport, migrate } from '../db/migrate.ts';
import { MigrationError } from '../db/migration-files.ts';
import { makePartitions } from '../db/partitions.ts';
import { noteFirstKey, readSecretKeyState } from '../db/secret-key.ts';
import type { Config } from '../kernel/config.ts';
import type { AccountId } from '../kernel/ids.ts';
import { fingerprintOf, type Vault, vaultOf } from '../kernel/vault.ts';
import { type PastLog, writePast } from '../outbox/past.ts';
import { removeAccount } from '../people/accounts/removal.ts';
import { createFirstAccount } from '../people/accounts/service.ts';
import { markDemo } from '../people/accounts/store.ts';
import { newSetUpLink } from '../people/users/service.ts';
import { addressOf } from './address.ts';
import { openDatabase } from './database.ts';
import { createLog } from './log.ts';
import { exposedSecretKey, heldKeys, makeFolderKey, refusalOfKeys, unfinished } from './secret-keys.ts';

const TRY_AGAIN_MS = 2000;

/** An open database with this program's schema. */
export interface Platform {
  readonly config: Config;
  /** Cell 0. */
  readonly db: Database;
  readonly cells: OpenCells;
  readonly connecting: Connecting;
  /** Throws MigrationError unless the process has the secret keys that a cell was set up with; notes those of a new cell. */
  checkSecretKey(tx: Tx): Promise<void>;
  readonly log: Logger;
  readonly embedded: EmbeddedDatabase | undefined;
  /** Opens what is encrypted at rest. */
  readonly vault: Vault;
  readonly migrations: MigrationReport;
  /** The first key, if this start created it, and the file it was written to. */
  readonly firstKey: { secret: string; path: string } | undefined;
  /** The secret of the link that creates the first owner, if this start created the first account. */
  readonly setUpSecret: string | undefined;
  /** Operations on all accounts: only for the operator at the machine. */
  readonly accounts: {
    /** Those of all cells that can be reached. */
    list(): Promise<PlacedAccount[]>;
    /** Creates an account in a cell; default: the open cell with the fewest. Throws CellError. */
    create(name: string, cell?: number): Promise<{ id: AccountId; cell: number; json: string }>;
    /** The database of an account (UUID). Throws CellError. */
    databaseOf(account: AccountId): Promise<Database>;
    /** Records that the demo fills an account (UUID). */
    markDemo(account: AccountId): Promise<void>;
    /** Writes the log that example data has. */
    writePast(account: AccountId, log: PastLog): Promise<void>;
    /** Deletes an account (UUID) that the demo filled. Returns null, or why nothing was done. */
    remove(account: AccountId): Promise<string | null>;
    /** The address of a page that creates the first owner of an account (UUID), or null if it has users. */
    setUpLink(account: AccountId): Promise<string | null>;
  };
  close(): Promise<void>;
}

export interface PlatformOptions {
  /**
   * How the embedded PostgreSQL is opened: see EmbeddedOptions. Except for a `command`, waits for an external PostgreSQL.
   */
  readonly purpose: Purpose;
  /** The number of this process in a server of several, whose parent owns the embedded PostgreSQL. */
  readonly child?: number | undefined;
  /** Throws NoDataError or MigrationError instead of creating anything. */
  readonly onlyExisting?: boolean;
  /** Accepts any secret key, whatever the database was set up with: for abandoning a lost one. */
  readonly anySecretKey?: boolean;
  /** How long to wait for a cell other than 0 to accept a connection, in milliseconds; default: 10 s. */
  readonly cellPatienceMs?: number;
  readonly log?: Logger;
  /** Replaces the server of the settings, for tests. */
  readonly target?: ConnectionTarget | readonly ConnectionTarget[] | undefined;
  /** The same for DATABASE_LISTEN_URL. */
  readonly direct?: ConnectionTarget | undefined;
  /** The same for DATABASE_REPLICA_URL. */
  readonly replica?: ConnectionTarget | undefined;
}

/**
 * Opens the database (embedded, or DATABASE_URL), migrates it and creates the first account in an empty one. Throws
 * EmbeddedDatabaseError or MigrationError with what to do. The caller closes the platform.
 */
export async function openPlatform(config: Config, options: PlatformOptions): Promise<Platform> {
  const log = options.log ?? createLog(config);
  const { onlyExisting = false } = options;
  // loaded while PostgreSQL starts; `serve` reports a failure
  if (options.purpose === 'serve') import('../http/server.ts').catch(() => undefined);
  const { db, embedded, ...opened } = await openDatabase(config, { ...options, log });
  let cells: OpenCells | undefined;
  const close = async () => {
    await cells?.close();
    await opened.close();
  };
  try {
    // the embedded PostgreSQL just ran: if it has ended, the process that launched it is ending too
    const waits = embedded === undefined && options.purpose !== 'command';
    // long-running processes listen for work
    if (options.purpose !== 'command') await whenReachable(waits, log, () => requireSession(db));
    const { report, first } = await whenReachable(waits, log, () =>
      migrate(
        db,
        async (tx) => {
          await refuseOtherCell(tx);
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
    const warns = options.purpose === 'serve' && (options.child ?? 1) === 1;
    const exposed = warns ? exposedSecretKey(config) : null;
    if (exposed !== null) log.warn(`the secret key: ${exposed}`);
    const checkKey = (tx: Tx) => checkSecretKey(tx, config, log);
    const vault = vaultOf(() => heldKeys(config));
    cells = await openCells({
      first: db,
      vault,
      log,
      connecting: opened.connecting,
      served: options.purpose === 'command' ? null : (config.cells ?? null),
      follows: options.purpose !== 'command',
      patienceMs: options.cellPatienceMs,
      checkSecretKey: options.anySecretKey ? async () => undefined : checkKey,
    });
    if (options.purpose !== 'command') await requireAgreement(cells, log);
    const placed = accountsIn(cells);
    return {
      config,
      db,
      cells,
      connecting: opened.connecting,
      checkSecretKey: checkKey,
      log,
      embedded,
      vault,
      migrations: report,
      firstKey: first?.key,
      setUpSecret: first?.setUpSecret,
      accounts: {
        list: placed.list,
        create: placed.create,
        databaseOf: placed.databaseOf,
        remove: (account) =>
          placed.removeFrom(account, (cell) =>
            despiteLocks(() => cell.transaction((tx) => removeAccount(tx, account), { takesLong: true })),
          ),
        markDemo: async (account) =>
          (await placed.databaseOf(account)).transaction((tx) => markDemo(tx, account)),
        writePast: async (account, log) =>
          (await placed.databaseOf(account)).transaction((tx) => writePast(tx, account, log)),
        async setUpLink(account) {
          const there = await placed.databaseOf(account);
          const secret = await there.transaction((tx) => newSetUpLink(tx, account));
          return secret === null ? null : setUpUrl(config, addressOf(config), secret);
        },
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Does something that needs PostgreSQL. With `waits`, retries while it cannot be reached. */
async function whenReachable<Result>(waits: boolean, log: Logger, work: () => Promise<Result>) {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!waits || !isUnavailable(error)) throw error;
      log.warn({ err: error }, 'PostgreSQL cannot be reached; retrying');
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
  // Written before the commit: a key that nobody has seen would be worse than a file without a key.
  const path = join(config.dataDir, 'first-api-key');
  writePrivate(path, `${first.secret}\n`);
  const setUpSecret = (await newSetUpLink(tx, first.account)) ?? undefined;
  return { key: { secret: first.secret, path }, setUpSecret };
}

/** The page that creates the first owner of an account. `address` is where the server listens. */
export function setUpUrl(config: Config, address: string, secret: string): string {
  return `${config.authorizeUrl ?? config.baseUrl ?? address}/set-up?token=${secret}`;
}

function writePrivate(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 });
  chmodSync(path, 0o600);
}

/**
 * All processes of a database must have the same secret keys: their fingerprints are stored, and other keys are refused.
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
