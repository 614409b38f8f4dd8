import { formulaStart } from './csv-guard.ts';

/** A file that cannot be read; the message names the line, and the column and character if known. */
export class CsvError extends Error {
  override name = 'CsvError';
}

/** Begins a cell that could not be read; the rest of the cell says why. */
const UNREADABLE = '\u001a';

/** A cell that could not be read, for a reason that names the cell. */
export const unreadableCell = (why: string): string => UNREADABLE + why;

/** Why a cell could not be read; null for any other cell. */
export const whyUnreadable = (cell: string): string | null =>
  cell.startsWith(UNREADABLE) ? cell.slice(1) : null;

const SHOWN = 60;

/** A cell as shown in a message: shortened, in quotes, control characters escaped. */
export function quote(cell: string): string {
  return JSON.stringify(cell.length > SHOWN ? `${cell.slice(0, SHOWN)}…` : cell);
}

/**
 * The error for a cell that carries the apostrophe our files put before what a spreadsheet would run as a formula; else
 * null. Neither reading is safe: kept, `'-5` is a different id from `-5`; removed, a text changes silently.
 */
export function guardRule(cell: string): string | null {
  const start = cell.charCodeAt(0) === 39 ? formulaStart(cell.slice(1)) : null;
  if (start === null) return null;
  return `begins with an apostrophe before ${quote(start)}, which protects against formulas: remove the apostrophe`;
}
