import type { Upload } from '../../contract/uploads.ts';
import type { Tx } from '../../db/connect.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, type ImportId, idOf, uuidOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { Vault } from '../../kernel/vault.ts';
import { notify } from '../../notices/notices.ts';
import { importAffiliates } from '../affiliates/import.ts';
import type { ImportPart } from '../affiliates/import-part.ts';
import { importCommissions } from '../commissions/import.ts';
import { DESTINATION_COLUMNS, destinationPart } from '../destinations/import.ts';
import type { ImportOutcome, ImportRequest, Reading, Stage } from '../files/csv-import.ts';
import { csvLine } from '../files/csv-line.ts';
import { shown } from '../files/sealed-columns.ts';
import { lockBooks } from '../ledger/books.ts';
import { fileDigest } from '../ledger/file-digests.ts';
import { takePastPayouts } from '../payouts/past.ts';
import { TAX_COLUMNS, taxProfilePart } from '../tax-profiles/import.ts';
import { linesOf } from './dialect.ts';
import type { ImportKind } from './fields.ts';
import { headerKey, type ImportPlan, type ImportSettings, planImport } from './plan.ts';
import { readingOf } from './reading.ts';
import type { ImportRecord } from './record.ts';
import { type Counts, insertImport, noteCounts, readImport, saveMapping, takingBack } from './store.ts';

/** The input of an import. */
export interface ImportInput {
  readonly tx: Tx;
  readonly account: AccountId;
  /** The public id of the actor. */
  readonly actor: string;
  readonly upload: Upload;
  /** Seals bank accounts and tax ids. */
  readonly vault: Vault;
  readonly settings: ImportSettings;
  readonly fileName: string | null;
  /** Is told of each stage as it begins. */
  readonly enter: (stage: Stage) => Promise<void>;
}

type Importer = (
  input: Pick<ImportInput, 'tx' | 'account' | 'upload' | 'vault'>,
  request: ImportRequest,
) => Promise<ImportOutcome>;

const importers: Readonly<Record<ImportKind, Importer>> = {
  affiliates: async ({ tx, account, upload, vault }, request) => {
    const parts = await partsOf(tx, { account, vault }, request.reading);
    return importAffiliates(tx, account, upload, request, parts);
  },
  commissions: ({ tx, account, upload }, request) => importCommissions(tx, account, upload, request),
};

/** The records beside affiliates that a file may set: of our own shape any, of another those it has columns for. */
async function partsOf(
  tx: Tx,
  caller: { readonly account: AccountId; readonly vault: Vault },
  reading: Reading | null,
): Promise<ImportPart[]> {
  const has = (columns: readonly string[]) =>
    reading === null || columns.some((column) => reading.columns.includes(column));
  return [
    ...(has(DESTINATION_COLUMNS) ? [await destinationPart(tx, caller)] : []),
    ...(has(TAX_COLUMNS) ? [await taxProfilePart(tx, caller)] : []),
  ];
}

/** The result of an import, or of its dry run. */
export interface Imported {
  readonly id: ImportId | null;
  readonly outcome: ImportOutcome;
  /** Past payouts that were created. */
  readonly payouts: number;
}

/** How the lines of a file are read: by a plan, or in our own format. */
interface Way {
  readonly kind: ImportKind;
  readonly reading: Reading | null;
  readonly zone: string;
  readonly described: {
    readonly dialect: object;
    readonly mapping: ImportPlan['mapping'];
    readonly guessed: readonly string[];
  };
}

interface RunOptions {
  readonly dryRun: boolean;
  readonly partial: boolean;
  readonly mostBad?: number;
}

/** Imports a file; a dry run is rolled back. */
async function run(input: Omit<ImportInput, 'settings'>, way: Way, options: RunOptions): Promise<Imported> {
  if (options.dryRun)
    return takingBack(input.tx, async () => ({ ...(await write(input, way, options)), id: null }));
  const imported = await write(input, way, options);
  const data = { file: input.fileName, lines: imported.outcome.lines };
  await notify(input.tx, [
    { account: input.account, kind: 'import_done', subject: publicId(imported.id), data },
  ]);
  return imported;
}

async function write(input: Omit<ImportInput, 'settings'>, way: Way, options: RunOptions): Promise<Imported> {
  const { tx, account, actor, upload, vault, enter } = input;
  const hasHistory = way.reading?.columns.includes('paid_at') ?? false;
  // lock order: books before commissions
  if (hasHistory) await lockBooks(tx, account);
  const id = await insertImport(tx, account, {
    kind: way.kind,
    fileName: input.fileName,
    bytes: upload.bytes,
    digest: await fileDigest(tx, vault, account, upload.digest),
    ...way.described,
    actor,
  });
  const request = { ...options, reading: way.reading, importId: id, enter };
  const outcome = await importers[way.kind](input, request);
  const payouts = hasHistory
    ? await takePastPayouts(tx, account, { importId: id, actor, zone: way.zone })
    : 0;
  await noteCounts(tx, account, id, countsOf(outcome, payouts));
  return { id, outcome, payouts };
}

/** The counts of lines, as reported and stored. */
export const countsOf = ({ bad, methodsSet: _, ...outcome }: ImportOutcome, payouts: number): Counts => ({
  ...outcome,
  failed: bad.count,
  payouts,
});

