import { isNetwork } from './addresses.ts';

/* How the texts of settings are read: undefined = the text breaks the rule. */

/** A whole number in these bounds. */
export const integer = (from: number, to: number) => (text: string) =>
  /^\d{1,9}$/.test(text) && Number(text) >= from && Number(text) <= to ? Number(text) : undefined;

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };
const LONGEST_PAUSE_MS = 7 * 24 * 3_600_000;

/** `0s 5s 5m 2h` in milliseconds. */
export function pauses(text: string): number[] | undefined {
  const read = text.split(/[\s,]+/).map((pause) => {
    const [, amount, unit = ''] = /^(\d{1,6})([smh])$/.exec(pause) ?? [];
    return Number(amount) * (UNITS[unit] ?? Number.NaN);
  });
  const isFine =
    read[0] === 0 && read.length <= 100 && read.every((pause) => pause >= 0 && pause <= LONGEST_PAUSE_MS);
  return isFine ? read : undefined;
}

const LONGEST_INTERVAL_MS = 31 * 24 * 3_600_000;

/** `24h` in milliseconds. */
export function interval(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,6})([mh])$/.exec(text) ?? [];
  const ms = Number(amount) * (UNITS[unit] ?? Number.NaN);
  return ms > 0 && ms <= LONGEST_INTERVAL_MS ? ms : undefined;
}

/** A number of days from `least` on, or off. */
export const daysFrom = (least: number) => ({
  read: (text: string) => (text === 'off' ? 'off' : integer(least, 36_500)(text)),
  rule: `a number of days from ${least} to 36500, or off`,
});

/** Networks in CIDR notation, with blanks or commas between them. */
export function networks(text: string): string[] | undefined {
  const read = text.split(/[\s,]+/).filter((part) => part !== '');
  return read.every(isNetwork) ? read : undefined;
}

/** Names of hosts in lower case, with blanks or commas between them. */
export function hosts(text: string): string[] | undefined {
  const read = text.split(/[\s,]+/).filter((part) => part !== '');
  return read.every((host) => /^[\w:-]+(\.[\w-]+)*$/.test(host))
    ? read.map((host) => host.toLowerCase())
    : undefined;
}
