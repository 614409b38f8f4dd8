const cleanups = new Set<() => void>();

/**
 * Registers what must not be left behind when the command is interrupted; it must be done at once, without waiting.
 * Returns the function that takes it back.
 */
export function onInterrupt(cleanup: () => void): () => void {
  cleanups.add(cleanup);
  return () => void cleanups.delete(cleanup);
}

/** Does all that is registered. */
export function cleanUp(): void {
  for (const cleanup of cleanups) cleanup();
  cleanups.clear();
}
