import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import {
  ApiError,
  type Client,
  type CreateImportQuery,
  type ImportPreview,
  type ImportReport,
  type UploadSource,
} from '../../client/client.ts';
import { askLine, type Cli, confirm } from '../command/cli.ts';
import { refuseExisting, writeFiles } from '../command/csv-files.ts';
import { CommandError, UsageError } from '../command/errors.ts';
import { readPairs } from '../command/pairs.ts';
import { withClient } from '../command/session.ts';
import { openSource } from '../command/source-file.ts';
import { onInterrupt } from '../terminal/interrupt.ts';
import { startProgress } from '../terminal/progress.ts';
import { printable } from '../terminal/table.ts';
import { describePreview, describeReport, stageText } from './view.ts';

export type ImportKind = 'affiliates' | 'commissions';

/** The options of `payhook affiliates import` and `payhook commissions import`. */
export interface ImportOptions {
  readonly sheet?: string;
  readonly headerRow?: string;
  readonly map?: readonly string[];
  readonly value?: readonly string[];
  readonly ignoreStatus?: boolean;
  readonly totals?: string;
  readonly dialect?: readonly string[];
  readonly yes?: boolean;
  readonly save?: string;
  readonly dryRun?: boolean;
  readonly partial?: boolean;
  readonly bad?: string;
  readonly paid?: string;
}

/** The parameters about a file in every request. */
type Settings = Pick<
  CreateImportQuery,
  | 'kind'
  | 'sheet'
  | 'header_row'
  | 'mapping'
  | 'values'
  | 'status_columns'
  | 'totals'
  | 'encoding'
  | 'separator'
  | 'decimal'
  | 'dates'
  | 'paid'
  | 'file_name'
>;

/** Imports a file. Guesses are shown and confirmed first. Returns the exit code. */
export async function runImport(
  cli: Cli,
  kind: ImportKind,
  path: string,
  options: ImportOptions,
): Promise<number> {
  const { terminal } = cli;
  const settings = settingsOf(kind, path, options);
  if (options.bad !== undefined) refuseExisting(options.bad);
  const given = openSource(path);
  const { source, remove } = given.repeatable
    ? { source: given, remove: () => undefined }
    : await kept(given);
  try {
    const report = await withClient(cli, (client) =>
      new Import(cli, client, path, source, options).run(settings),
    );
    terminal.result(report, () => describeReport(report, terminal));
    return report.failed > 0 ? 1 : 0;
  } finally {
    remove();
  }
}

const DIALECT = ['encoding', 'separator', 'decimal', 'dates'];

function settingsOf(kind: ImportKind, path: string, options: ImportOptions): Settings {
  const dialect =
    readPairs(
      '--dialect',
      options.dialect?.flatMap((text) => text.split(',')),
      '=',
    ) ?? {};
  const odd = Object.keys(dialect).find((name) => !DIALECT.includes(name));
  if (odd !== undefined) throw new UsageError(`--dialect takes ${DIALECT.join(', ')}, not ${odd}`);
  // the server validates the values
  return {
    kind,
    sheet: options.sheet,
    header_row: headerRowOf(options.headerRow),
    ...dialect,
    mapping: mappingOf(options.map),
    values: valuesOf(options.value),
    status_columns: options.ignoreStatus ? 'ignore' : undefined,
    totals: options.totals as Settings['totals'],
    paid: options.paid as Settings['paid'],
    ...(path === '-' ? {} : { file_name: basename(path).slice(0, 255) }),
  };
}

function headerRowOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,6}$/.test(text))
    throw new UsageError(`--header-row must be the number of a line, not ${text}`);
  return Number(text);
}

/** The mapping of the options as JSON, or the name of a saved one. */
function mappingOf(texts: readonly string[] | undefined): string | undefined {
  if (texts === undefined) return undefined;
  const [only = ''] = texts;
  if (texts.length === 1 && !only.includes('=')) return only;
  const mapping: Record<string, string | { constant: string }> = {};
  for (const text of texts) {
    const constant = /^([a-z_]+):=(.*)$/s.exec(text);
    // the name of a column may contain an equals sign, that of a field does not
    const at = text.lastIndexOf('=');
    const name = constant?.[1] ?? text.slice(0, Math.max(at, 0)).trim();
    if (name === '') throw new UsageError(`--map must look like 'Their column=our_field', not ${text}`);
    if (Object.hasOwn(mapping, name)) throw new UsageError(`--map names ${name} twice`);
    mapping[name] = constant ? { constant: constant[2] ?? '' } : text.slice(at + 1).trim();
  }
  return JSON.stringify(mapping);
}

