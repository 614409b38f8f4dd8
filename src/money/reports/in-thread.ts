import { makePaper } from '../../papers/in-thread.ts';
import type { WorkOf } from '../../threads/task.ts';
import { statementPaper } from './statement-paper.ts';
import type { MAKE_STATEMENT } from './tasks.ts';

/** Makes the statement of an affiliate in a thread. */
export const makeStatement: WorkOf<typeof MAKE_STATEMENT> = ({ draft, format }) =>
  makePaper({ paper: statementPaper(draft), format }, () =>
    Promise.reject(new Error('the task asks no questions')),
  );
