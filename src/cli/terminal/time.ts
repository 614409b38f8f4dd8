import { count } from './money.ts';

/** An instant to the minute, for tables: `2026-09-15 08:30`, in UTC. */
export function shortTime(instant: string): string {
  return instant.slice(0, 16).replace('T', ' ');
}

/** An instant to the second: `2026-09-15 08:30:12`, in UTC. */
export function exactTime(instant: string): string {
  return instant.slice(0, 19).replace('T', ' ');
}

const UNITS = [
  ['day', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** A duration in its largest unit, rounded down: `3 s`, `12 min`, `5 h`, `2 days`. */
export function lengthOf(ms: number): string {
  for (const [unit, size] of UNITS) {
    const amount = Math.floor(ms / size);
    if (amount >= 1) return unit === 'day' ? count(amount, unit) : `${amount} ${unit}`;
  }
  return '0 s';
}