type Values = Record<string, Record<string, string>>;

/** The meanings of words of the options as JSON. */
function valuesOf(texts: readonly string[] | undefined): string | undefined {
  if (texts === undefined) return undefined;
  let values: Values = {};
  for (const text of texts) {
    const [, field, word, meaning] = /^([a-z_]+):(.+)=([^=]*)$/s.exec(text) ?? [];
    if (field === undefined || word === undefined || meaning === undefined)
      throw new UsageError(`--value must look like status:gesperrt=inactive, not ${text}`);
    values = mergedValues(values, { [field]: { [word.trim()]: meaning.trim() } });
  }
  return JSON.stringify(values);
}

const mergedValues = (values: Values, over: Values): Values => ({
  ...values,
  ...Object.fromEntries(
    Object.entries(over).map(([field, words]) => [field, { ...values[field], ...words }]),
  ),
});

/** A file that is sent again after every decision. */
class Import {
  readonly #cli: Cli;
  readonly #client: Client;
  readonly #path: string;
  readonly #source: UploadSource;
  readonly #options: ImportOptions;

  constructor(cli: Cli, client: Client, path: string, source: UploadSource, options: ImportOptions) {
    this.#cli = cli;
    this.#client = client;
    this.#path = path;
    this.#source = source;
    this.#options = options;
  }

  async run(settings: Settings): Promise<ImportReport> {
    const { yes = false } = this.#options;
    try {
      return await this.#create(settings, yes);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.reason === 'invalid_lines') await this.#writeBad(settings);
      if (error.reason !== 'import_not_confirmed' && error.reason !== 'import_unclear') throw error;
      return this.#ask(settings, error);
    }
  }

  async #create(settings: Settings, accept_guesses: boolean): Promise<ImportReport> {
    const { dryRun: dry_run = false, partial = false, save: save_as } = this.#options;
    const query = { ...settings, dry_run, partial, accept_guesses, save_as };
    const report = await this.#send((source, progress_key) =>
      this.#client.imports.create(source, { ...query, progress_key }),
    );
    if (report.failed > 0) await this.#writeBad(settings);
    return report;
  }

  /** Shows how the file would be read, asks the open questions and imports it. */
  async #ask(settings: Settings, refusal: ApiError): Promise<ImportReport> {
    const { terminal } = this.#cli;
    const preview = await this.#send((source, progress_key) =>
      this.#client.imports.preview(source, { ...settings, progress_key }),
    );
    if (!terminal.json) process.stderr.write(describePreview(preview, terminal));
    if (!terminal.interactive) throw refused(preview, refusal);
    let answered = settings;
    for (const question of preview.questions)
      answered = { ...answered, ...(await answerTo(question, preview, answered)) };
    if (preview.questions.length === 0) await confirm(terminal, 'Import it this way?', this.#options.yes);
    // repeats until an answer leaves no question open
    const isSettled = preview.questions.length === 0 || this.#options.yes === true;
    try {
      return await this.#create(answered, isSettled);
    } catch (error) {
      if (error instanceof ApiError && error.reason === 'import_not_confirmed')
        return this.#ask(answered, error);
      throw error;
    }
  }

  async #writeBad(settings: Settings): Promise<void> {
    const { bad } = this.#options;
    if (bad === undefined) return;
    const download = await this.#send((source, progress_key) =>
      this.#client.imports.badLines(source, { ...settings, progress_key }),
    );
    await writeFiles({}, ({ write }) => write(bad, download.stream));
    this.#cli.terminal.note(`The bad lines are in ${bad}.`);
  }

  async #send<Result>(upload: (source: UploadSource, key: string) => Promise<Result>): Promise<Result> {
    const key = randomUUID();
    const progress = await startProgress(this.#cli.terminal, {
      what: this.#path === '-' ? 'standard input' : this.#path,
      bytes: this.#source.bytes,
      askStage: async () => stageText(await this.#client.imports.progress({ key })),
    });
    try {
      return await upload({ ...this.#source, onProgress: progress.update }, key);
    } finally {
      progress.stop();
    }
  }
}

