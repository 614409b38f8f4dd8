import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from '../kernel/config.ts';

/** Lines of one turn beyond this size are written in several parts. */
const LINES_BYTES = 1 << 13;

/** The most that processes can write to a pipe at once without mixing their lines (PIPE_BUF of Linux). */
const UNMIXED = { minLength: 1 << 11, maxWrite: 1 << 12 };

/**
 * A JSON log on standard error: standard output is for people and for --json. Several processes share it: each line has the number of
 * its `process`, and no line is in the middle of another.
 */
export function createLog(config: Config, process?: number): Logger {
  standardError ??= openStandardError(process === undefined ? { minLength: LINES_BYTES } : UNMIXED);
  return pino(
    {
      level: config.logLevel,
      base: process === undefined ? null : { process },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: plainError },
    },
    standardError,
  );
}

let standardError: DestinationStream | undefined;

/** Writes the lines of one turn of the event loop together, at its end, or when the process exits. */
function openStandardError(limits: { minLength: number; maxWrite?: number }): DestinationStream {
  const out = pino.destination({ fd: 2, sync: true, ...limits });
  let isScheduled = false;
  const flush = () => {
    isScheduled = false;
    out.flush(); // writes at once; flushSync would also wait for the disk each time
  };
  process.once('exit', () => out.flushSync());
  return {
    write(line) {
      out.write(line);
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(flush);
    },
  };
}

// Errors of libraries may contain connections and parameters, which must not be logged.
function plainError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = 'code' in error ? { code: String(error.code) } : {};
  return { type: error.name, message: error.message, ...code, stack: error.stack };
}
