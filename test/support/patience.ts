/**
 * How long a test waits for what has to come, in milliseconds. It ends tests that hang and asserts nothing, so that a busy
 * machine does not fail one.
 */
export const PATIENCE_MS = 120_000;

/** The same for a whole test: longer, so that what it waited for in vain is named. */
export const TEST_PATIENCE_MS = 600_000;
