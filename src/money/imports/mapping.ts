import { quote } from '../../kernel/csv-refusal.ts';
import { isEmail } from '../../kernel/email.ts';
import { fail, nameSome } from '../../kernel/errors.ts';
import { TAX_ID_TYPES } from '../../terms/taxes.ts';
import { isSealed } from '../files/sealed-columns.ts';
import { FIELDS, IDENTIFYING, type ImportKind, namedCurrency, plain, REFERENCES } from './fields.ts';
import { readPercent } from './values.ts';

/** What each column becomes, and constant values of fields. */
export type Mapping = Readonly<Record<string, string | { readonly constant: string }>>;

/** The target of a column that is not used. */
export const IGNORE = 'ignore';

/** How the field of a column was determined. */
export const SOURCES = ['given', 'saved', 'exact', 'synonym', 'values', 'none'] as const;
type Source = (typeof SOURCES)[number];

/** A column of the file and its field; null when it is ignored. */
export interface PlannedColumn {
  readonly column: string;
  readonly field: string | null;
  readonly source: Source;
}

/** The columns whose values say whom or what a line is about. */
export const identifyingColumns = (kind: ImportKind, columns: readonly PlannedColumn[]): number[] =>
  columns.flatMap(({ field }, index) => (field !== null && IDENTIFYING[kind].includes(field) ? [index] : []));

/** What a question can be about. */
export const ABOUT = ['dates', 'decimal', 'mapping', 'paid', 'values', 'status_columns', 'totals'] as const;

/** A question that only the uploader can answer. */
export interface Question {
  readonly about: (typeof ABOUT)[number];
  readonly message: string;
  readonly choices: { readonly label: string; readonly query: Record<string, unknown> }[];
}

const refuse = (what: string) => fail('invalid_mapping', `mapping ${what}`);

/** Parses the JSON of a mapping. Throws `invalid_mapping`. */
export function parseMapping(text: string): Mapping {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    throw refuse('is not JSON: {"Column of the file": "field"}');
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) throw refuse('must be a JSON object');
  for (const [name, value] of Object.entries(read)) {
    const isConstant =
      typeof value === 'object' &&
      value !== null &&
      Object.keys(value).join() === 'constant' &&
      typeof (value as { constant: unknown }).constant === 'string';
    if (typeof value !== 'string' && !isConstant) {
      throw refuse(`of ${JSON.stringify(name)} must be a field, "ignore" or {"constant": "text"}`);
    }
  }
  return read as Mapping;
}

/** Throws `invalid_mapping` for an unknown field, a column that is not in the file, or a field with two columns. */
export function checkMapping(kind: ImportKind, header: readonly string[], mapping: Mapping): void {
  const keys = header.map((name) => name.toLowerCase());
  const given = new Map<string, string>();
  const take = (field: string, name: string) => {
    if (!Object.hasOwn(FIELDS[kind], field)) {
      throw refuse(
        `of ${JSON.stringify(name)}: there is no field ${JSON.stringify(field)}; there are ${Object.keys(FIELDS[kind]).join(', ')}`,
      );
    }
    const other = given.get(field);
    if (other !== undefined)
      throw refuse(`gives ${field} twice: ${JSON.stringify(other)} and ${JSON.stringify(name)}`);
    given.set(field, name);
  };
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(mapping)) {
    if (typeof value !== 'string') {
      if (isSealed(name)) throw refuse(`gives ${name} the same in every line: a column must give it`);
      take(name, name);
    } else if (!keys.includes(name.toLowerCase())) {
      throw refuse(
        `names the column ${JSON.stringify(name)}, which the file has not; it has ${nameSome(header.map(quote))}`,
      );
    } else if (seen.has(name.toLowerCase())) throw refuse(`names the column ${JSON.stringify(name)} twice`);
    else {
      seen.add(name.toLowerCase());
      if (value !== IGNORE) take(value, name);
    }
  }
}

/** The input for guesses: the header, values of the first lines by column, and the known affiliates. */
export interface Seen {
  readonly kind: ImportKind;
  readonly header: readonly string[];
  /** The non-empty values of a column. */
  valuesOf(index: number): readonly string[];
  /** How many of the values are ids, external ids or e-mail addresses of affiliates of the account. */
  affiliatesAmong(texts: readonly string[]): Promise<Readonly<Record<(typeof REFERENCES)[number], number>>>;
}

/** Determines the field of each column: from the mapping, else by name, else by values. */
export async function planColumns(
  seen: Seen,
  mapping: Mapping,
  source: 'given' | 'saved',
): Promise<{ readonly columns: readonly PlannedColumn[]; readonly questions: readonly Question[] }> {
  const draft = new Draft(seen, mapping, source);
  draft.takeNames();
  if (seen.kind === 'affiliates') draft.takeByValues('email', isEmail);
  // without a commission, a percentage of the sale gives it
  else if (draft.isTaken('sale_amount') && !draft.isTaken('amount'))
    draft.takeByValues('rate_bps', (value) => readPercent(value) !== null);
  const questions =
    seen.kind === 'commissions' ? await decideCommissions(seen, draft) : otherKind(seen.header, draft);
  return { columns: draft.columns(), questions };
}

