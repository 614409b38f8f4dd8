import type { AccountId } from '../../kernel/ids.ts';
import type { SharedFile } from '../../threads/file-pieces.ts';
import { type Task, taskOf } from '../../threads/task.ts';
import type { FoundBad, ReadFile } from '../files/csv-import.ts';
import type { ReaderSettings } from '../files/csv-stage.ts';
import type { Workbook } from '../workbooks/workbook.ts';
import type { ImportKind } from './fields.ts';
import type { ImportPlan } from './plan.ts';
import type { Rules } from './reading.ts';
import type { ImportSettings } from './settings.ts';
import type { SavedMapping } from './store.ts';

/** What a plan asks of the account. */
export type PlanQuestion =
  | { readonly about: 'settings' }
  | { readonly about: 'named'; readonly name: string }
  | { readonly about: 'saved'; readonly header: readonly string[] }
  | { readonly about: 'affiliates'; readonly among: readonly string[] };
export type PlanAnswer = ReaderSettings | SavedMapping | null | Readonly<Record<string, number>>;

interface SheetInput {
  readonly file: SharedFile;
  /** The descriptor of the file that the sheet is written to. */
  readonly target: number;
  /** null = the first visible one that is not empty. */
  readonly sheet: string | null;
}

/** Writes a sheet of a workbook as CSV. */
export const WRITE_SHEET: Task<SheetInput, Workbook> = taskOf('writeSheet', 'reading the workbook');

interface PlanInput {
  readonly file: SharedFile;
  /** Of a workbook, the sheet that `file` was written from. */
  readonly workbook: Workbook | null;
  readonly settings: ImportSettings;
}

/** Finds out how a file is to be read. */
export const PLAN: Task<PlanInput, ImportPlan, PlanQuestion, PlanAnswer> = taskOf(
  'planImport',
  'finding out how to read the file',
);

/** What seals numbers in a thread, which has no vault of its own. */
export interface SealingKey {
  readonly account: AccountId;
  readonly fingerprint: string;
  readonly secret: string;
}

/** How the lines of a file are read. */
export interface ReadInput {
  readonly file: SharedFile;
  readonly kind: ImportKind;
  /** null = the file is of our own format. */
  readonly rules: Rules | null;
  readonly settings: ReaderSettings;
  /** For affiliates: the other records that lines may set, and what seals their numbers. */
  readonly parts: { readonly destination: boolean; readonly tax: boolean; readonly key: SealingKey } | null;
  /** How many bad lines are kept; undefined = 1,000. */
  readonly mostBad: number | undefined;
}

/** Reads the lines of a file; what it asks is that rows are taken. */
export const READ: Task<ReadInput, ReadFile & { readonly bad: FoundBad }, string, null> = taskOf(
  'readImport',
  'reading the file',
);

/** A slice of bad lines. */
export type BadSlice = FoundBad['lines'];

interface BadLinesInput {
  readonly file: SharedFile;
  readonly rules: Rules;
  readonly header: readonly string[];
}

/** Writes the bad lines of a file as CSV; what it asks for is the next slice of them, until one is empty. */
export const BAD_LINES: Task<BadLinesInput, string, null, BadSlice> = taskOf(
  'writeBadLines',
  'writing the bad lines',
);
