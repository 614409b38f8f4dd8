import { randomUUID } from 'node:crypto';
import type { Upload } from '../../contract/uploads.ts';
import type { Tx } from '../../db/database.ts';
import { sealingKey } from '../../db/secret-key.ts';
import { fail } from '../../kernel/errors.ts';
import { type AccountId, type ImportId, idOf, uuidOf } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { openUnnamedFile } from '../../kernel/unnamed-file.ts';
import type { Vault } from '../../kernel/vault.ts';
import { notify } from '../../notices/notices.ts';
import { zoneOf } from '../../people/accounts/service.ts';
import { type SharedFile, sharedFile } from '../../threads/file-pieces.ts';
import type { Threads } from '../../threads/pool.ts';
import { importAffiliates } from '../affiliates/import.ts';
import { importCommissions } from '../commissions/import.ts';
import { defaultCurrency } from '../commissions/service.ts';
import { destinationPart } from '../destinations/import.ts';
import type { ImportOutcome, ImportRequest, LineReader, ReaderSettings, Stage } from '../files/csv-stage.ts';
import { lockBooks } from '../ledger/books.ts';
import { fileDigest } from '../ledger/file-digests.ts';
import { createImportedPayouts } from '../payouts/imported-payouts.ts';
import { taxProfilePart } from '../tax-profiles/import.ts';
import { looksLikeWorkbook, type Workbook } from '../workbooks/workbook.ts';
import type { ImportKind } from './fields.ts';
import { headerKey, type ImportPlan, mappingName } from './plan.ts';
import { columnsOf, type Rules } from './reading.ts';
import type { ImportRecord } from './record.ts';
import type { ImportSettings } from './settings.ts';
import {
  affiliatesAmong,
  type Counts,
  findMapping,
  insertImport,
  mappingOf,
  noteCounts,
  readImport,
  saveMapping,
  takingBack,
} from './store.ts';
import {
  BAD_LINES,
  PLAN,
  type PlanAnswer,
  type PlanQuestion,
  READ,
  type ReadInput,
  WRITE_SHEET,
} from './tasks.ts';

/** The input of an import. */
export interface ImportInput {
  readonly tx: Tx;
  readonly account: AccountId;
  /** The public id of the actor. */
  readonly actor: string;
  readonly upload: Upload;
  /** Read the file. */
  readonly threads: Threads;
  /** Seals bank accounts and tax ids. */
  readonly vault: Vault;
  readonly settings: ImportSettings;
  readonly fileName: string | null;
  /** Called as each stage begins. */
  readonly enter: (stage: Stage) => Promise<void>;
}

/** An import, and the CSV file to read: the upload, or a sheet of it. */
interface ReadableInput extends ImportInput {
  readonly file: SharedFile;
  readonly workbook: Workbook | null;
}

type Caller = Pick<ReadableInput, 'tx' | 'account' | 'file' | 'threads' | 'vault'>;

/**
 * Calls `work` with the CSV file to read. The sheet of a workbook is written to a file that exists until then. Throws
 * `invalid_file` for a workbook that cannot be read.
 */
async function withFile<Result>(
  input: ImportInput,
  work: (input: ReadableInput) => Promise<Result>,
): Promise<Result> {
  const { tx, account, upload, threads, settings, enter } = input;
  const file = sharedFile(upload);
  await enter('looking');
  if (!looksLikeWorkbook(file)) return work({ ...input, file, workbook: null });
  const target = await openUnnamedFile(`sheet-${randomUUID()}`);
  try {
    const name = mappingName(settings.mapping);
    const named = name === null ? null : await mappingOf(tx, account, settings.kind, name);
    const sheet = settings.sheet ?? named?.dialect.sheet ?? null;
    const workbook = await threads.run(WRITE_SHEET, { file, target: target.fd, sheet }, { account });
    const { size } = await target.stat();
    return await work({ ...input, file: { bytes: size, descriptor: target.fd }, workbook });
  } finally {
    await target.close();
  }
}

