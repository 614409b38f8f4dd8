import { expect } from 'vitest';
import { type CsvLine, csvReader } from '../../src/kernel/csv.ts';
import type { CsvColumns } from '../../src/kernel/csv-header.ts';
import { CsvError } from '../../src/kernel/csv-refusal.ts';

/** The columns of the files in the tests of the reader. */
export const FORMAT: CsvColumns = {
  columns: ['id', 'name', 'amount', 'currency', 'email', 'email_of_friend'],
  required: ['id', ['amount', 'email', 'email_of_friend']],
  fixedWords: ['currency'],
};

export const HEAD = 'id,name,amount\n';

export const latin1 = (text: string) => Buffer.from(text, 'latin1');

/** The lines of a file that is read in chunks of `size` bytes. */
export function read(file: string | Uint8Array, size = 7, format = FORMAT): CsvLine[] {
  const bytes = Buffer.from(file);
  const reader = csvReader(format);
  const lines: CsvLine[] = [];
  for (let at = 0; at < bytes.length; at += size) lines.push(...reader.read(bytes.subarray(at, at + size)));
  lines.push(...reader.end());
  return lines;
}

/** The cells of those lines. */
export const cellsOf = (file: string | Uint8Array, size?: number, format?: CsvColumns) =>
  read(file, size, format).map(({ cells }) => cells);

/** The error message, checked to be the same for all chunk sizes. */
export function refusal(file: string | Uint8Array): string {
  const messages = [1, 7, 4096, 1 << 26].map((size) => {
    if (size < 4096 && file.length > 100_000) return null;
    try {
      return `read: ${JSON.stringify(read(file, size)).slice(0, 200)}`;
    } catch (error) {
      if (error instanceof CsvError) return error.message;
      throw error;
    }
  });
  const [first, ...others] = messages.filter((message) => message !== null);
  for (const other of others) expect(other).toBe(first);
  return first ?? '';
}
