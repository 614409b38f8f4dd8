/** The number of steps that a check may still take; negative = it took too many. */
export interface Steps {
  left: number;
}

export type Kind = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';
export type Value = Readonly<Record<string, unknown>>;

export function kindOf(value: unknown): Kind {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : (typeof value as Kind);
}

/** Whether two JSON values are equal, whatever the order of keys. */
export function isEqual(one: unknown, other: unknown, steps: Steps): boolean {
  steps.left -= 1;
  if (one === other) return true;
  const kind = kindOf(one);
  if (steps.left < 0 || kind !== kindOf(other) || (kind !== 'array' && kind !== 'object')) return false;
  const [mine, others] = [Object.entries(one as Value), other as Value];
  return (
    mine.length === Object.keys(others).length &&
    mine.every(([key, value]) => Object.hasOwn(others, key) && isEqual(value, others[key], steps))
  );
}

/** Text that is the same for equal values. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    kindOf(each) === 'object'
      ? Object.fromEntries(Object.entries(each as Value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );

/** A value as messages show it. */
export const shown = (value: unknown) => {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60).toWellFormed()}…` : text;
};

/** The characters of a text, counted no further than needed to compare them with a limit. */
export function lengthOf(text: string, steps: Steps): number {
  steps.left -= text.length >> 4;
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}
