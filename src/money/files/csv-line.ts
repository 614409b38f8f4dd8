import { formulaStart } from '../../kernel/csv-guard.ts';

/** A line of a CSV file that is not made by the database. No cell is run as a formula. */
export function csvLine(cells: readonly string[]): string {
  const quoted = cells.map((cell) => {
    const safe = formulaStart(cell) === null ? cell : `'${cell}`;
    return /["\r\n,]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  });
  return `${quoted.join()}\r\n`;
}
