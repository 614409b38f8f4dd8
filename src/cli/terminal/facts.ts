import { table } from './table.ts';

/** One line per known fact: its name and its value. */
export function factLines(facts: readonly (readonly [name: string, value: string | null])[]): string {
  const rows = facts.flatMap(([name, value]) => (value === null ? [] : [[name, value]]));
  return table([{ heading: '' }, { heading: '' }], rows);
}
