import type { Json } from '../../kernel/json.ts';
import type { SharedFile } from '../../threads/file-pieces.ts';
import { type Task, taskOf } from '../../threads/task.ts';
import type { KeptVerification } from '../ledger/verifications.ts';
import type { ResultKind } from './answers.ts';
import type { FoundCorrection } from './corrections.ts';
import type { AnsweredPayout } from './match.ts';
import type { Counts, Problem, ResultLine, ResultVerification } from './record.ts';

interface ProposeInput {
  readonly file: SharedFile;
  readonly ignored: readonly string[];
  readonly payout: AnsweredPayout & { readonly revision: number; readonly lineCount: number };
}

/** The names in a file, as JSON lists: possible ids of payment files, or ids of affiliates. */
export type Named = { readonly files: string } | { readonly affiliates: string };

export interface Found {
  readonly kind: ResultKind;
  readonly counts: Counts;
  readonly lines: Json<ResultLine[]>;
  readonly problems: Json<Problem[]>;
  readonly verifications: Json<ResultVerification[]>;
  readonly kept: Json<KeptVerification[]>;
  readonly corrections: readonly FoundCorrection[];
  /** When the bank made the file, `YYYY-MM-DD`; null = unknown. */
  readonly madeOn: string | null;
  /** The earlier revisions of the payout whose files it names. */
  readonly outdated: readonly number[];
}

/** Reads a result file and compares it with a payout. Asks for the database's data on what the file names, as JSON. */
export const PROPOSE: Task<ProposeInput, Found, Named, string> = taskOf('proposeResult', 'reading the file');
