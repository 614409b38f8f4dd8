const WANTED = 4;

/**
 * The ticks of an axis: about four round values (1, 2 or 5 times a power of ten), from 0 or below the smallest value up
 * to or above the largest. Steps are integers, like counts, minor units and milliseconds.
 */
export function ticksOf(values: readonly number[]): number[] {
  let [low, high] = [0, 0];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const raw = Math.max((high - low) / WANTED, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= raw) ?? 10);
  const from = Math.floor(low / step);
  const to = Math.max(Math.ceil(high / step), from + 1);
  return Array.from({ length: to - from + 1 }, (_, index) => (from + index) * step);
}
