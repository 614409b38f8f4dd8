import type { ImportField } from '../../contract/fields.ts';
import type { CsvDialect } from '../../kernel/csv-dialect.ts';
import { quote } from '../../kernel/csv-refusal.ts';
import { type Cells, guardedCell, type Reading } from '../files/csv-import.ts';
import { isTotalsLine } from '../files/totals-line.ts';
import { FIELDS, type ImportKind } from './fields.ts';
import { identifyingColumns, type Mapping, type PlannedColumn } from './mapping.ts';
import { hasWords, type Meaning, meaningsOf, type Values } from './meanings.ts';
import {
  type DateForm,
  type Decimal,
  dateRule,
  isShortened,
  readAmount,
  readDay,
  readPercent,
  readTime,
} from './values.ts';

/** What to do with lines that are marked as paid. */
export const PAID = ['import', 'skip'] as const;
export type Paid = (typeof PAID)[number];

/** Everything that decides how the lines of a file are read. */
export interface Rules {
  readonly kind: ImportKind;
  readonly dialect: CsvDialect;
  readonly columns: readonly PlannedColumn[];
  readonly mapping: Mapping;
  readonly decimal: Decimal;
  readonly dates: DateForm;
  /** The account's time zone, for times without one. */
  readonly zone: string;
  /** The account's currency, for amounts without one. */
  readonly currency: string;
  readonly paid: Paid;
  /** What words were said to mean. */
  readonly values: Values;
  /** What to do with lines that look like totals. */
  readonly totals: 'import' | 'skip';
}

type Draft = Record<string, string | null>;

const SHORTENED = 'lost its last digits in a spreadsheet: make the column a text and export the file again';

/** Converts the lines of a file to lines of our own format. */
export function readingOf(rules: Rules): Reading {
  return {
    dialect: rules.dialect,
    columns: columnsOf(rules),
    under: () => {
      const targets = targetsOf(rules);
      return (values, wrong) => lineOf(rules, targets, values, wrong);
    },
  };
}

/** The columns of our own format that a file with these rules provides. */
export function columnsOf({ kind, columns, mapping }: Rules): string[] {
  const given = new Set(columns.flatMap(({ field }) => field ?? []));
  for (const [name, value] of Object.entries(mapping)) if (typeof value !== 'string') given.add(name);
  if (given.delete('name')) for (const part of ['name_first', 'name_last']) given.add(part);
  if (kind === 'commissions') {
    for (const name of ['status', 'approval']) if (given.delete(name)) given.add('is_pending');
    given.add('external_id');
  }
  return [...given];
}

interface Target {
  readonly field: string;
  readonly about: ImportField;
  /** What a word means; null for a field without words. */
  readonly meaningOf: ((value: string) => Meaning) | null;
}

interface Targets {
  /** By column index; null for an ignored column. */
  readonly byColumn: readonly (Target | null)[];
  readonly constants: readonly (Target & { readonly value: string })[];
  readonly identifying: readonly number[];
}

function targetsOf(rules: Rules): Targets {
  const targetOf = (field: string): Target => {
    const about = FIELDS[rules.kind][field];
    if (about === undefined) throw new Error(`no field ${field}`);
    return { field, about, meaningOf: hasWords(about) ? once(meaningsOf(about, rules.values[field])) : null };
  };
  return {
    byColumn: rules.columns.map(({ field }) => (field === null ? null : targetOf(field))),
    constants: Object.entries(rules.mapping).flatMap(([field, value]) =>
      typeof value === 'string' ? [] : [{ ...targetOf(field), value: value.constant }],
    ),
    identifying: identifyingColumns(rules.kind, rules.columns),
  };
}

/** The meanings of words, each found once; a column has few different words. */
function once(meaningOf: (value: string) => Meaning): (value: string) => Meaning {
  const known = new Map<string, Meaning>();
  return (value) => {
    const before = known.get(value);
    if (before !== undefined) return before;
    const meaning = meaningOf(value);
    if (known.size < 1000) known.set(value, meaning);
    return meaning;
  };
}

