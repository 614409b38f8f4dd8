import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Platform } from '../../app/platform.ts';
import type { Client, ClientOptions } from '../../client/client.ts';
import { type Config, readAccountSetting, readConfig, readRemote } from '../../kernel/config.ts';
import { onInterrupt } from '../terminal/interrupt.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Cli } from './cli.ts';
import { type Account, accountFor } from './current-account.ts';
import { UsageError } from './errors.ts';

/**
 * The settings of a command on this machine. Prints a note if the data folder was found from a running server. Throws
 * ConfigError, and NoDataError if several servers are running.
 */
export async function readConfigHere(
  terminal: Terminal,
  needs: { needsKey?: boolean } = {},
): Promise<Config> {
  const { settingsHere } = await import('../../app/data-folder.ts');
  const { config, fromServer } = settingsHere(readConfig(undefined, needs));
  if (fromServer) terminal.note(`Using ${config.dataDir}, the data folder of the running server`);
  return config;
}

/**
 * Opens the database of this machine for a command, without log output, and closes it after `work`. Only with `makes` is
 * a missing database created; otherwise throws NoDataError or MigrationError. `anySecretKey` accepts any secret key.
 */
export async function withPlatform<Result>(
  terminal: Terminal,
  work: (platform: Platform) => Promise<Result>,
  { makes = false, anySecretKey = false }: { makes?: boolean; anySecretKey?: boolean } = {},
): Promise<Result> {
  refuseRemote();
  const config = await readConfigHere(terminal);
  const { openPlatform } = await import('../../app/platform.ts');
  const { COMMAND_PATIENCE_MS } = await import('../../cells/open.ts');
  const log = await quietLog(config, terminal);
  const platform = await openPlatform(config, {
    purpose: 'command',
    onlyExisting: !makes,
    anySecretKey,
    cellPatienceMs: COMMAND_PATIENCE_MS,
    log,
  });
  try {
    return await work(platform);
  } finally {
    await platform.close();
  }
}

/** Throws a UsageError if PAYHOOK_URL names another server. */
export function refuseRemote(): void {
  if (!readRemote()) return;
  throw new UsageError('this command works on the database itself: unset PAYHOOK_URL to use it here');
}

/** The log of a command: only errors. With --json, standard error has only JSON errors. */
export async function quietLog(config: Config, { json }: Terminal) {
  const { createLog } = await import('../../app/log.ts');
  return createLog({ ...config, logLevel: json ? 'silent' : 'error' });
}

/** How long a long-running command may keep its client, in milliseconds, before it must get a new one. */
type KeepMs = number;

/** Uses a client. Only commands that run until they are stopped need `keepMs`. */
type Work<Result> = (client: Client, keepMs: KeepMs) => Promise<Result>;

// When it stops, the owner of the embedded PostgreSQL waits for commands that have joined it.
const KEEP_JOINED_MS = 5_000;

/**
 * Runs `work` with a client of the API: of the server of PAYHOOK_URL, or else of one inside this process, on a private
 * socket. The code path is the same whether or not a server is running on the data.
 */
export async function withClient<Result>(
  { terminal, account: chosen }: Pick<Cli, 'terminal' | 'account'>,
  work: Work<Result>,
): Promise<Result> {
  const remote = readRemoteFor(chosen());
  if (remote) return useClient(remote, terminal, (client) => work(client, Number.POSITIVE_INFINITY));
  return withPlatform(terminal, async (platform) => {
    const account = accountFor(await platform.accounts.list(), chosen(), platform.config.dataDir);
    return withAccount({ platform, terminal, account }, (client) => work(client, keepMsOf(platform)));
  });
}

/** Runs `work` with a client of one account, whose API is served inside this process with operator access. */
export function withAccount<Result>(
  {
    platform,
    terminal,
    account,
  }: { platform: Platform; terminal: Pick<Terminal, 'spinner'>; account: Account },
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  return serveInProcess(platform, account, (target) => useClient(target, terminal, work));
}

/** The server of PAYHOOK_URL, or null. Throws a UsageError if an account is also chosen. */
export function readRemoteFor(account: string | undefined): ReturnType<typeof readRemote> {
  const remote = readRemote();
  if (remote && (account ?? readAccountSetting()) !== undefined) {
    const chosen = account === undefined ? 'PAYHOOK_ACCOUNT' : '--account';
    throw new UsageError(`${chosen} has no effect with PAYHOOK_URL: PAYHOOK_API_KEY decides the account`);
  }
  return remote;
}

/** A PostgreSQL launched by this process must stop at once, because a server cannot start while it runs. */
function keepMsOf({ embedded }: Platform): KeepMs {
  if (embedded === undefined) return Number.POSITIVE_INFINITY;
  return embedded.launched ? 0 : KEEP_JOINED_MS;
}

async function useClient<Result>(
  target: ClientOptions,
  { spinner }: Pick<Terminal, 'spinner'>,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  const { createClient } = await import('../../client/client.ts');
  const client = createClient({
    ...target,
    userAgent: 'payhook-cli',
    onRequest: ({ attempt, over }) => {
      if (attempt === 1) spinner.watch(over);
    },
  });
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
      operator: { token, account: account.uuid, cell: account.cell },
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
