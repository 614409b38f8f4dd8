import type { PaperFormat } from '../../papers/tasks.ts';
import { type Task, taskOf } from '../../threads/task.ts';
import type { StatementDraft } from './statement-paper.ts';

/** Makes the statement of an affiliate. */
export const MAKE_STATEMENT: Task<
  { readonly draft: StatementDraft; readonly format: PaperFormat },
  Uint8Array
> = taskOf('makeStatement', 'making the document');
