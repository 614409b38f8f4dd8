import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Platform } from '../../app/platform.ts';
import type { Client, ClientOptions } from '../../client/client.ts';
import { type Config, readAccountSetting, readConfig, readRemote } from '../../kernel/config.ts';
import { onInterrupt } from '../terminal/interrupt.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type Account, accountFor } from './current-account.ts';
import { UsageError } from './errors.ts';

/**
 * The settings of a command on this machine; says so when the data folder is that of a server that runs here.
 * Throws ConfigError, and NoDataError when there are several such servers.
 */
export async function readConfigHere(
  terminal: Terminal,
  needs: { needsKey?: boolean } = {},
): Promise<Config> {
  const { settingsHere } = await import('../../app/data-folder.ts');
  const { config, fromServer } = settingsHere(readConfig(undefined, needs));
  if (fromServer) terminal.note(`Working on ${config.dataDir}, the data folder of the server that runs here`);
  return config;
}

/**
 * Opens the database of this machine for a command, quietly, and closes it after `work`. Only a command that
 * `makes` one creates a database; others throw NoDataError or MigrationError. `anySecretKey` accepts any secret
 * key.
 */
export async function withPlatform<Result>(
  terminal: Terminal,
  work: (platform: Platform) => Promise<Result>,
  { makes = false, anySecretKey = false }: { makes?: boolean; anySecretKey?: boolean } = {},
): Promise<Result> {
  refuseRemote();
  const config = await readConfigHere(terminal);
  const { openPlatform } = await import('../../app/platform.ts');
  const log = await quietLog(config, terminal);
  const platform = await openPlatform(config, {
    purpose: 'command',
    onlyExisting: !makes,
    anySecretKey,
    log,
  });
  try {
    return await work(platform);
  } finally {
    await platform.close();
  }
}

/** Throws a UsageError when commands are told to use another server. */
export function refuseRemote(): void {
  if (!readRemote()) return;
  throw new UsageError('this command works on the database itself: unset PAYHOOK_URL to use it here');
}

/** The log of a command: errors alone. With --json standard error carries JSON errors only. */
export async function quietLog(config: Config, { json }: Terminal) {
  const { createLog } = await import('../../app/log.ts');
  return createLog({ ...config, logLevel: json ? 'silent' : 'error' });
}

/** How long a long-running command may keep its client, in milliseconds, before it must release it and ask again. */
type KeepMs = number;

/** What is done with a client; only commands that run until they are stopped look at `keepMs`. */
type Work<Result> = (client: Client, keepMs: KeepMs) => Promise<Result>;

interface SessionOptions {
  readonly terminal: Terminal;
  readonly account: string | undefined;
}

// The owner of the embedded PostgreSQL waits at its end for commands that have joined it.
const KEEP_JOINED_MS = 5_000;

/**
 * Runs `work` with a client of the API: of the server that PAYHOOK_URL names, or else of one inside this process,
 * on a socket nobody else can reach. There is one code path, whether or not a server runs on the same data.
 */
export async function withClient<Result>(options: SessionOptions, work: Work<Result>): Promise<Result> {
  const remote = readRemoteFor(options.account);
  const { terminal } = options;
  if (remote) return useClient(remote, terminal, (client) => work(client, Number.POSITIVE_INFINITY));
  return withPlatform(terminal, async (platform) => {
    const account = accountFor(await platform.accounts.list(), options.account, platform.config.dataDir);
    return withAccount({ platform, terminal, account }, (client) => work(client, keepMsOf(platform)));
  });
}

/** Runs `work` with a client of one account, whose API is served inside this process for the operator. */
export function withAccount<Result>(
  { platform, terminal, account }: { platform: Platform; terminal: Terminal; account: Account },
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  return serveInProcess(platform, account, (target) => useClient(target, terminal, work));
}

/** Where PAYHOOK_URL leads, or null. Throws a UsageError when an account is chosen beside it. */
export function readRemoteFor(account: string | undefined): ReturnType<typeof readRemote> {
  const remote = readRemote();
  if (remote && (account ?? readAccountSetting()) !== undefined) {
    const chosen = account === undefined ? 'PAYHOOK_ACCOUNT' : '--account';
    throw new UsageError(`${chosen} has no effect with PAYHOOK_URL: PAYHOOK_API_KEY decides the account`);
  }
  return remote;
}

/** A PostgreSQL this process launched must stop at once, because no server starts beside it. */
function keepMsOf({ embedded }: Platform): KeepMs {
  if (embedded === undefined) return Number.POSITIVE_INFINITY;
  return embedded.launched ? 0 : KEEP_JOINED_MS;
}

async function useClient<Result>(
  target: ClientOptions,
  { spinner }: Terminal,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const { createClient } = await import('../../client/client.ts');
  const client = createClient({ ...target, userAgent: 'payhook-cli', onRequest: spinner.watch });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

async function serveInProcess<Result>(
  platform: Platform,
  account: Account,
  work: (target: ClientOptions) => Promise<Result>,
): Promise<Result> {
  const { serve } = await import('../../app/serve.ts');
  const folder = mkdtempSync(join(tmpdir(), 'payhook-cli-')); // mode 0700
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const forget = onInterrupt(remove);
  const token = randomBytes(32).toString('base64url');
  const socketPath = join(folder, 'api.sock');
  try {
    const server = await serve(platform, {
      listen: { path: socketPath },
      operator: { token, account: account.uuid },
    });
    try {
      return await work({ socketPath, apiKey: token });
    } finally {
      await server.close();
    }
  } finally {
    forget();
    remove();
  }
}