class Draft {
  readonly #seen: Seen;
  readonly #found: (PlannedColumn | undefined)[];
  readonly #constants: ReadonlySet<string>;
  /** The names of the columns as they are compared. */
  readonly #names: readonly string[];

  constructor(seen: Seen, mapping: Mapping, source: 'given' | 'saved') {
    this.#seen = seen;
    this.#names = seen.header.map((column) => plain(namedCurrency(column).name));
    this.#constants = new Set(Object.keys(mapping).filter((name) => typeof mapping[name] !== 'string'));
    const values = new Map(Object.entries(mapping).map(([name, value]) => [name.toLowerCase(), value]));
    this.#found = seen.header.map((column) => {
      const value = values.get(column.toLowerCase());
      if (typeof value === 'string') return { column, field: value === IGNORE ? null : value, source };
      // a constant replaces the column of the same name
      return value === undefined ? undefined : { column, field: null, source };
    });
  }

  isTaken(field: string): boolean {
    return this.#constants.has(field) || this.#found.some((one) => one?.field === field);
  }

  /** The indexes of columns that are still undecided, optionally only those with one of these names. */
  free(names?: readonly string[]): number[] {
    return this.#names.flatMap((name, index) =>
      this.#found[index] === undefined && (names === undefined || names.includes(name)) ? [index] : [],
    );
  }

  take(index: number, field: string | null, source: Source): void {
    this.#found[index] = { column: this.#seen.header[index] ?? '', field, source };
  }

  whoGives(field: string): PlannedColumn | undefined {
    return this.#found.find((one) => one?.field === field);
  }

  release(field: string): number {
    const index = this.#found.findIndex((one) => one?.field === field);
    if (index !== -1) this.#found[index] = undefined;
    return index;
  }

  /** By our own names, then by synonyms. */
  takeNames(): void {
    const fields = Object.entries(FIELDS[this.#seen.kind]);
    for (const [field, { isVague }] of fields) {
      if (isVague) continue;
      const index = this.#seen.header.findIndex((name) => name.toLowerCase() === field);
      if (index !== -1 && this.#found[index] === undefined && !this.isTaken(field))
        this.take(index, field, 'exact');
    }
    const independent = fields.filter(([, { goesWith }]) => goesWith === undefined);
    for (const [field, { synonyms, goesWith }] of new Set([...independent, ...fields])) {
      if (this.isTaken(field)) continue;
      if (goesWith && !goesWith.some((other) => this.isTaken(other))) continue;
      const index = synonyms.map((name) => this.free([name])[0]).find((place) => place !== undefined);
      if (index !== undefined) this.take(index, field, 'synonym');
    }
  }

  /** The only column whose values are all such, if no column has a matching name. */
  takeByValues(field: string, isSuch: (value: string) => boolean): void {
    if (this.isTaken(field)) return;
    const columns = this.free().filter((index) => {
      const values = this.#seen.valuesOf(index);
      return values.length > 0 && values.every(isSuch);
    });
    if (columns.length === 1) this.take(columns[0] ?? 0, field, 'values');
  }

  columns(): PlannedColumn[] {
    return this.#seen.header.map(
      (column, index) => this.#found[index] ?? { column, field: null, source: 'none' },
    );
  }
}

/** An order and a commission in every line, with nobody saying what they are: a file of commissions. */
function otherKind(header: readonly string[], draft: Draft): Question[] {
  const columnOf = (field: string) => draft.free(FIELDS.commissions[field]?.synonyms)[0];
  const columns = ['order_id', 'amount'].map((field) => header[columnOf(field) ?? -1]);
  const [order, amount] = columns;
  if (order === undefined || amount === undefined) return [];
  return [
    {
      about: 'mapping',
      message: `${JSON.stringify(order)} and ${JSON.stringify(amount)} are columns of commissions, and this imports affiliates`,
      choices: [
        { label: 'import the file as commissions', query: { kind: 'commissions' } },
        choiceOf({ [order]: IGNORE, [amount]: IGNORE }),
      ],
    },
  ];
}

/** An answer that maps columns. */
export const choiceOf = (mapping: Mapping, label?: string): Question['choices'][number] => ({
  label:
    label ??
    Object.entries(mapping)
      .map(([key, value]) => (value === IGNORE ? `leave ${JSON.stringify(key)} out` : `${key} = ${value}`))
      .join(', '),
  query: { mapping },
});

async function decideCommissions(seen: Seen, draft: Draft): Promise<Question[]> {
  const isOwn = seen.header.every((name) => Object.hasOwn(FIELDS.commissions, name.toLowerCase()));
  const questions = isOwn ? [] : decideAmount(seen, draft);
  const isSaid = REFERENCES.some((field) => ['given', 'saved'].includes(draft.whoGives(field)?.source ?? ''));
  if (!isSaid && !isOwn) questions.push(...(await decideAffiliate(seen, draft)));
  for (const index of draft.free(['email'])) {
    if (!draft.isTaken('customer_email')) draft.take(index, 'customer_email', 'synonym');
  }
  return questions;
}

/** Next to a column for the commission, `amount` might be the sale. */
function decideAmount(seen: Seen, draft: Draft): Question[] {
  const amount = draft.whoGives('amount');
  if (amount?.source !== 'exact') return [];
  const names = FIELDS.commissions.amount?.synonyms.filter((name) => name !== 'amount') ?? [];
  const [other] = draft.free(names);
  if (other === undefined) return [];
  const column = seen.header[other] ?? '';
  return [
    {
      about: 'mapping',
      message: `${JSON.stringify(amount.column)} and ${JSON.stringify(column)} could both be the commission`,
      choices: [
        choiceOf({ [column]: 'amount', [amount.column]: 'sale_amount' }),
        choiceOf({ [amount.column]: 'amount', [column]: IGNORE }),
      ],
    },
  ];
}

/**
 * The column that identifies the affiliate, by what the account knows: e-mail address before external id and our id.
 */
async function decideAffiliate(seen: Seen, draft: Draft): Promise<Question[]> {
  const constants = REFERENCES.filter((field) => draft.isTaken(field) && draft.whoGives(field) === undefined);
  if (constants.length > 0) return [];
  const emails = [draft.release('affiliate_email'), ...draft.free(['email'])].filter((index) => index !== -1);
  const ids = ['affiliate_external_id', 'affiliate_id']
    .map((field) => draft.release(field))
    .filter((index) => index !== -1);
  const sourceOf = (index: number, field: string): Source =>
    seen.header[index]?.toLowerCase() === field ? 'exact' : 'synonym';
  for (const index of emails) {
    const isNamed = plain(seen.header[index] ?? '') !== 'email';
    const known = (await seen.affiliatesAmong(seen.valuesOf(index))).affiliate_email;
    if (known > 0 || (isNamed && ids.length === 0)) {
      draft.take(index, 'affiliate_email', isNamed ? sourceOf(index, 'affiliate_email') : 'values');
      return [];
    }
  }
  const questions: Question[] = [];
  for (const index of ids) {
    const known = await seen.affiliatesAmong(seen.valuesOf(index));
    const [own, ours] = [known.affiliate_external_id, known.affiliate_id];
    if (own > 0 && ours > 0) questions.push(whoseIds(seen.header[index] ?? ''));
    else if (own > 0 || ours > 0 || index === ids.at(-1)) {
      const field = ours > 0 ? 'affiliate_id' : 'affiliate_external_id';
      draft.take(index, field, sourceOf(index, field));
      return [];
    }
  }
  return questions;
}

const whoseIds = (column: string): Question => ({
  about: 'mapping',
  message: `the numbers of ${JSON.stringify(column)} are ids of affiliates here, and also external_ids`,
  choices: ['affiliate_external_id', 'affiliate_id'].map((field) => ({
    label: field,
    query: { mapping: { [column]: field } },
  })),
});

/** The missing fields of a complete plan, as a question. */
export function missingFields(kind: ImportKind, has: ReadonlySet<string>): Question[] {
  const ask = (message: string): Question => ({ about: 'mapping', message, choices: [] });
  const questions: Question[] = [];
  if (kind === 'affiliates') {
    if (!has.has('email')) questions.push(ask('which column is the e-mail address?'));
    const number = ['iban', 'account_number'].find((field) => has.has(field));
    if (number !== undefined && !has.has('account_holder'))
      questions.push(
        ask(
          `which column is the holder of the bank account (account_holder)? Banks pay no ${number} without it`,
        ),
      );
    if (has.has('tax_id') && !has.has('tax_id_type')) {
      questions.push(ask(`what kind is the tax id: ${TAX_ID_TYPES.join(', ')} (tax_id_type)?`));
    }
    return questions;
  }
  if (!has.has('external_id') && !has.has('order_id')) {
    questions.push(ask('which column names the commission (external_id), or the order (order_id)?'));
  }
  const references = REFERENCES.filter((field) => has.has(field));
  if (references.length !== 1) {
    questions.push(ask(`which one column names the affiliate: ${REFERENCES.join(', ')}?`));
  }
  if (!has.has('amount') && !(has.has('sale_amount') && has.has('rate_bps'))) {
    questions.push(
      ask(
        'which column is the amount of the commission (amount)? Or which are the sale and the rate (sale_amount, rate_bps)?',
      ),
    );
  }
  return questions;
}
