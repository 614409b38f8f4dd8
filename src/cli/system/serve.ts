import { setTimeout as delay } from 'node:timers/promises';
import type { Platform } from '../../app/platform.ts';
import type { Announcement, Siblings } from '../../app/processes.ts';
import type { Telemetry } from '../../app/telemetry.ts';
import { type Config, readConfig } from '../../kernel/config.ts';
import { processesOf, shareOf } from '../../kernel/processes.ts';
import { readConfigHere } from '../command/session.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { announce, databaseOf } from './banner.ts';
import {
  CRASHED_MS,
  type Exit,
  ended,
  listen,
  listenError,
  opened,
  shutdownDelay,
  stop,
  stopSignal,
} from './running.ts';
import { keepYoungGenerationSmall } from './young-generation.ts';

/** How long a replaced process answers requests on its connections, so that clients open new ones to the others. */
const REPLACED_MS = 1000;

/** `payhook serve`: runs until a signal, or until PostgreSQL exits by itself. Returns the exit code. */
export async function serveForever(exit: Exit, json = false): Promise<number> {
  const letGrow = keepYoungGenerationSmall();
  const announces = json ? 'json' : 'text';
  const config = readConfig();
  // only a process with an IPC channel can be a child
  const others = process.connected ? (await import('../../app/processes.ts')).siblings() : null;
  if (others !== null) {
    const own = shareOf(config, others.number - 1, others.count);
    return serveHere(own, { exit, announces, letGrow, signalled: stopSignal(), others });
  }
  const count = processesOf(config);
  if (count === 1) {
    return serveHere(config, { exit, announces, letGrow, signalled: stopSignal(exit), others });
  }
  const { serveWithProcesses } = await import('./serve-processes.ts');
  return serveWithProcesses(config, { count, exit, announces });
}

interface Serving {
  readonly exit: Exit;
  readonly announces: Announcement;
  readonly letGrow: () => void;
  readonly signalled: Promise<{ signal: string }>;
  readonly others: Siblings | null;
}

/** Serves in this process, which may be one of several. */
async function serveHere(
  config: Config,
  { exit, announces, letGrow, signalled, others }: Serving,
): Promise<number> {
  const [{ openPlatform }, { serve }, { createLog }, { recordAddress }] = await Promise.all([
    import('../../app/platform.ts'),
    import('../../app/serve.ts'),
    import('../../app/log.ts'),
    import('../../app/address.ts'),
  ]);
  const log = createLog(config, others?.number);
  const opening = openPlatform(config, { purpose: 'serve', child: others?.number, log });
  const platform = await opened(opening, signalled, exit);
  if (others?.number === 1) await warnOfConnections(platform, others.count);
  const server = await listen(platform, serve, others);
  const record = others === null ? recordAddress(config, server.address) : null;
  await announce(platform, server.address, others ? await others.ready(server.address) : announces);
  letGrow();
  const crashed = ended(platform);
  const left = others?.end.then((why) => ({ why }));
  const end = await Promise.race([signalled, crashed, ...(left ? [left] : [])]);
  record?.forget();
  if ('how' in end) {
    log.fatal(end, 'PostgreSQL stopped unexpectedly; its log is postgres.log in the data folder');
    setTimeout(() => exit(1), CRASHED_MS);
    await stop(platform, server, exit, 1);
    return 1;
  }
  const delayMs =
    'signal' in end ? shutdownDelay(end.signal, config) : end.why === 'replaced' ? REPLACED_MS : 0;
  log.info({ ...end, ...(delayMs > 0 ? { delay_ms: delayMs } : {}) }, 'stopping');
  if ('signal' in end) server.turnAway();
  else server.letGo();
  if (delayMs > 0) await Promise.race([delay(delayMs), crashed]);
  await stop(platform, server, exit, 0);
  return 0;
}

/** Warns if the external PostgreSQL accepts fewer connections than all processes together may open. */
async function warnOfConnections({ config, db, embedded, log }: Platform, count: number): Promise<void> {
  if (embedded) return;
  const { connectionProblem } = await import('../../app/connection-problem.ts');
  const problem = await connectionProblem(config, db.reader, count);
  if (problem !== null) log.warn({ processes: count }, problem);
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
