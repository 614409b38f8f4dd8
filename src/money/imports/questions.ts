import { quote } from '../../kernel/csv-refusal.ts';
import { nameSome } from '../../kernel/errors.ts';
import type { Proof } from './evidence.ts';
import { FIELDS, plain } from './fields.ts';
import { choiceOf, IGNORE, type PlannedColumn, type Question, type Seen } from './mapping.ts';
import type { ColumnValues } from './meanings.ts';
import { isDate } from './values.ts';

/** Whether every column of a file of commissions has one of our own names. */
export const isOwnShape = (columns: readonly PlannedColumn[]): boolean =>
  columns.every(({ column }) => Object.hasOwn(FIELDS.commissions, column.toLowerCase()));

/** Whether most values of a column are dates. */
function hasDates(seen: Seen, index: number): boolean {
  const values = seen.valuesOf(index);
  return values.length > 0 && values.filter(isDate).length * 2 > values.length;
}

/** Which of the columns with one name is meant, where a guess took the first and the others have other values. */
export function askRepeated(seen: Seen, columns: readonly PlannedColumn[]): Question[] {
  const texts = (index: number) => seen.valuesOf(index).join('\n');
  return columns.flatMap(({ column, field, source }, index): Question[] => {
    if (field === null || source === 'given' || source === 'saved') return [];
    const others = columns.flatMap((other, at) =>
      other.source === 'none' && isNumbered(other.column, column) && texts(at) !== texts(index)
        ? [other.column]
        : [],
    );
    if (others.length === 0) return [];
    const names = [column, ...others];
    const ignored = Object.fromEntries(names.map((name) => [name, IGNORE]));
    return [
      {
        about: 'mapping',
        message: `${names.length} columns are named ${JSON.stringify(column)}, and their values differ: which one is ${field}?`,
        choices: names.map((name) => choiceOf({ ...ignored, [name]: field })),
      },
    ];
  });
}

/** Whether a column has the name of another with a number: `Status (2)`. */
const isNumbered = (name: string, of: string): boolean =>
  name.toLowerCase().startsWith(`${of.toLowerCase()} (`) && /^ \(\d{1,3}\)$/.test(name.slice(of.length));

/** Whether a file of affiliates was sent as one of commissions: it has no amount and no order. */
export function askOtherKind(seen: Seen, has: ReadonlySet<string>): Question[] {
  if (seen.kind !== 'commissions') return [];
  if (['amount', 'sale_amount', 'order_id', 'external_id'].some((field) => has.has(field))) return [];
  const names = Object.entries(FIELDS.affiliates).flatMap(([field, { synonyms }]) => {
    if (Object.hasOwn(FIELDS.commissions, field)) return [];
    const name = seen.header.find((one) => synonyms.includes(plain(one)));
    return name === undefined ? [] : [JSON.stringify(name)];
  });
  if (names.length < 2) return [];
  return [
    {
      about: 'mapping',
      message: `the file has no amount and no order, and ${nameSome([...new Set(names)])} are columns of affiliates, and this imports commissions`,
      choices: [{ label: 'import the file as affiliates', query: { kind: 'affiliates' } }],
    },
  ];
}

/** Which column says when commissions were earned: asked when none is known and some have dates, or several may be it. */
export function askDateColumn(
  seen: Seen,
  columns: readonly PlannedColumn[],
  has: ReadonlySet<string>,
): Question[] {
  if (seen.kind !== 'commissions') return [];
  const known = columns.find(({ field }) => field === 'occurred_at');
  if (known ? known.source !== 'synonym' : has.has('occurred_at')) return [];
  const synonyms = FIELDS.commissions.occurred_at?.synonyms ?? [];
  const others = columns.flatMap(({ column, source }, index) =>
    source === 'none' && hasDates(seen, index) && (!known || synonyms.includes(plain(column)))
      ? [column]
      : [],
  );
  if (others.length === 0) return [];
  const names = [...(known ? [known.column] : []), ...others];
  const ignored = Object.fromEntries(names.map((name) => [name, IGNORE]));
  return [
    {
      about: 'mapping',
      message: known
        ? `${names.map((name) => JSON.stringify(name)).join(' and ')} could each be the date on which a commission was earned (occurred_at)`
        : `no column is known to say when a commission was earned (occurred_at), and ${names.map((name) => JSON.stringify(name)).join(', ')} ${names.length === 1 ? 'has' : 'have'} dates`,
      choices: [
        ...names.map((name) => choiceOf({ ...(known ? ignored : {}), [name]: 'occurred_at' })),
        ...(known ? [] : [choiceOf(ignored, 'none of them: all commissions get the time of the import')]),
      ],
    },
  ];
}