/** Imports a file of a kind, of our own layout or of another. */
async function importLines(
  caller: Caller,
  { kind, rules, provided }: FileFormat,
  request: Omit<ImportRequest, 'read' | 'provided'>,
): Promise<ImportOutcome> {
  const { tx, account } = caller;
  const settings = await settingsOf(tx, account);
  const read = (parts: ReadInput['parts']): ImportRequest => ({
    ...request,
    provided,
    read: lineReader(caller, { kind, rules, parts }),
  });
  if (kind === 'commissions') return importCommissions(tx, account, read(null), settings);
  // a file in our own layout may set any record of an affiliate; another file only those it has columns for
  const has = ({ columns }: { readonly columns: readonly string[] }) =>
    provided === null || columns.some((column) => provided.includes(column));
  const [destination, tax] = [has(destinationPart), has(taxProfilePart)];
  const parts = [...(destination ? [destinationPart] : []), ...(tax ? [taxProfilePart] : [])];
  const sealing = parts.length === 0 ? null : { destination, tax, key: await keyOf(caller) };
  return importAffiliates(tx, account, read(sealing), settings, parts);
}

async function settingsOf(tx: Tx, account: AccountId): Promise<ReaderSettings> {
  return { zone: await zoneOf(tx, account), currency: await defaultCurrency(tx, account) };
}

async function keyOf({ tx, account, vault }: Caller) {
  const fingerprint = await sealingKey(tx);
  return { account, fingerprint, secret: vault.secretOf(fingerprint) };
}

/** Reads the lines of a file in a thread. */
const lineReader =
  ({ account, file, threads }: Caller, how: Pick<ReadInput, 'kind' | 'rules' | 'parts'>): LineReader =>
  (settings, mostBad, take) =>
    threads.run(
      READ,
      { ...how, file, settings, mostBad },
      {
        account,
        answer: async (rows) => {
          await take(rows);
          return null;
        },
      },
    );

/** The result of an import, or of its dry run. */
export interface Imported {
  readonly id: ImportId | null;
  readonly outcome: ImportOutcome;
  /** Past payouts that were created. */
  readonly payouts: number;
}

