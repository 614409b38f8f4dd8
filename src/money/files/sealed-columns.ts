import { masked } from '../../terms/tax-ids.ts';

const SEALED: ReadonlySet<string> = new Set(['iban', 'account_number', 'tax_id']);

/** Whether the values of a column are sealed when they are stored: then no message and no record repeats them. */
export const isSealed = (column: string): boolean => SEALED.has(column);

/** What an answer shows of a value: of one that is sealed its end only. */
export const shown = (column: string | null, value: string): string =>
  column !== null && isSealed(column) ? masked(value.replace(/\s+/g, '')) : value;
