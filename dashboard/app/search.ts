// The state of a screen is in its URL. Each of these reads one parameter, and returns undefined when it is invalid.

/** A text that is not empty. */
export const text = (raw: unknown): string | undefined =>
  typeof raw === 'string' && raw !== '' ? raw : undefined;

/** A whole number of at least 1. */
export const number = (raw: unknown): number | undefined =>
  /^[1-9]\d{0,15}$/.test(String(raw)) ? Number(raw) : undefined;

/** Numbers as above, between commas. */
export const numbers = (raw: unknown): readonly number[] | undefined => {
  const read = String(raw).split(',').map(number);
  const found = [...new Set(read)].filter((each) => each !== undefined);
  return found.length === 0 ? undefined : found;
};

/** One of these words. */
export const oneOf =
  <const Word extends string>(words: readonly Word[]) =>
  (raw: unknown): Word | undefined =>
    words.find((word) => word === raw);

type Readers = Readonly<Record<string, (raw: unknown) => unknown>>;
type Read<All extends Readers> = { readonly [Name in keyof All]?: ReturnType<All[Name]> | undefined };

/** The argument for `validateSearch` of a route: the parameters of a screen and their readers. */
export function searchOf<All extends Readers>(readers: All) {
  return (raw: Record<string, unknown>): Read<All> => {
    const entries = Object.entries(readers).map(([name, reader]) => [name, reader(raw[name])] as const);
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Read<All>;
  };
}

/** The search parameters of a URL as plain strings, without JSON. */
export const parseSearch = (given: string): Record<string, string> =>
  Object.fromEntries(new URLSearchParams(given));

export function stringifySearch(search: Record<string, unknown>): string {
  const entries = Object.entries(search)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]): [string, string] => [name, String(value)]);
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
}