/** How the lines of a file are read: by a plan, or in our own format. */
interface FileFormat {
  readonly kind: ImportKind;
  /** null = our own format. */
  readonly rules: Rules | null;
  /** The columns of our format that a file of another layout provides; null for our own. */
  readonly provided: readonly string[] | null;
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
async function run(
  input: Omit<ReadableInput, 'settings' | 'workbook'>,
  format: FileFormat,
  options: RunOptions,
): Promise<Imported> {
  if (options.dryRun)
    return takingBack(input.tx, async () => ({ ...(await write(input, format, options)), id: null }));
  const imported = await write(input, format, options);
  const data = { file: input.fileName, lines: imported.outcome.lines };
  await notify(input.tx, [
    { account: input.account, kind: 'import_done', subject: publicId(imported.id), data },
  ]);
  return imported;
}

async function write(
  input: Omit<ReadableInput, 'settings' | 'workbook'>,
  format: FileFormat,
  options: RunOptions,
): Promise<Imported> {
  const { tx, account, actor, upload, vault, enter } = input;
  const hasHistory = format.provided?.includes('paid_at') ?? false;
  // lock order: books before commissions
  if (hasHistory) await lockBooks(tx, account);
  const id = await insertImport(tx, account, {
    kind: format.kind,
    fileName: input.fileName,
    bytes: upload.bytes,
    digest: await fileDigest(tx, vault, account, upload.digest),
    ...format.described,
    actor,
  });
  const outcome = await importLines(input, format, { ...options, importId: id, enter });
  const payouts = hasHistory
    ? await createImportedPayouts(tx, account, { importId: id, actor, zone: format.zone })
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
  const format: FileFormat = { kind: input.kind, rules: null, provided: null, zone: 'UTC', described };
  return run({ ...input, file: sharedFile(input.upload) }, format, options);
}

const formatOf = (plan: ImportPlan): FileFormat => ({
  kind: plan.rules.kind,
  rules: plan.rules,
  provided: columnsOf(plan.rules),
  zone: plan.rules.zone,
  described: { dialect: dialectOf(plan), mapping: plan.mapping, guessed: plan.guessed },
});

/** The dialect of a file, as reported and stored. */
export const dialectOf = ({ shape, rules, workbook }: ImportPlan) => ({
  encoding: rules.dialect.encoding,
  separator: rules.dialect.separator,
  line_end: shape.lineEnd,
  decimal: rules.decimal,
  dates: rules.dates,
  last_line: rules.dialect.isWhole ? ('open' as const) : ('ended' as const),
  header_row: shape.headerLine,
  ...(workbook === null ? {} : { sheet: workbook.sheet }),
  ...(Object.keys(rules.values).length === 0 ? {} : { values: rules.values }),
});

async function planOf(input: ReadableInput): Promise<ImportPlan> {
  const { tx, account, file, workbook, threads, settings } = input;
  const answer = async (question: PlanQuestion): Promise<PlanAnswer> => {
    switch (question.about) {
      case 'settings':
        return settingsOf(tx, account);
      case 'named':
        return mappingOf(tx, account, settings.kind, question.name);
      case 'saved':
        return findMapping(tx, account, settings.kind, question.header);
      case 'affiliates':
        return affiliatesAmong(tx, account, question.among);
    }
  };
  return threads.run(PLAN, { file, workbook, settings }, { account, answer });
}

/** What a file looks like and what importing it would do; changes nothing. */
export function previewImport(
  input: ImportInput,
): Promise<{ readonly plan: ImportPlan; readonly imported: Imported | null }> {
  return withFile(input, async (readable) => {
    const plan = await planOf(readable);
    if (plan.questions.length > 0) return { plan, imported: null };
    return { plan, imported: await run(readable, formatOf(plan), { dryRun: true, partial: true }) };
  });
}

/**
 * Imports a file of any layout. Throws `import_unclear` while a question is open, `import_not_confirmed` for guesses
 * that are not accepted, and as `importPlain`.
 */
export const importFile = (
  input: ImportInput,
  options: FileOptions,
): Promise<{ readonly plan: ImportPlan; readonly imported: Imported }> =>
  withFile(input, (readable) => importReadable(readable, options));

interface FileOptions extends RunOptions {
  readonly acceptGuesses: boolean;
  readonly saveAs: string | null;
}

async function importReadable(input: ReadableInput, options: FileOptions) {
  const { tx, account, settings } = input;
  const plan = await planOf(input);
  refuseOpen(plan);
  if (plan.guessed.length > 0 && !options.acceptGuesses) {
    throw fail(
      'import_not_confirmed',
      `the file would be read so: ${plan.guessed.join('; ')}. Accept that with accept_guesses=true, or say what it is`,
    );
  }
  const imported = await run(input, formatOf(plan), options);
  if (options.saveAs !== null && !options.dryRun) {
    const { decimal, dates, paid, values } = plan.rules;
    const { sheet, header_row, status_columns, totals } = plan.settled;
    const dialect = {
      encoding: plan.rules.dialect.encoding,
      separator: plan.rules.dialect.separator,
      decimal,
      dates,
      paid,
      ...(Object.keys(values).length === 0 ? {} : { values: JSON.stringify(values) }),
      sheet,
      header_row,
      status_columns,
      totals,
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
/** The event loop can send this many to a thread at once. */
const BAD_AT_ONCE = 1000;

/**
 * The bad lines of a file as CSV, at most 100,000: the line number, the errors, and the original line. Throws as
 * `importFile`.
 */
export const badLinesOf = (input: ImportInput): Promise<string> => withFile(input, badLinesIn);

async function badLinesIn(input: ReadableInput): Promise<string> {
  const plan = await planOf(input);
  refuseOpen(plan);
  const { outcome } = await run(input, formatOf(plan), { dryRun: true, partial: true, mostBad: MOST_BAD });
  const { lines } = outcome.bad.found;
  let at = 0;
  const next = async () => {
    at += BAD_AT_ONCE;
    return lines.slice(at - BAD_AT_ONCE, at);
  };
  return input.threads.run(
    BAD_LINES,
    { file: input.file, rules: plan.rules, header: plan.shape.header },
    { account: input.account, answer: next },
  );
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
