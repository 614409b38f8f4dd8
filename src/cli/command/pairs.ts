import { UsageError } from './errors.ts';

/** The values of a repeatable option, in order. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

/**
 * `['a=1', 'b=2']` as `{a: '1', b: '2'}`, split at the first separator; undefined if none was given. Throws a UsageError that
 * names the option for a pair without a name or separator, and for a repeated name.
 */
export function readPairs(
  option: string,
  pairs: readonly string[] | undefined,
  separator: '=' | ':',
): Record<string, string> | undefined {
  if (pairs === undefined) return undefined;
  const read = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf(separator);
    const name = pair.slice(0, Math.max(at, 0)).trim();
    if (name === '') throw new UsageError(`${option} must look like name${separator}value, not ${pair}`);
    if (read.has(name)) throw new UsageError(`${option} names ${name} twice`);
    read.set(name, pair.slice(at + 1).trim());
  }
  return Object.fromEntries(read);
}
