import { UsageError } from './errors.ts';

interface Range {
  readonly from: number;
  readonly to: number;
}

/** A whole number from the command line. Throws a UsageError that names the option and its range. */
export function readInteger(option: string, text: string, { from, to }: Range): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= from && Number(text) <= to) return Number(text);
  throw new UsageError(`${option} must be a whole number from ${from} to ${to}, not ${text}`);
}

const LONGEST_HOLD = 3650;

/** The hours of `--destination-wait`. Throws a UsageError that names the range. */
export function readDestinationWait(text: string): number {
  return readInteger('--destination-wait', text, { from: 0, to: 720 });
}

/** The days of `--hold-days`. Throws a UsageError that names the range. */
export function readHoldDays(text: string): number {
  return readInteger('--hold-days', text, { from: 0, to: LONGEST_HOLD });
}

/** The number of a cell, in `--cell` or an argument of that name. Throws a UsageError. */
export function readCell(text: string, name = '--cell'): number {
  return readInteger(name, text, { from: 0, to: 9999 });
}
