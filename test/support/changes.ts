import type { Json } from '../api/fixtures.ts';

/** The data of an event of an update as it was before: what its `changes` say about it. */
export function recordBefore({ data, changes }: Json): Json {
  const { added, updated, removed } = changes;
  const absent = Object.fromEntries(Object.keys(added).map((field) => [field, null]));
  return { ...data, ...absent, ...updated, ...removed };
}

/** Without the field that changes leave out. */
export const withoutTime = ({ updated_at: _, ...record }: Json): Json => record;
