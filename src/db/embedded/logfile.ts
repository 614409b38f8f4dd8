import { closeSync, copyFileSync, fstatSync, ftruncateSync, openSync, readFileSync } from 'node:fs';

const LIMIT_BYTES = 10 * 1024 ** 2;
const CHECK_MS = 60_000;

/** PostgreSQL's log file, held open for appending. */
export interface LogFile {
  /** The descriptor PostgreSQL writes to. */
  readonly descriptor: number;
  /** The last lines written since it was opened, for an error message. */
  tail(): string;
  close(): void;
}

/**
 * Opens PostgreSQL's log. It is a plain file and no pipe: PostgreSQL never waits for this process to read, and
 * writes on when this process has died. Kept to two files of about 10 MB: checked now and every minute.
 * In: the path. Errors: those of the file system.
 */
export function openLogFile(path: string): LogFile {
  const descriptor = openSync(path, 'a', 0o600);
  const keepSmall = () => {
    if (fstatSync(descriptor).size < LIMIT_BYTES) return;
    // Copied and emptied rather than renamed: PostgreSQL holds this file open, and appends.
    copyFileSync(path, `${path}.1`);
    ftruncateSync(descriptor, 0);
  };
  keepSmall();
  const start = fstatSync(descriptor).size;
  const timer = setInterval(() => {
    try {
      keepSmall();
    } catch {
      // A full disk or a removed folder; the next minute tries again.
    }
  }, CHECK_MS);
  timer.unref();
  let closed = false;
  return {
    descriptor,
    tail: () => lastLines(path, start),
    close() {
      if (closed) return;
      closed = true;
      clearInterval(timer);
      closeSync(descriptor);
    },
  };
}

function lastLines(path: string, start: number): string {
  const written = readFileSync(path).subarray(start);
  return written.subarray(-2000).toString('utf8').trim().split('\n').slice(-8).join('\n');
}
