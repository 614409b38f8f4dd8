import { setTimeout as delay } from 'node:timers/promises';
import type { Platform } from '../../app/platform.ts';
import type { RunningServer } from '../../app/serve.ts';
import type { Telemetry } from '../../app/telemetry.ts';
import { type Config, readConfig } from '../../kernel/config.ts';
import { addressesOf } from '../../kernel/database-url.ts';
import { CommandError } from '../command/errors.ts';
import { readConfigHere } from '../command/session.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { firstKeyFile, firstStart } from './first-start.ts';
import { keepYoungGenerationSmall } from './young-generation.ts';

/** Ends the process at once, with this code. */
export type Exit = (code: number) => never;

// A supervisor kills after 20 to 30 s: by then requests are answered or cut off, and PostgreSQL is stopping.
const CUT_AFTER_MS = 16_000;
const GIVE_UP_AFTER_MS = 19_000;
// Without PostgreSQL no request in progress can finish.
const CRASHED_MS = 1000;

/** A program that runs until it is stopped. */
interface Running {
  close(): Promise<void>;
}

/** `payhook serve`: runs until a signal, or until PostgreSQL exits by itself. Returns the exit code. */
export async function serveForever(exit: Exit, json = false): Promise<number> {
  const signalled = stopSignal(exit);
  const letGrow = keepYoungGenerationSmall();
  const config = readConfig();
  const [{ openPlatform }, { serve }, { createLog }, { recordAddress }] = await Promise.all([
    import('../../app/platform.ts'),
    import('../../app/serve.ts'),
    import('../../app/log.ts'),
    import('../../app/address.ts'),
  ]);
  const log = createLog(config);
  const platform = await opened(openPlatform(config, { purpose: 'serve', log }), signalled, exit);
  const server = await listen(platform, serve);
  const forget = recordAddress(config, server.address);
  process.stdout.write(
    json ? announcement(platform, server.address) : await banner(platform, server.address),
  );
  letGrow();
  const crashed = ended(platform);
  const end = await Promise.race([signalled, crashed]);
  forget();
  if ('signal' in end) {
    const delayMs = shutdownDelay(end.signal, config);
    log.info({ ...end, ...(delayMs > 0 ? { delay_ms: delayMs } : {}) }, 'stopping');
    server.turnAway();
    if (delayMs > 0) await Promise.race([delay(delayMs), crashed]);
    await stop(platform, server, exit, 0);
    return 0;
  }
  log.fatal(end, 'PostgreSQL stopped unexpectedly; its log is postgres.log in the data folder');
  setTimeout(() => exit(1), CRASHED_MS);
  await stop(platform, server, exit, 1);
  return 1;
}

/**
 * How long requests are still accepted, in milliseconds: a load balancer needs a moment to notice that the server is
 * stopping. Only for SIGTERM, which supervisors send, and not for Ctrl-C at a terminal.
 */
function shutdownDelay(signal: string, { shutdownDelayMs }: Config): number {
  return signal === 'SIGTERM' && !process.stdin.isTTY ? shutdownDelayMs : 0;
}

/**
 * `payhook worker`: delivers webhooks until a signal. With the embedded PostgreSQL it needs the server that owns it, and
 * waits for the next one after that has stopped. Returns the exit code.
 */
export async function workForever(exit: Exit, terminal: Terminal): Promise<number> {
  const signalled = stopSignal(exit);
  const letGrow = keepYoungGenerationSmall();
  const config = await readConfigHere(terminal);
  const [{ openPlatform }, { work }, { createLog }] = await Promise.all([
    import('../../app/platform.ts'),
    import('../../app/serve.ts'),
    import('../../app/log.ts'),
  ]);
  const log = createLog(config);
  for (;;) {
    const opening = openPlatform(config, { purpose: 'worker', onlyExisting: true, log });
    const platform = await opened(opening, signalled, exit);
    const telemetry = await toldOf(platform);
    const worker = work(platform);
    letGrow();
    const where = databaseOf(platform);
    terminal.result(
      { delivering: true, database: where },
      () => `Payhook is delivering webhooks from ${where}\n\nCtrl-C stops it.\n`,
    );
    const end = await Promise.race([signalled, ended(platform)]);
    log.info(end, 'signal' in end ? 'stopping' : 'the server has stopped; waiting for the next one');
    await stop(platform, { close: () => worker.close().then(() => telemetry.close()) }, exit, 0);
    if ('signal' in end) return 0;
  }
}

/** The platform once it is open. While it opens there is nothing to drain, so a signal ends the process. */
async function opened(
  opening: Promise<Platform>,
  signalled: Promise<{ signal: string }>,
  exit: Exit,
): Promise<Platform> {
  const first = await Promise.race([opening, signalled]);
  return 'signal' in first ? exit(0) : first;
}