/** Imports a file in our own format. Throws `invalid_file`, and `invalid_lines` unless `partial` or `dryRun`. */
export async function importPlain(
  input: Omit<ImportInput, 'settings'> & { readonly kind: ImportKind },
  options: RunOptions,
): Promise<Imported> {
  const described = {
    dialect: {
      encoding: 'utf-8',
      separator: 'comma',
      line_end: null,
      decimal: 'point',
      dates: 'iso',
      last_line: 'ended',
    },
    mapping: {},
    guessed: [],
  };
  return run(input, { kind: input.kind, reading: null, zone: 'UTC', described }, options);
}

const wayOf = (plan: ImportPlan): Way => ({
  kind: plan.rules.kind,
  reading: readingOf(plan.rules),
  zone: plan.rules.zone,
  described: { dialect: dialectOf(plan), mapping: plan.mapping, guessed: plan.guessed },
});

/** The dialect of a file, as reported and stored. */
export const dialectOf = ({ shape, rules }: ImportPlan) => ({
  encoding: rules.dialect.encoding,
  separator: rules.dialect.separator,
  line_end: shape.lineEnd,
  decimal: rules.decimal,
  dates: rules.dates,
  last_line: rules.dialect.isWhole ? ('open' as const) : ('ended' as const),
  ...(Object.keys(rules.values).length === 0 ? {} : { values: rules.values }),
});

async function planOf({ tx, account, upload, settings, enter }: ImportInput): Promise<ImportPlan> {
  await enter('looking');
  return planImport(tx, account, upload, settings);
}

/** What a file looks like and what importing it would do; changes nothing. */
export async function previewImport(
  input: ImportInput,
): Promise<{ readonly plan: ImportPlan; readonly imported: Imported | null }> {
  const plan = await planOf(input);
  if (plan.questions.length > 0) return { plan, imported: null };
  return { plan, imported: await run(input, wayOf(plan), { dryRun: true, partial: true }) };
}

/**
 * Imports a file of any layout. Throws `import_unclear` while a question is open, `import_not_confirmed` for guesses
 * that are not accepted, and as `importPlain`.
 */
export async function importFile(
  input: ImportInput,
  options: RunOptions & { readonly acceptGuesses: boolean; readonly saveAs: string | null },
): Promise<{ readonly plan: ImportPlan; readonly imported: Imported }> {
  const { tx, account, settings } = input;
  const plan = await planOf(input);
  refuseOpen(plan);
  if (plan.guessed.length > 0 && !options.acceptGuesses) {
    throw fail(
      'import_not_confirmed',
      `the file would be read so: ${plan.guessed.join('; ')}. Accept that with accept_guesses=true, or say what it is`,
    );
  }
  const imported = await run(input, wayOf(plan), options);
  if (options.saveAs !== null && !options.dryRun) {
    const { decimal, dates, paid, values } = plan.rules;
    const dialect = {
      encoding: plan.rules.dialect.encoding,
      separator: plan.rules.dialect.separator,
      decimal,
      dates,
      paid,
      ...(Object.keys(values).length === 0 ? {} : { values: JSON.stringify(values) }),
      ...(plan.settled.status_columns === undefined ? {} : { status_columns: plan.settled.status_columns }),
      ...(plan.settled.totals === undefined ? {} : { totals: plan.settled.totals }),
    };
    const saved = { name: options.saveAs, mapping: plan.mapping, dialect };
    await saveMapping(tx, account, settings.kind, headerKey(plan.shape.header), saved);
  }
  return { plan, imported };
}

function refuseOpen({ questions }: ImportPlan): void {
  if (questions.length === 0) return;
  const asked = questions.map(({ message, choices }) => {
    const answers = choices.map(({ label, query }) =>
      Object.keys(query).length === 0 ? label : `${label}: ${JSON.stringify(query)}`,
    );
    return answers.length === 0 ? message : `${message} (${answers.join(' or ')})`;
  });
  throw fail('import_unclear', asked.join('; '));
}

const MOST_BAD = 100_000;

/**
 * The bad lines of a file as CSV, at most 100,000: the line number, the errors, and the original line. Throws as
 * `importFile`.
 */
export async function badLinesOf(input: ImportInput): Promise<Iterable<string>> {
  const plan = await planOf(input);
  refuseOpen(plan);
  const { outcome } = await run(input, wayOf(plan), { dryRun: true, partial: true, mostBad: MOST_BAD });
  const wrong = new Map(outcome.bad.each());
  const text: string[] = [csvLine(['line', 'error', ...plan.shape.header])];
  for await (const { lines } of linesOf(input.upload, plan.rules.dialect)) {
    for (const { line, cells } of lines) {
      const messages = wrong.get(line);
      if (messages !== undefined) text.push(csvLine([String(line), messages.join('; '), ...cells]));
    }
  }
  return text;
}

/** The first lines of a file as parsed: the fields of each. Of those that are sealed the end only. */
export function firstRows(
  plan: ImportPlan,
  most: number,
): { line: number; fields: Record<string, string | null> }[] {
  const read = readingOf(plan.rules).under(plan.shape.header);
  return plan.shape.sample.slice(0, most).map(({ line, cells }) => {
    const fields = Object.entries(read(cells, []) ?? {});
    return {
      line,
      fields: Object.fromEntries(fields.map(([name, text]) => [name, text && shown(name, text)])),
    };
  });
}

/** One import. Throws `resource_missing`. */
export async function getImport(
  db: Parameters<typeof readImport>[0],
  account: AccountId,
  id: string,
): Promise<Json<ImportRecord>> {
  const uuid = uuidOf('imp', id);
  const json = uuid === null ? null : await readImport(db, account, uuid);
  if (json === null) throw fail('resource_missing', 'no such import');
  return json;
}

/** The public id of an import, or null. */
export const publicId = (id: ImportId | null) => (id === null ? null : idOf('imp', id));
