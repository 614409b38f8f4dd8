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
 * Opens PostgreSQL's log. It is a plain file, not a pipe, so PostgreSQL never waits for this process to read, and
 * goes on writing when this process has died. Kept to two files of about 10 MB, checked now and every minute.
 * In: the path. Errors: those of the file system.
 */
export function openLogFile(path: string): LogFile {
  const descriptor = openSync(path, 'a', 0o600);
  const keepSmall = () => {
    if (fstatSync(descriptor).size < LIMIT_BYTES) return;
    // Copied and truncated rather than renamed, because PostgreSQL holds this file open and appends to it.
    copyFileSync(path, `${path}.1`);
    ftruncateSync(descriptor, 0);
  };
  keepSmall();
  const start = fstatSync(descriptor).size;
  const timer = setInterval(() => {
    try {
      keepSmall();
    } catch {
      // The disk is full or the folder was removed; it is tried again in a minute.
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
