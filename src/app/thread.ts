// The program of the threads that app/platform starts. It exports each task under its name and loads a task's code on
// first use.
import { BAD_LINES, PLAN, READ, WRITE_SHEET } from '../money/imports/tasks.ts';
import { MAKE_STATEMENT } from '../money/reports/tasks.ts';
import { PROPOSE } from '../money/results/tasks.ts';
import { MAKE_PAPER } from '../papers/tasks.ts';
import { served } from '../threads/serve.ts';

const imports = () => import('../money/imports/in-thread.ts');

export const writeSheet = served(WRITE_SHEET, async () => (await imports()).writeSheet);
export const planImport = served(PLAN, async () => (await imports()).plan);
export const readImport = served(READ, async () => (await imports()).read);
export const writeBadLines = served(BAD_LINES, async () => (await imports()).writeBadLines);
export const proposeResult = served(
  PROPOSE,
  async () => (await import('../money/results/in-thread.ts')).proposeResult,
);
export const makePaper = served(MAKE_PAPER, async () => (await import('../papers/in-thread.ts')).makePaper);
export const makeStatement = served(
  MAKE_STATEMENT,
  async () => (await import('../money/reports/in-thread.ts')).makeStatement,
);