/** A line of the file converted to our own format; null when it is skipped. Errors are added to `wrong`. */
function lineOf(rules: Rules, targets: Targets, values: readonly string[], wrong: string[]): Cells | null {
  if (rules.totals === 'skip' && isTotalsLine(values, targets.identifying)) return null;
  const cells: Draft = {};
  let amounts: Target[] | undefined;
  const take = (target: Target, value: string) => {
    if (value === '') {
      if (target.about.type === 'name') Object.assign(cells, { name_first: null, name_last: null });
      else cells[target.field] = null;
    } else if (target.about.type === 'money') {
      cells[target.field] = value;
      amounts = [...(amounts ?? []), target];
    } else readValue(rules, target, value, cells, wrong);
  };
  for (const { value, ...target } of targets.constants) take(target, value);
  for (let index = 0; index < targets.byColumn.length; index += 1) {
    const target = targets.byColumn[index];
    if (target) take(target, guardedCell(target.field, values[index] ?? '', wrong));
  }
  // amounts are parsed once the currency of the line is known
  for (const { field } of amounts ?? []) {
    const read = readAmount(cells[field] ?? '', rules.decimal, cells.currency ?? rules.currency);
    if ('text' in read) cells[field] = read.text;
    else wrong.push(`${field} ${read.rule}: ${quote(cells[field] ?? '')}`);
  }
  return rules.kind === 'affiliates' ? cells : withStatus(rules, cells, wrong);
}

function readValue(
  { dates, zone }: Rules,
  { field, about, meaningOf }: Target,
  value: string,
  cells: Draft,
  wrong: string[],
): void {
  const date = (read: string | null): string => {
    if (read === null) wrong.push(`${field} ${dateRule(value, dates)}: ${quote(value)}`);
    return read ?? value;
  };
  switch (about.type) {
    case 'word':
    case 'country':
      cells[field] = meaningOf?.(value).means ?? value;
      return;
    case 'time':
      cells[field] = date(readTime(value, dates, zone));
      return;
    case 'day':
      // of a time the day counts
      cells[field] = date(readDay(value, dates));
      return;
    case 'name': {
      const [first = '', ...rest] = value.split(/\s+/);
      cells.name_first = first;
      cells.name_last = rest.length === 0 ? null : rest.join(' ');
      return;
    }
    case 'rate':
      cells[field] = readPercent(value) ?? value;
      return;
    case 'id':
      if (isShortened(value)) wrong.push(`${field} ${SHORTENED}: ${quote(value)}`);
      cells[field] = value;
      return;
    default:
      cells[field] = value;
  }
}

const wordsOf = (field: string) => Object.keys(FIELDS.commissions[field]?.words ?? {});
const WORDS = { status: wordsOf('status'), approval: wordsOf('approval') };

/** Applies the status that a line has in another product; null when the line is skipped. */
function withStatus({ paid }: Rules, cells: Draft, wrong: string[]): Cells | null {
  const { status = null, approval = null, paid_at = null } = cells;
  if (cells.external_id == null && cells.order_id != null) {
    cells.external_id = [cells.order_id, cells.order_line_id].filter((part) => part != null).join(':');
  }
  if (status === 'rejected' || approval === 'rejected') return null;
  const isPaid = status === null ? paid_at !== null : status === 'paid';
  if (isPaid && paid === 'skip') return null;
  for (const [name, words] of Object.entries(WORDS)) {
    const word = cells[name] ?? null;
    if (word !== null && !words.includes(word)) {
      wrong.push(`${name} must be a word for one of ${words.join(', ')}, not ${quote(word)}`);
    }
  }
  if (isPaid && paid_at === null) wrong.push('paid_at is empty, and the status says paid');
  cells.is_pending = !isPaid && (status === 'pending' || approval === 'pending') ? 'true' : null;
  // a planned payment date is not a payment date
  if (!isPaid) cells.paid_at = null;
  return cells;
}
