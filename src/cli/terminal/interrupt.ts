const cleanups = new Set<() => void>();

/**
 * Registers a synchronous cleanup for when the command is interrupted. Returns a function that unregisters it.
 */
export function onInterrupt(cleanup: () => void): () => void {
  cleanups.add(cleanup);
  return () => void cleanups.delete(cleanup);
}

/** Runs all registered cleanups. */
export function cleanUp(): void {
  for (const cleanup of cleanups) cleanup();
  cleanups.clear();
}

/** Aborts at the first SIGINT, SIGTERM or SIGHUP, for a command that runs until then; a second signal kills it. */
export function untilStopped(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
