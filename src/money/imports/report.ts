import type { Sheet } from '../workbooks/sheets.ts';
import type { ColumnValues } from './meanings.ts';
import type { ImportPlan } from './plan.ts';
import { countsOf, type Imported } from './service.ts';

/** An error as reported: with the column of the file. */
interface ReportedError {
  readonly line: number;
  readonly column: string | null;
  readonly message: string;
}

/** The report of an import, with errors by column of the file, and equal ones together. */
export function reportOf(plan: ImportPlan, { outcome, payouts }: Imported) {
  const columnOf = new Map(plan.rules.columns.map(({ column, field }) => [field, column]));
  const errors = outcome.bad.each().flatMap(([line, messages]) =>
    messages.map((message) => ({
      line,
      // a message starts with its field
      column: columnOf.get(/^\w+/.exec(message)?.[0] ?? null) ?? null,
      message,
    })),
  );
  return { ...countsOf(outcome, payouts), errors, groups: groupsOf(errors) };
}

const MOST_FIRST = 3;

/** Errors about the same column and rule, the most frequent first. */
function groupsOf(errors: readonly ReportedError[]) {
  const groups = new Map<string, ReportedError[]>();
  for (const error of errors) {
    const key = `${error.column ?? ''} ${ruleOf(error.message)}`;
    const group = groups.get(key);
    if (group) group.push(error);
    else groups.set(key, [error]);
  }
  return [...groups.values()]
    .sort((a, b) => b.length - a.length)
    .map((group) => ({
      column: group[0]?.column ?? null,
      message: group.length === 1 ? (group[0]?.message ?? '') : ruleOf(group[0]?.message ?? ''),
      count: group.length,
      first: group.slice(0, MOST_FIRST),
    }));
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
