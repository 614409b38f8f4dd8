/**
 * How many rounds a test does: what proves its promise once, or more of them in `npm run test:long`, which sets
 * TEST_LONG.
 */
export const rounds = (normal: number, long: number): number => (process.env.TEST_LONG ? long : normal);