/** Whether a column says when the affiliate was paid, or the order: asked when no status says what was paid. */
export function askPaidAt(columns: readonly PlannedColumn[], has: ReadonlySet<string>): Question[] {
  const found = columns.find(({ field, source }) => field === 'paid_at' && source === 'synonym');
  if (found === undefined || has.has('status')) return [];
  const { column } = found;
  return [
    {
      about: 'mapping',
      message: `${JSON.stringify(column)} may be when the customer paid the order, and not when the affiliate was paid (paid_at), and lines with a paid_at are no longer owed`,
      choices: [choiceOf({ [column]: 'paid_at' }), choiceOf({ [column]: IGNORE })],
    },
  ];
}

const STATUS_FIELDS = {
  affiliates: ['status', 'is_ready_for_payout'],
  commissions: ['status', 'approval'],
} as const;

/** Columns that say who may be paid, or what is owed, and are left out. */
export function askStatusColumns(
  seen: Seen,
  columns: readonly PlannedColumn[],
  has: ReadonlySet<string>,
): Question[] {
  const asked = new Set<string>();
  return STATUS_FIELDS[seen.kind].flatMap((field): Question[] => {
    const names = FIELDS[seen.kind][field]?.synonyms ?? [];
    const index = columns.findIndex(
      (one, at) => one.field === null && names.includes(plain(one.column)) && seen.valuesOf(at).length > 0,
    );
    const column = columns[index]?.column;
    if (has.has(field) || column === undefined || asked.has(column)) return [];
    asked.add(column);
    const effect =
      seen.kind === 'affiliates'
        ? 'who must not be paid, and without it new affiliates can all be paid'
        : 'what is not owed, and without it every line is owed';
    return [
      {
        about: 'status_columns',
        message: `${JSON.stringify(column)} may say ${effect}`,
        choices: [
          choiceOf({ [column]: field }),
          { label: `leave ${JSON.stringify(column)} out`, query: { status_columns: 'ignore' } },
        ],
      },
    ];
  });
}

/** Above this, unknown words of a column are one question. */
const MOST_QUESTIONS = 20;

/** What words mean that nobody knows. */
export function askValues(columns: readonly ColumnValues[]): Question[] {
  return columns.flatMap(({ column, field, words, values, isAll }): Question[] => {
    const unknown = values.filter(({ source }) => source === 'none');
    const name = JSON.stringify(column);
    if (unknown.length > MOST_QUESTIONS || (unknown.length > 0 && !isAll)) {
      const some = nameSome(unknown.map(({ value }) => quote(value)));
      return [
        {
          about: 'values',
          message: `${name} has many words that mean nothing as ${field}: ${some}: say what they mean (values), or what the column is`,
          choices: [choiceOf({ [column]: IGNORE })],
        },
      ];
    }
    return unknown.map(({ value, lines }) => ({
      about: 'values' as const,
      message:
        `${quote(value)} in ${name} (${lines === 1 ? '1 line' : `${lines} lines`}) ` +
        (words === null
          ? `is no country that is known: say its two letters for ${field}`
          : `is not known: what does it mean as ${field}?`),
      choices: [...(words ?? []), 'refuse'].map((word) => ({
        label: word === 'refuse' ? 'refuse these lines' : `${value} = ${word}`,
        query: { values: { [field]: { [value]: word } } },
      })),
    }));
  });
}

/** What to do with lines that look like totals. */
export function askTotals(totals: Proof['totals']): Question[] {
  if (totals === null) return [];
  const { count, line, cells } = totals;
  const shown = nameSome(cells.filter((cell) => cell !== '').map(quote));
  return [
    {
      about: 'totals',
      message: `line ${line} looks like a total: ${shown}${count === 1 ? '' : `, and ${count - 1} more ${count === 2 ? 'does' : 'do'}`}`,
      choices: [
        { label: 'leave totals out', query: { totals: 'skip' } },
        { label: 'import them as any line', query: { totals: 'import' } },
      ],
    },
  ];
}
