import { isNetwork } from './addresses.ts';
import type { MailServer } from './mail-server.ts';

/** A setting: an environment variable, and the type of its value by what `read` returns. */
export interface Setting {
  readonly name: string;
  readonly meaning: string;
  /** Read when the variable is not set; without it the value is then undefined. */
  readonly fallback?: string;
  readonly secret?: true;
  /** The value, or undefined when the text breaks the rule. */
  read(text: string): SettingValue | undefined;
  readonly rule: string;
}

type SettingValue = string | number | boolean | null | readonly string[] | readonly number[] | MailServer;

export interface SettingGroup {
  /** Only settings have one: so the compiler names the missing part of a setting. */
  readonly name?: never;
  readonly [key: string]: Setting | SettingGroup;
}

/** The values of a group of settings. */
export type ValuesOf<Group> = {
  readonly [Key in keyof Group]: Group[Key] extends Setting ? ValueOf<Group[Key]> : ValuesOf<Group[Key]>;
};
type ValueOf<Row extends Setting> =
  | Exclude<ReturnType<Row['read']>, undefined>
  | (Row extends { readonly fallback: string } ? never : undefined);

/** Whether a member of a group is a setting, not a group. */
export const isSetting = (node: Setting | SettingGroup): node is Setting => typeof node.read === 'function';

/** The rows of a group and of the groups in it. */
export const settingsIn = (group: SettingGroup): Setting[] =>
  Object.values(group).flatMap((node) => (isSetting(node) ? [node] : settingsIn(node)));

/* Readers of settings: they return undefined when the text breaks the rule. */

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

/** A number of days, at least `least`; null = off. */
export const daysFrom = (least: number) => ({
  read: (text: string) => (text === 'off' ? null : integer(least, 36_500)(text)),
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

/** An http(s) URL without credentials, query, fragment and trailing slash; undefined when the text is none. */
export function origin(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const plain = /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  return plain ? text.replace(/(?<!\/)\/+$/, '') : undefined;
}

/** The same without a path: OAuth metadata and cookies belong to the root of an origin. */
export function rootOrigin(text: string): string | undefined {
  const read = origin(text);
  return read !== undefined && new URL(read).pathname === '/' ? read : undefined;
}
