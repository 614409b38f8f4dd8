import { CsvError, whyUnreadable } from '../../kernel/csv-refusal.ts';
import { fail } from '../../kernel/errors.ts';
import { vaultOf } from '../../kernel/vault.ts';
import { piecesOf } from '../../threads/file-pieces.ts';
import type { WorkOf } from '../../threads/task.ts';
import { affiliatesFormat } from '../affiliates/import-format.ts';
import { commissionsFormat } from '../commissions/import-format.ts';
import { destinationReader } from '../destinations/import-cells.ts';
import { BadLines, type CsvFormat, readLines } from '../files/csv-import.ts';
import { csvLine } from '../files/csv-line.ts';
import { taxProfileReader } from '../tax-profiles/import-cells.ts';
import { writeSheet as writeSheetOf } from '../workbooks/workbook.ts';
import { WorkbookError } from '../workbooks/workbook-error.ts';
import { linesOf } from './dialect.ts';
import { type Facts, planImport } from './plan.ts';
import { readingOf } from './reading.ts';
import type {
  BAD_LINES,
  BadSlice,
  PLAN,
  PlanQuestion,
  READ,
  ReadInput,
  SealingKey,
  WRITE_SHEET,
} from './tasks.ts';

/** A longer text names no affiliate. */
const LONGEST_REFERENCE = 320;

export const writeSheet: WorkOf<typeof WRITE_SHEET> = async ({ file, target, sheet }) => {
  try {
    return await writeSheetOf(file, target, sheet);
  } catch (error) {
    throw error instanceof WorkbookError ? fail('invalid_file', error.message) : error;
  }
};

/** Finds out how a file is read. */
export const plan: WorkOf<typeof PLAN> = ({ file, workbook, settings }, ask) => {
  const know = async <Answer>(question: PlanQuestion) => (await ask(question)) as Answer;
  const facts: Facts = {
    settings: () => know({ about: 'settings' }),
    named: (name) => know({ about: 'named', name }),
    saved: (header) => know({ about: 'saved', header }),
    affiliatesAmong: (texts) => {
      const among = texts.filter(({ length }) => length <= LONGEST_REFERENCE);
      return know({ about: 'affiliates', among });
    },
  };
  return planImport(file, workbook, settings, facts);
};

const sealerOf = ({ account, fingerprint, secret }: SealingKey) => ({
  account,
  key: fingerprint,
  vault: vaultOf(() => [secret]),
});

function formatOf({ kind, rules, settings, parts }: ReadInput): CsvFormat {
  if (kind === 'commissions') return commissionsFormat(settings, rules !== null);
  if (parts === null) return affiliatesFormat([]);
  const sealer = sealerOf(parts.key);
  return affiliatesFormat([
    ...(parts.destination ? [destinationReader(sealer)] : []),
    ...(parts.tax ? [taxProfileReader(sealer)] : []),
  ]);
}

export const read: WorkOf<typeof READ> = async (input, ask) => {
  const bad = new BadLines(input.mostBad);
  const reading = input.rules === null ? null : readingOf(input.rules);
  const result = await readLines(
    piecesOf(input.file),
    { format: formatOf(input), reading },
    bad,
    async (rows) => void (await ask(rows)),
  );
  return { ...result, bad: bad.found };
};

/** A cell, empty if it could not be read. */
const readable = (cell: string) => (whyUnreadable(cell) === null ? cell : '');

export const writeBadLines: WorkOf<typeof BAD_LINES> = async ({ file, rules, header }, ask) => {
  const wrong = new Map<number, readonly string[]>();
  for (;;) {
    const slice: BadSlice = await ask(null);
    if (slice.length === 0) break;
    for (const [line, messages] of slice) wrong.set(line, messages);
  }
  const text = [csvLine(['line', 'error', ...header])];
  try {
    for (const { lines } of linesOf(file, rules.dialect)) {
      for (const { line, cells } of lines) {
        const messages = wrong.get(line);
        if (messages !== undefined)
          text.push(csvLine([String(line), messages.join('; '), ...cells.map(readable)]));
      }
    }
  } catch (error) {
    throw error instanceof CsvError ? fail('invalid_file', error.message) : error;
  }
  return text.join('');
};
