import type { Json } from '../../kernel/json.ts';
import type { SharedFile } from '../../threads/file-pieces.ts';
import { type Task, taskOf } from '../../threads/task.ts';
import type { ResultKind } from './answers.ts';
import type { AnsweredPayout } from './match.ts';
import type { Counts, Problem, ResultLine } from './record.ts';

interface ProposeInput {
  readonly file: SharedFile;
  readonly ignored: readonly string[];
  readonly payout: AnsweredPayout & { readonly revision: number; readonly lineCount: number };
}

/** What a file names, as JSON lists: ids that can be of payment files, or ids of affiliates. */
export type Named = { readonly files: string } | { readonly affiliates: string };

interface Found {
  readonly kind: ResultKind;
  readonly counts: Counts;
  readonly lines: Json<ResultLine[]>;
  readonly problems: Json<Problem[]>;
  /** The revisions of the payout before this one whose files it names. */
  readonly outdated: readonly number[];
}

/** Reads a result file and compares it with a payout; asks for what is known of what the file names, as JSON. */
export const PROPOSE: Task<ProposeInput, Found, Named, string> = taskOf('proposeResult', 'reading the file');
