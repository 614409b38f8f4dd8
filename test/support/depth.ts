/**
 * The number of rounds of a test: those that prove its promise once, or more in `npm run test:long`, which sets
 * TEST_LONG.
 */
export const rounds = (normal: number, long: number): number => (process.env.TEST_LONG ? long : normal);
