import type { Upload } from '../../contract/uploads.ts';
import type { Reader } from '../../db/connect.ts';
import { readIban } from '../../kernel/bank-accounts.ts';
import type { CsvLine } from '../../kernel/csv.ts';
import type { CsvEncoding, CsvSeparator } from '../../kernel/csv-dialect.ts';
import { CsvError } from '../../kernel/csv-refusal.ts';
import { isEmail } from '../../kernel/email.ts';
import { fail } from '../../kernel/errors.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { zoneOf } from '../../people/accounts/service.ts';
import { defaultCurrency } from '../commissions/service.ts';
import { type FileShape, linesOf, shapeOf } from './dialect.ts';
import type { FieldType } from './field.ts';
import { FIELDS, type ImportKind, plain } from './fields.ts';
import {
  checkMapping,
  IGNORE,
  type Mapping,
  missingFields,
  type PlannedColumn,
  parseMapping,
  planColumns,
  type Question,
  type Seen,
} from './mapping.ts';
import type { Paid, Rules } from './reading.ts';
import { affiliatesAmong, findMapping, mappingOf } from './store.ts';
import { type DateForm, type Decimal, dateEvidence, decimalEvidence, type Evidence } from './values.ts';

/** What the caller specifies about a file; undefined is guessed. */
export interface ImportSettings {
  readonly kind: ImportKind;
  /** JSON, or the name of a saved mapping. */
  readonly mapping?: string | undefined;
  readonly encoding?: CsvEncoding | undefined;
  readonly separator?: CsvSeparator | undefined;
  readonly decimal?: Decimal | undefined;
  readonly dates?: DateForm | undefined;
  readonly paid?: Paid | undefined;
}

/** How a file will be read, and what of it was guessed. */
export interface ImportPlan {
  readonly shape: FileShape;
  readonly rules: Rules;
  /** The field of every column, and constant values of fields. */
  readonly mapping: Mapping;
  /** The saved mapping that was used. */
  readonly mappingName: string | null;
  readonly guessed: string[];
  readonly questions: Question[];
}

/** Plans an import from the settings, then a saved mapping, then guesses. Throws `invalid_file`, `invalid_mapping`. */
export async function planImport(
  db: Reader,
  account: AccountId,
  upload: Upload,
  settings: ImportSettings,
): Promise<ImportPlan> {
  try {
    return await plan(db, account, upload, settings);
  } catch (error) {
    throw error instanceof CsvError ? fail('invalid_file', error.message) : error;
  }
}

async function plan(
  db: Reader,
  account: AccountId,
  upload: Upload,
  given: ImportSettings,
): Promise<ImportPlan> {
  const { kind } = given;
  const named = await namedMapping(db, account, given);
  const settings = { ...named?.dialect, ...defined(given), kind };
  const shape = await shapeOf(upload, settings, kind);
  refuseData(shape.header);
  const saved =
    named ??
    (given.mapping === undefined ? await findMapping(db, account, kind, headerKey(shape.header)) : null);
  const said = saved?.mapping ?? (given.mapping === undefined ? {} : parseMapping(given.mapping));
  checkMapping(kind, shape.header, said);
  const seen = seenIn(db, account, kind, shape);
  const { columns, questions } = await planColumns(seen, said, saved === null ? 'given' : 'saved');
  const constants = Object.entries(said).filter(([, value]) => typeof value !== 'string');
  const mapping = {
    ...Object.fromEntries(columns.map(({ column, field }) => [column, field ?? IGNORE])),
    ...Object.fromEntries(constants),
  };
  const has = new Set([...columns.flatMap(({ field }) => field ?? []), ...constants.map(([name]) => name)]);
  const asked = { ...saved?.dialect, ...settings };
  const proof = await proofIn(upload, shape, { columns, kind, has, asked });
  const rules: Rules = {
    kind,
    dialect: shape.dialect,
    columns,
    mapping,
    decimal: asked.decimal ?? proof.decimal ?? 'point',
    dates: asked.dates ?? proof.dates ?? 'iso',
    zone: await zoneOf(db, account),
    currency: await defaultCurrency(db, account),
    paid: asked.paid ?? 'import',
  };
  return {
    shape,
    rules,
    mapping,
    mappingName: saved?.name ?? null,
    guessed: [...shape.guessed, ...guessedOf(columns, has, rules, asked)],
    questions: [...(questions.length > 0 ? questions : missingFields(kind, has)), ...proof.questions],
  };
}

/** The names of columns are kept in the clear: a first line of data would keep what others seal. */
function refuseData(header: readonly string[]): void {
  const at = header.findIndex((name) => isEmail(name) || 'value' in readIban(name));
  if (at === -1) return;
  throw new CsvError(
    `the first line must name the columns, and column ${at + 1} is an e-mail address or IBAN: add a line with their names`,
  );
}

