/**
 * How long a test waits for something, in milliseconds. It ends hanging tests and asserts nothing, so that a busy
 * machine fails no test.
 */
export const PATIENCE_MS = 120_000;

/** The same for a whole test: longer, so that the failure names what the test waited for. */
export const TEST_PATIENCE_MS = 600_000;
