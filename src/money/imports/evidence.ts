import type { FieldType } from '../../contract/fields.ts';
import type { CsvLine } from '../../kernel/csv.ts';
import type { SharedFile } from '../../threads/file-pieces.ts';
import { isTotalsLine } from '../files/totals-line.ts';
import type { Workbook } from '../workbooks/workbook.ts';
import { type FileShape, linesOf } from './dialect.ts';
import { FIELDS, type ImportKind, plain } from './fields.ts';
import { identifyingColumns, type PlannedColumn, type Question } from './mapping.ts';
import { type ColumnValues, columnValues, hasWords, type Values, WordCount } from './meanings.ts';
import type { ImportSettings } from './settings.ts';
import { type DateForm, type Decimal, dateEvidence, decimalEvidence, type Evidence } from './values.ts';

/** What the values of a file show. */
export interface Proof {
  readonly decimal: Decimal | null;
  readonly dates: DateForm | null;
  readonly values: readonly ColumnValues[];
  /** The lines that look like totals: how many, and the number and the cells of the first. */
  readonly totals: {
    readonly count: number;
    readonly line: number;
    readonly cells: readonly string[];
  } | null;
  readonly questions: readonly Question[];
}

/** Collects what values show about one choice. */
class Witness<Choice> {
  readonly #columns: readonly number[];
  readonly #read: (text: string, column: number) => Evidence<Choice>;
  readonly #found = new Map<Choice | 'either', string>();

  constructor(columns: readonly number[], read: (text: string, column: number) => Evidence<Choice>) {
    this.#columns = columns;
    this.#read = read;
  }

  look({ cells }: CsvLine): void {
    for (const index of this.#columns) {
      const evidence = this.#read(cells[index] ?? '', index);
      if (evidence !== null && !this.#found.has(evidence)) this.#found.set(evidence, cells[index] ?? '');
    }
  }

  get proofs(): Choice[] {
    return [...this.#found.keys()].filter((key): key is Choice => key !== 'either');
  }

  has(evidence: Choice | 'either'): boolean {
    return this.#found.has(evidence);
  }

  /** A value that shows a reading. */
  example(of: Choice | 'either'): string {
    return JSON.stringify(this.#found.get(of) ?? '');
  }

  /** Whether values were ambiguous or contradictory. */
  get isOpen(): boolean {
    return this.proofs.length > 1 || (this.proofs.length === 0 && this.#found.has('either'));
  }
}

/** Counts the lines that look like totals. */
class Totals {
  readonly #identifying: readonly number[];
  #count = 0;
  #first: CsvLine | undefined;

  constructor(identifying: readonly number[]) {
    this.#identifying = identifying;
  }

  look(line: CsvLine): void {
    if (!isTotalsLine(line.cells, this.#identifying)) return;
    this.#count += 1;
    this.#first ??= line;
  }

  get found(): Proof['totals'] {
    return this.#first === undefined ? null : { ...this.#first, count: this.#count };
  }
}

/** Reads the values of a file for evidence about dates, amounts and payments, and counts its words. */
export function proofIn(
  file: SharedFile,
  shape: FileShape,
  plan: {
    readonly columns: readonly PlannedColumn[];
    readonly kind: ImportKind;
    readonly has: ReadonlySet<string>;
    readonly asked: Partial<ImportSettings>;
    readonly values: Values;
    readonly workbook: Workbook | null;
  },
): Proof {
  const { kind, asked, has, columns, workbook } = plan;
  // a workbook knows the value of a number, except of one that was entered as text
  const hasNumbers = (column: number) => workbook !== null && !workbook.textNumbers.includes(column);
  const ofType = (...types: readonly FieldType[]) =>
    columns.flatMap(({ field }, index) => {
      const type = field === null ? undefined : FIELDS[kind][field]?.type;
      return type !== undefined && types.includes(type) ? [index] : [];
    });
  const dates = new Witness(asked.dates === undefined ? ofType('time', 'day') : [], dateEvidence);
  const amounts = new Witness(asked.decimal === undefined ? ofType('money') : [], (text, column) => {
    const evidence = decimalEvidence(text);
    return evidence === 'either' && hasNumbers(column) ? 'point' : evidence;
  });
  const asksPaid = kind === 'commissions' && asked.paid === undefined && !has.has('paid_at');
  const status = asksPaid ? columns.findIndex(({ field }) => field === 'status') : -1;
  const paidWords = new Set(FIELDS.commissions.status?.words?.paid);
  const paid = new Witness(status === -1 ? [] : [status], (text) =>
    paidWords.has(plain(text)) ? 'paid' : null,
  );
  const counts = columns.flatMap(({ column, field }, index) =>
    field !== null && hasWords(FIELDS[kind][field]) ? [new WordCount(column, field, index)] : [],
  );
  const totals = new Totals(asked.totals === undefined ? identifyingColumns(kind, columns) : []);
  const witnesses = [dates, amounts, paid];
  const look = (lines: readonly CsvLine[]) => {
    for (const line of lines) {
      for (const witness of witnesses) witness.look(line);
      for (const count of counts) count.look(line.cells);
      totals.look(line);
    }
  };
  if (shape.isAll) look(shape.sample);
  else for (const { lines } of linesOf(file, shape.dialect)) look(lines);
  return {
    decimal: amounts.proofs[0] ?? null,
    dates: dates.proofs.find((form) => form !== 'iso') ?? dates.proofs[0] ?? null,
    values: columnValues(kind, counts, plan.values),
    totals: totals.found,
    questions: [
      ...askDates(dates),
      ...askDecimal(amounts),
      ...(paid.proofs.length > 0 ? [PAID_WITHOUT_DAY] : []),
    ],
  };
}

function askDates(dates: Witness<DateForm>): Question[] {
  const isMixed = dates.proofs.includes('dmy') && dates.proofs.includes('mdy');
  // ISO days prove nothing about the other days, whose order must still be known
  const isOpen = isMixed || (dates.has('either') && !dates.proofs.some((form) => form !== 'iso'));
  if (!isOpen) return [];
  return [
    {
      about: 'dates',
      message: isMixed
        ? `dates have the day first in ${dates.example('dmy')} and the month first in ${dates.example('mdy')}`
        : `the date ${dates.example('either')} has the day first or the month first`,
      choices: [
        { label: 'day first', query: { dates: 'dmy' } },
        { label: 'month first', query: { dates: 'mdy' } },
      ],
    },
  ];
}

function askDecimal(amounts: Witness<Decimal>): Question[] {
  if (!amounts.isOpen) return [];
  const isMixed = amounts.proofs.length > 1;
  return [
    {
      about: 'decimal',
      message: isMixed
        ? `amounts have a decimal point in ${amounts.example('point')} and a decimal comma in ${amounts.example('comma')}`
        : `the amount ${amounts.example('either')} could be a thousand and more, or have three decimals`,
      choices: [
        { label: 'decimal point', query: { decimal: 'point' } },
        { label: 'decimal comma', query: { decimal: 'comma' } },
      ],
    },
  ];
}

const PAID_WITHOUT_DAY: Question = {
  about: 'paid',
  message: 'lines say that they were paid, and no column says when',
  choices: [
    { label: 'leave them out', query: { paid: 'skip' } },
    { label: 'give the day of payment by a column or a constant: paid_at', query: {} },
  ],
};