const defined = (settings: ImportSettings) =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));

/** The key of files with the same columns. */
export const headerKey = (header: readonly string[]) => header.map((name) => name.toLowerCase()).sort();

/** The mapping named in the settings; null when they contain JSON or nothing. */
async function namedMapping(db: Reader, account: AccountId, { kind, mapping }: ImportSettings) {
  if (mapping === undefined || mapping.trimStart().startsWith('{')) return null;
  const found = await mappingOf(db, account, kind, mapping);
  if (found === null)
    throw fail('invalid_mapping', `no mapping of ${kind} was saved under ${JSON.stringify(mapping)}`);
  return found;
}

function seenIn(db: Reader, account: AccountId, kind: ImportKind, { header, sample }: FileShape): Seen {
  return {
    kind,
    header,
    valuesOf: (index) => sample.flatMap(({ cells }) => cells[index] || []),
    affiliatesAmong: (texts) => affiliatesAmong(db, account, [...new Set(texts)]),
  };
}

/** What was guessed about columns and values, in words. */
function guessedOf(
  columns: readonly PlannedColumn[],
  has: ReadonlySet<string>,
  rules: Rules,
  asked: Partial<ImportSettings>,
): string[] {
  const told: string[] = [];
  for (const { column, field, source } of columns) {
    if (field !== null && (source === 'synonym' || source === 'values'))
      told.push(`${JSON.stringify(column)} is ${field}`);
  }
  const ignored = columns
    .filter(({ source }) => source === 'none')
    .map(({ column }) => JSON.stringify(column));
  if (ignored.length > 0) told.push(`ignored: ${ignored.join(', ')}`);
  if (rules.kind === 'commissions' && !has.has('external_id'))
    told.push('the order_id names the commission too (external_id)');
  if (asked.decimal === undefined && rules.decimal === 'comma') told.push('amounts have a decimal comma');
  if (asked.dates === undefined && rules.dates !== 'iso') {
    told.push(`dates are ${rules.dates === 'dmy' ? 'day' : 'month'} first`);
  }
  return told;
}

interface Proof {
  readonly decimal: Decimal | null;
  readonly dates: DateForm | null;
  readonly questions: readonly Question[];
}

/** Collects what values show about one choice. */
class Witness<Choice> {
  readonly #columns: readonly number[];
  readonly #read: (text: string) => Evidence<Choice>;
  readonly #found = new Map<Choice | 'either', string>();

  constructor(columns: readonly number[], read: (text: string) => Evidence<Choice>) {
    this.#columns = columns;
    this.#read = read;
  }

  look({ cells }: CsvLine): void {
    for (const index of this.#columns) {
      const evidence = this.#read(cells[index] ?? '');
      if (evidence !== null && !this.#found.has(evidence)) this.#found.set(evidence, cells[index] ?? '');
    }
  }

  get isDecided(): boolean {
    return this.#columns.length === 0 || this.proofs.length > 0;
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

/** Reads values, as far into the file as needed, for evidence about dates, amounts and payments. */
async function proofIn(
  upload: Upload,
  shape: FileShape,
  plan: {
    readonly columns: readonly PlannedColumn[];
    readonly kind: ImportKind;
    readonly has: ReadonlySet<string>;
    readonly asked: Partial<ImportSettings>;
  },
): Promise<Proof> {
  const { kind, asked, has } = plan;
  const ofType = (...types: readonly FieldType[]) =>
    plan.columns.flatMap(({ field }, index) => {
      const type = field === null ? undefined : FIELDS[kind][field]?.type;
      return type !== undefined && types.includes(type) ? [index] : [];
    });
  const dates = new Witness(asked.dates === undefined ? ofType('time', 'day') : [], dateEvidence);
  const amounts = new Witness(asked.decimal === undefined ? ofType('money') : [], decimalEvidence);
  const asksPaid = kind === 'commissions' && asked.paid === undefined && !has.has('paid_at');
  const status = asksPaid ? plan.columns.findIndex(({ field }) => field === 'status') : -1;
  const paidWords = new Set(FIELDS.commissions.status?.words?.paid);
  const paid = new Witness(status === -1 ? [] : [status], (text) =>
    paidWords.has(plain(text)) ? 'paid' : null,
  );
  const all = [dates, amounts, paid];
  const look = (lines: readonly CsvLine[]) => {
    for (const line of lines) for (const witness of all) witness.look(line);
  };
  look(shape.sample);
  if (!shape.isAll) {
    for await (const { lines } of linesOf(upload, shape.dialect)) {
      if (all.every(({ isDecided }) => isDecided)) break;
      look(lines);
    }
  }
  return {
    decimal: amounts.proofs[0] ?? null,
    dates: dates.proofs.find((form) => form !== 'iso') ?? dates.proofs[0] ?? null,
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
