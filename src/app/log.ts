import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from '../kernel/config.ts';

/** Lines of one turn beyond this size are written in several parts. */
const LINES_BYTES = 1 << 13;

/** A JSON log on standard error: standard output is for people and for --json. */
export function createLog(config: Config): Logger {
  standardError ??= openStandardError();
  return pino(
    {
      level: config.logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: plainError },
    },
    standardError,
  );
}

let standardError: DestinationStream | undefined;

/** Writes the lines of one turn of the event loop together, at its end, or when the process exits. */
function openStandardError(): DestinationStream {
  const out = pino.destination({ fd: 2, sync: true, minLength: LINES_BYTES });
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
