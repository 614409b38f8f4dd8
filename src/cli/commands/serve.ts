import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Platform, RunningServer } from '../../app.ts';
import { type Config, readConfig } from '../../kernel/config.ts';
import { CommandError } from '../errors.ts';

/** Ends the process at once, with this code. */
export type Exit = (code: number) => never;

// A supervisor kills after 20 to 30 s: by then requests are answered or cut, and PostgreSQL is told to stop.
const CUT_AFTER_MS = 16_000;
const GIVE_UP_AFTER_MS = 19_000;

/** What runs until it is stopped. */
interface Running {
  close(): Promise<void>;
}

/** `payhook serve`: runs until a signal or until PostgreSQL ends by itself. Returns the exit code. */
export function serveForever(exit: Exit, json = false): Promise<number> {
  return runForever(exit, 'serve', async (platform, { serve, setUpUrl }) => {
    const server = await listen(platform, serve);
    const { setUpSecret, config } = platform;
    const setUp = setUpSecret === undefined ? null : setUpUrl(config, server.address, setUpSecret);
    const tell = json ? announcement : banner;
    process.stdout.write(tell(platform, server.address, setUp));
    return server;
  });
}

/** `payhook worker`: delivers webhooks until a signal. Returns the exit code. */
export function workForever(exit: Exit, json = false): Promise<number> {
  return runForever(exit, 'command', async (platform, { work }) => {
    const worker = work(platform);
    const where = databaseOf(platform);
    process.stdout.write(
      json
        ? `${JSON.stringify({ delivering: true, database: where })}\n`
        : `Payhook is delivering webhooks from ${where}\n\nCtrl-C stops it.\n`,
    );
    return worker;
  });
}

async function runForever(
  exit: Exit,
  purpose: 'serve' | 'command',
  begin: (platform: Platform, app: typeof import('../../app.ts')) => Promise<Running>,
): Promise<number> {
  const signalled = stopSignal(exit);
  const config = readConfig();
  const app = await import('../../app.ts');
  const log = app.createLog(config);
  const opening = app.openPlatform(config, { purpose, log });
  // While it starts there is nothing to drain; PostgreSQL stops with the process that launched it.
  const opened = await Promise.race([opening, signalled]);
  if ('signal' in opened) exit(0);
  const platform = opened;
  const running = await begin(platform, app);
  const crashed = platform.embedded?.exited.then((how) => ({ how })) ?? new Promise<never>(() => undefined);
  const end = await Promise.race([signalled, crashed]);
  if ('how' in end) {
    log.fatal(end.how, 'PostgreSQL ended by itself; its own log is postgres.log in the data folder');
  } else {
    log.info({ signal: end.signal }, 'stopping');
  }
  await stop(platform, running, exit, 'how' in end ? 1 : 0);
  return 'how' in end ? 1 : 0;
}

/** Resolves at the first SIGINT or SIGTERM; the second ends the process at once. */
function stopSignal(exit: Exit): Promise<{ signal: string }> {
  return new Promise((resolve) => {
    let count = 0;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        count += 1;
        if (count > 1) exit(1);
        resolve({ signal });
      });
    }
  });
}

async function listen(
  platform: Platform,
  serve: typeof import('../../app.ts').serve,
): Promise<RunningServer> {
  const { host, port, delivery } = platform.config;
  try {
    return await serve(platform, { listen: { host, port }, delivers: delivery.inServer });
  } catch (error) {
    await platform.close();
    throw listenError(error as NodeJS.ErrnoException, host, port);
  }
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new CommandError(
        `port ${port} on ${host} is in use: stop the program that listens there, or set PORT`,
      );
    case 'EACCES':
      return new CommandError(`no permission to listen on port ${port}: choose one above 1023 with PORT`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new CommandError(`HOST=${host} is no address of this machine`);
    default:
      return error;
  }
}

async function stop(platform: Platform, running: Running, exit: Exit, code: number): Promise<void> {
  const cut = setTimeout(() => {
    platform.log.warn('some requests take too long: they are cut off and undone');
    void platform.embedded?.close();
  }, CUT_AFTER_MS);
  const giveUp = setTimeout(() => exit(code), GIVE_UP_AFTER_MS);
  await running.close();
  await platform.close();
  clearTimeout(cut);
  clearTimeout(giveUp);
}

function announcement({ config, firstKey }: Platform, url: string, setUp: string | null): string {
  const first = { first_api_key: firstKey?.secret ?? null, set_up_url: setUp };
  return `${JSON.stringify({ url, data_dir: config.dataDir, ...first })}\n`;
}

function banner(platform: Platform, address: string, setUp: string | null): string {
  const { config, firstKey, embedded } = platform;
  const keyFile = firstKey?.path ?? join(config.dataDir, 'first-api-key');
  const key = existsSync(keyFile) ? `$(cat ${shellQuote(keyFile)})` : '<API key>';
  const lines = [
    `Payhook is running at ${address}`,
    ...(config.baseUrl ? [`  Public address  ${config.baseUrl}`] : []),
    `  API reference   ${config.baseUrl ?? address}/docs`,
    `  Data folder     ${config.dataDir}`,
    `  Database        ${databaseOf(platform)}`,
    ...(firstKey
      ? [`  First API key   ${firstKey.secret}`, `                  also in ${firstKey.path}`]
      : []),
    ...(setUp === null
      ? []
      : ['', 'Make yourself the owner (this link works once, for 24 hours):', `  ${setUp}`]),
    '',
    'Try it:',
    `  curl -H "Authorization: Bearer ${key}" ${address}/v2/affiliates/payouts`,
    '',
    `Ctrl-C stops it${embedded ? ', PostgreSQL too' : ''}.`,
  ];
  return `${lines.join('\n')}\n`;
}

function databaseOf({ config, embedded }: Platform): string {
  return embedded ? 'embedded PostgreSQL' : `PostgreSQL at ${databaseHost(config)}`;
}

/** Host and database name only: a connection string holds a password. */
function databaseHost({ databaseUrl }: Config): string {
  const { host, pathname, searchParams } = new URL(databaseUrl ?? 'postgres://unknown');
  return `${host || searchParams.get('host') || 'this machine'}${pathname}`;
}

/** The text as one word of a shell, also within double quotes around `$(…)`. */
function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