/** Resolves when the embedded PostgreSQL exits or, for a worker, its server. */
function ended({ embedded }: Platform): Promise<{ how: string }> {
  if (embedded === undefined) return new Promise(() => undefined);
  return embedded.exited.then(({ code, signal }) => ({ how: signal ?? `code ${code}` }));
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
  serve: typeof import('../../app/serve.ts').serve,
): Promise<RunningServer> {
  const { host, port, delivery } = platform.config;
  try {
    return await serve(platform, {
      listen: { host, port },
      delivers: delivery.inServer,
      fillDemo: async (...given) => (await import('../demo/fill.ts')).fillQuietly(...given),
    });
  } catch (error) {
    await platform.close();
    throw listenError(error as NodeJS.ErrnoException, platform.config);
  }
}

/** The metrics and traces of a worker, if enabled. */
async function toldOf(platform: Platform): Promise<Telemetry> {
  try {
    const { startTelemetry } = await import('../../app/telemetry.ts');
    return await startTelemetry(platform);
  } catch (error) {
    await platform.close();
    throw listenError(error as NodeJS.ErrnoException, platform.config);
  }
}

/** Explains an error in listening on the address of the server or its metrics. */
function listenError(error: NodeJS.ErrnoException & { port?: number }, config: Config): Error {
  const isOfMetrics = error.port !== config.port && error.port === config.metrics.port;
  const prefix = isOfMetrics ? 'METRICS_' : '';
  const { host, port } = isOfMetrics ? config.metrics : config;
  switch (error.code) {
    case 'EADDRINUSE':
      return new CommandError(
        `port ${port} on ${host} is in use: stop the program that listens there, or set ${prefix}PORT`,
      );
    case 'EACCES':
      return new CommandError(
        `no permission to listen on port ${port}: choose one above 1023 with ${prefix}PORT`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new CommandError(`${prefix}HOST=${host} is not an address of this machine`);
    default:
      return error;
  }
}

async function stop(platform: Platform, running: Running, exit: Exit, code: number): Promise<void> {
  const cut = setTimeout(() => {
    platform.log.warn('some requests took too long and were cut off and rolled back');
    void platform.embedded?.close();
  }, CUT_AFTER_MS);
  const giveUp = setTimeout(() => exit(code), GIVE_UP_AFTER_MS);
  await running.close();
  await platform.close();
  clearTimeout(cut);
  clearTimeout(giveUp);
}

function announcement(platform: Platform, url: string): string {
  const { config } = platform;
  return `${JSON.stringify({ url, data_dir: config.dataDir, first_api_key_file: firstKeyFile(platform) })}\n`;
}

async function banner(platform: Platform, address: string): Promise<string> {
  const { config, embedded } = platform;
  const first = await firstStart(platform, address);
  const keyFile = firstKeyFile(platform);
  const key = keyFile === null ? '<API key>' : `$(cat ${shellQuote(keyFile)})`;
  const lines = [
    `Payhook is running at ${address}`,
    ...(config.baseUrl ? [`  Public address  ${config.baseUrl}`] : []),
    `  Dashboard       ${config.authorizeUrl ?? config.baseUrl ?? address}/`,
    `  API reference   ${config.baseUrl ?? address}/docs`,
    `  Data folder     ${config.dataDir}`,
    `  Database        ${databaseOf(platform)}`,
    ...first.key.map((line, index) => `  ${index === 0 ? 'First API key' : ' '.repeat(13)}   ${line}`),
    ...(first.owner.length > 0 ? ['', ...first.owner] : []),
    '',
    'Try it:',
    `  curl -H "Authorization: Bearer ${key}" ${address}/v2/affiliates/payouts`,
    '',
    `Ctrl-C stops it${embedded ? ' and PostgreSQL' : ''}.`,
  ];
  return `${lines.join('\n')}\n`;
}

function databaseOf({ config, embedded }: Platform): string {
  return embedded ? 'embedded PostgreSQL' : `PostgreSQL at ${databaseHost(config)}`;
}

/** Only the host and database name: a connection string contains a password. */
function databaseHost({ databaseUrl }: Config): string {
  const urls = (addressesOf(databaseUrl ?? '') ?? []).map((url) => new URL(url));
  const hosts = urls.map(({ host, searchParams }) => host || searchParams.get('host') || 'this machine');
  return `${hosts.join(', ')}${urls[0]?.pathname ?? ''}`;
}

/** The text as one shell word, also within double quotes around `$(…)`. */
function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
