import { table } from './table.ts';

/** A line for each fact that is known: its name, and its value. */
export function factLines(facts: readonly (readonly [name: string, value: string | null])[]): string {
  const rows = facts.flatMap(([name, value]) => (value === null ? [] : [[name, value]]));
  return table([{ heading: '' }, { heading: '' }], rows);
}
