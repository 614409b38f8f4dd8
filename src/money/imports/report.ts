import type { ImportOutcome } from '../files/csv-stage.ts';
import type { Sheet } from '../workbooks/sheets.ts';
import type { ColumnValues } from './meanings.ts';
import type { ImportPlan } from './plan.ts';
import type { Counts } from './store.ts';
import type { ShownLines } from './tasks.ts';

/** An error as reported: with the column of the file. */
interface ReportedError {
  readonly line: number;
  readonly column: string | null;
  readonly message: string;
}

/** The same errors of several lines, and the first of them with what their lines have. */
interface ErrorGroup {
  readonly column: string | null;
  readonly message: string;
  readonly count: number;
  readonly first: (ReportedError & { readonly values: Record<string, string> })[];
}

/** What an import did, or would do. */
export interface Report extends Counts {
  readonly errors: ReportedError[];
  readonly groups: ErrorGroup[];
}

/** The counts of lines, as reported and stored. */
export const countsOf = ({ bad, methodsSet: _, ...outcome }: ImportOutcome, payouts: number): Counts => ({
  ...outcome,
  failed: bad.count,
  payouts,
});

/** Fields whose value is read from the column of another one, if they have none of their own. */
const READ_FROM = { name_first: 'name', name_last: 'name', external_id: 'order_id' };

/** Lines are shown for the groups on the first pages of a screen. */
const GROUPS_WITH_LINES = 100;
const MOST_FIRST = 3;

/**
 * The report of an import, with errors by column of the file, and equal ones together, the most frequent first. `linesAt` reads
 * lines of the file again.
 */
export async function reportOf(
  plan: ImportPlan,
  outcome: ImportOutcome,
  payouts: number,
  linesAt: (numbers: readonly number[]) => Promise<ShownLines>,
): Promise<Report> {
  const columnOf = new Map(plan.rules.columns.map(({ column, field }) => [field, column]));
  for (const [field, source] of Object.entries(READ_FROM)) {
    const column = columnOf.get(source);
    if (column !== undefined && !columnOf.has(field)) columnOf.set(field, column);
  }
  const errors = outcome.bad.each().flatMap(([line, messages]) =>
    messages.map((message) => ({
      line,
      // a message starts with its field
      column: columnOf.get(/^\w+/.exec(message)?.[0] ?? null) ?? null,
      message,
    })),
  );
  const groups = groupsOf(errors);
  const shown = groups.slice(0, GROUPS_WITH_LINES).flatMap((group) => group.slice(0, MOST_FIRST));
  const numbers = [...new Set(shown.map(({ line }) => line))];
  const lines = new Map(numbers.length === 0 ? [] : await linesAt(numbers));
  return {
    ...countsOf(outcome, payouts),
    errors,
    groups: groups.map((group) => ({
      column: group[0]?.column ?? null,
      message: group.length === 1 ? (group[0]?.message ?? '') : ruleOf(group[0]?.message ?? ''),
      count: group.length,
      first: group.slice(0, MOST_FIRST).map((error) => ({ ...error, values: lines.get(error.line) ?? {} })),
    })),
  };
}

/** Errors about the same column and rule, the most frequent first. */
function groupsOf(errors: readonly ReportedError[]): ReportedError[][] {
  const groups = new Map<string, ReportedError[]>();
  for (const error of errors) {
    const key = `${error.column ?? ''} ${ruleOf(error.message)}`;
    const group = groups.get(key);
    if (group) group.push(error);
    else groups.set(key, [error]);
  }
  return [...groups.values()].sort((a, b) => b.length - a.length);
}

/** A message without the value and the cell that it is about. */
function ruleOf(message: string): string {
  const ends = [': "', ', not "'].map((mark) => message.indexOf(mark)).filter((at) => at !== -1);
  const rule = message.slice(0, Math.min(message.length, ...ends));
  return rule.replace(/\bcell [A-Z]{1,3}\d{1,7} /, 'the cell ');
}

const MOST_VALUES = 100;

/** The values of a column that an answer lists. */
export function shownValues({ column, field, words, values }: ColumnValues) {
  const unknown = values.filter(({ source }) => source === 'none');
  const listed = [...unknown, ...values.filter(({ source }) => source !== 'none')].slice(0, MOST_VALUES);
  return { column, field, words: words && [...words], values: listed, more: values.length - listed.length };
}

export const shownSheet = ({ name, isHidden }: Sheet) => ({ name, is_hidden: isHidden });