/** The refusal in terms of this program's options. */
function refused({ questions }: ImportPreview, { message }: ApiError): Error {
  const choices = questions.flatMap((question) =>
    [countryChoice(question, 'XX') ?? [], question.choices].flat(),
  );
  const options = choices.flatMap(({ query }) =>
    hasOption(query) ? Object.entries(query).map(([name, value]) => optionFor(name, value)) : [],
  );
  const others = choices.flatMap(({ label, query }) => (hasOption(query) ? [] : [label]));
  if (questions.length === 0)
    return new CommandError(`${message.split('. Accept')[0]}: accept it with --yes`, { code: 'bad_request' });
  const how = options.length === 0 ? "--map 'Their column=our_field'" : options.join(' or ');
  const asked = questions.map((question) => question.message).join('; ');
  const say = asked.endsWith('?') ? ' Say' : ': say';
  return new CommandError([`${asked}${say} it with ${how}`, ...others].join(', or '), {
    code: 'bad_request',
  });
}

/** Whether options of this command give the answer; the kind of the file is that of the command. */
const hasOption = (query: Question['choices'][number]['query']): boolean =>
  Object.keys(query).length > 0 && query.kind === undefined;

function optionFor(name: string, value: unknown): string {
  if (name === 'mapping') {
    return Object.entries(value as Record<string, string>)
      .map(([column, field]) => `--map '${printable(column)}=${field}'`)
      .join(' ');
  }
  if (name === 'values') {
    return Object.entries(value as Values)
      .flatMap(([field, words]) =>
        Object.entries(words).map(([word, means]) => `--value '${field}:${printable(word)}=${means}'`),
      )
      .join(' ');
  }
  if (name === 'status_columns') return '--ignore-status';
  return name === 'paid' || name === 'totals' ? `--${name} ${value}` : `--dialect ${name}=${value}`;
}

type Question = ImportPreview['questions'][number];

/** Asks one question. Returns the parameters for the next request. */
async function answerTo(
  question: Question,
  preview: ImportPreview,
  answered: Settings,
): Promise<Partial<Settings>> {
  const { message, choices } = question;
  const real = choices.filter(({ query }) => hasOption(query));
  if (real.length === 0) throw new CommandError(`${message} Specify it with --map`, { code: 'bad_request' });
  const list = real.map(({ label }, index) => `  ${index + 1}  ${printable(label)}\n`).join('');
  const ownAnswer = countryChoice(question, 'XX') === undefined ? '' : ' or two letters';
  const answer = (
    await askLine(`${printable(message)}\n${list}Which? [1-${real.length}]${ownAnswer} `)
  ).trim();
  const chosen = real[Number(answer) - 1] ?? countryChoice(question, answer);
  if (chosen === undefined) throw new CommandError('nothing was done');
  const { mapping, values, ...query } = chosen.query as { mapping?: object; values?: Values };
  return {
    ...query,
    ...(mapping && { mapping: JSON.stringify({ ...saidMapping(preview, answered), ...mapping }) }),
    ...(values && { values: JSON.stringify(mergedValues(JSON.parse(answered.values ?? '{}'), values)) }),
  };
}

/** The mapping so far: the user's choices, or a saved mapping as a whole. Other columns stay open. */
function saidMapping({ mapping, mapping_name }: ImportPreview, { mapping: said }: Settings): object {
  if (said?.trimStart().startsWith('{')) return JSON.parse(said);
  return mapping_name === null ? {} : mapping;
}

/** The answer that a word means the country with these two letters; undefined if the question is not about a country. */
function countryChoice(
  { about, choices }: Question,
  letters: string,
): Question['choices'][number] | undefined {
  const [refusing, ...others] = choices;
  const values = refusing?.query.values as Values | undefined;
  if (about !== 'values' || others.length > 0 || !values || !/^[A-Za-z]{2}$/.test(letters)) return undefined;
  const named = Object.entries(values).map(([field, words]) => [
    field,
    Object.fromEntries(Object.keys(words).map((word) => [word, letters])),
  ]);
  return { label: letters, query: { values: Object.fromEntries(named) } };
}

/** Copies input that can be read only once to a file, until `remove`. */
async function kept(given: UploadSource): Promise<{ source: UploadSource; remove: () => void }> {
  const folder = mkdtempSync(join(tmpdir(), 'payhook-import-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const forget = onInterrupt(remove);
  const file = join(folder, 'file');
  try {
    const target = createWriteStream(file, { mode: 0o600 });
    await pipeline(given.open(), target);
    const source = { bytes: target.bytesWritten, repeatable: true, open: () => createReadStream(file) };
    return {
      source,
      remove: () => {
        forget();
        remove();
      },
    };
  } catch (error) {
    forget();
    remove();
    throw error;
  }
}
