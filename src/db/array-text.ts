import { setImmediate } from 'node:timers/promises';

/** What is written between two pauses, which takes a few milliseconds. */
const AT_ONCE = { characters: 1 << 18, items: 10_000 };

/**
 * A long list as PostgreSQL reads an array (PostgreSQL documentation, section 8.15.2), made with pauses in which the
 * process does other work: the driver would make it in one piece. Bind it as `${text}::int8[]`.
 */
export async function arrayText(values: readonly (string | number | boolean | null)[]): Promise<string> {
  const slices: string[] = [];
  let slice: string[] = [];
  let characters = 0;
  for (const value of values) {
    const text = typeof value === 'string' ? `"${value.replaceAll(/["\\]/g, '\\$&')}"` : String(value);
    slice.push(text);
    characters += text.length;
    if (characters < AT_ONCE.characters && slice.length < AT_ONCE.items) continue;
    slices.push(slice.join(','));
    [slice, characters] = [[], 0];
    await setImmediate();
  }
  if (slice.length > 0) slices.push(slice.join(','));
  return `{${slices.join(',')}}`;
}
