import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { amount, currencyCode, nullable, strict, timestamp } from '../../contract/schemas.ts';
import { CSV_ENCODINGS, CSV_SEPARATORS, type CsvSeparator } from '../../kernel/csv-dialect.ts';
import { digestField, shownDigest } from '../ledger/file-digests.ts';
import { LINE_ENDS } from './dialect.ts';
import { IMPORT_KINDS } from './fields.ts';
import { ABOUT, SOURCES } from './mapping.ts';
import { VALUE_SOURCES } from './meanings.ts';
import { progressKey } from './progress.ts';
import { PAID } from './reading.ts';
import { DATE_FORMS, DECIMALS } from './values.ts';

const separators = Object.keys(CSV_SEPARATORS) as CsvSeparator[];

/** What a request may specify about a file; the rest is guessed. */
export const settings = {
  kind: Type.Enum([...IMPORT_KINDS], { examples: ['commissions'] }),
  mapping: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 12_000,
      description:
        'JSON: `{"Column of the file": "field"}`, `"ignore"` for a column to leave out, and `{"field": {"constant": "usd"}}` for ' +
        'the value of every line; or the name of a mapping that was saved. Columns it does not name are guessed',
    }),
  ),
  sheet: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'the name of a sheet of a workbook; default the first visible one that is not empty',
    }),
  ),
  header_row: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_048_576,
      description: 'the line that names the columns; lines above it are left out',
    }),
  ),
  encoding: Type.Optional(Type.Enum([...CSV_ENCODINGS])),
  separator: Type.Optional(Type.Enum(separators)),
  decimal: Type.Optional(Type.Enum([...DECIMALS], { description: 'the decimal sign of amounts' })),
  dates: Type.Optional(
    Type.Enum([...DATE_FORMS], { description: 'the order of `01/09/2026`: year, day or month first' }),
  ),
  paid: Type.Optional(
    Type.Enum([...PAID], {
      description: 'lines that were paid elsewhere: import them as paid, or leave them out; default import',
    }),
  ),
  values: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: 8000,
      description:
        'JSON: what the words of the file mean, by field: `{"status": {"gesperrt": "inactive"}, "country": {"Hellas": "GR"}}`; ' +
        '`"refuse"` makes the lines with a word bad. Common words in several languages need not be said',
    }),
  ),
  status_columns: Type.Optional(
    Type.Enum(['ignore'], {
      description: 'leave out columns of status and readiness, which is a question otherwise',
    }),
  ),
  totals: Type.Optional(
    Type.Enum(['import', 'skip'], {
      description:
        'lines that look like totals, which are a question otherwise: read them as any line, or leave them out',
    }),
  ),
  progress_key: Type.Optional(progressKey),
  file_name: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'shown in the record' })),
};

const fileFields = { name: nullable(Type.String()), bytes: Type.Integer() };
const file = strict(fileFields, { title: 'UploadedFile' });
const importedFile = strict({ ...fileFields, digest: digestField }, { title: 'ImportedFile' });

const values = Type.Record(Type.String(), Type.Record(Type.String(), Type.String()), {
  description: 'what was said that words of the file mean, by field',
});

const dialect = strict(
  {
    encoding: Type.Enum([...CSV_ENCODINGS]),
    separator: Type.Enum(separators),
    line_end: nullable(Type.Enum([...LINE_ENDS])),
    decimal: Type.Enum([...DECIMALS]),
    dates: Type.Enum([...DATE_FORMS]),
    last_line: Type.Enum(['ended', 'open'], {
      description: 'open: it has no line end, and the file was said to be whole',
    }),
    header_row: Type.Optional(Type.Integer({ description: 'the line that names the columns' })),
    sheet: Type.Optional(Type.String({ description: 'of a workbook' })),
    values: Type.Optional(values),
  },
  { title: 'ImportDialect' },
);

const mapping = Type.Record(Type.String(), Type.Union([Type.String(), strict({ constant: Type.String() })]), {
  title: 'ColumnMapping',
  description: 'column to field, or to `ignore`; field to a constant',
});

const guessed = Type.Array(Type.String(), { description: 'what nobody had said, in words' });

const counts = {
  lines: Type.Integer({ description: 'lines read' }),
  created: Type.Integer(),
  updated: Type.Integer(),
  unchanged: Type.Integer(),
  skipped: Type.Integer({ description: 'left out, because their status says that they are not owed' }),
  failed: Type.Integer({ description: 'bad lines' }),
  payouts: Type.Integer({ description: 'paid payouts made of lines that were paid elsewhere' }),
  totals: Type.Array(strict({ currency: currencyCode, amount, count: Type.Integer() }), {
    description: 'sums of the good lines',
  }),
};

const errorColumn = nullable(Type.String({ description: 'the column of the file' }));
const error = strict(
  {
    line: Type.Integer({ description: 'the line of the file, or the row of the sheet' }),
    column: errorColumn,
    message: Type.String(),
  },
  { title: 'ImportError' },
);
const errors = {
  errors: Type.Array(error, { description: 'what is wrong with the first 1,000 bad lines' }),
  groups: Type.Array(
    strict(
      {
        column: errorColumn,
        message: Type.String({ description: 'without the value, where several lines have the error' }),
        count: Type.Integer(),
        first: Type.Array(error, { description: 'three at most' }),
      },
      { title: 'ImportErrorGroup' },
    ),
    { description: 'the same errors by column and rule, the most frequent first' },
  ),
};

export const importRecord = strict(
  {
    id: Type.String({ pattern: '^imp_[0-9a-f]{32}$' }),
    object: Type.Literal('import'),
    kind: settings.kind,
    status: Type.Enum(['completed', 'undone']),
    file: importedFile,
    dialect,
    mapping,
    guessed,
    ...counts,
    created_by: Type.String(),
    created_at: timestamp,
    undone_by: nullable(Type.String()),
    undone_at: nullable(timestamp),
    undo_ended_at: nullable({
      ...timestamp,
      description:
        'when what its undo needs was deleted; null = it can be undone while nothing of it is in use',
    }),
  },
  { title: 'Import' },
);

export type ImportRecord = Static<typeof importRecord>;

/** Its columns, over `imports i`. */
export const record = columnsOf(importRecord, {
  id: "public_id('imp', i.id)",
  object: "'import'",
  kind: 'i.kind',
  status: 'i.status',
  file: `json_build_object('name', i.file_name, 'bytes', i.file_bytes, 'digest', ${shownDigest('i.file_digest')})`,
  dialect: 'i.dialect',
  mapping: 'i.mapping',
  guessed: 'i.guessed',
  lines: 'i.lines',
  created: 'i.created',
  updated: 'i.updated',
  unchanged: 'i.unchanged',
  skipped: 'i.skipped',
  failed: 'i.failed',
  payouts: 'i.payouts',
  totals: 'i.totals',
  created_by: 'i.created_by',
  created_at: 'iso(id_time(i.id))',
  undone_by: 'i.undone_by',
  undone_at: 'iso(i.undone_at)',
  undo_ended_at: 'iso(i.undo_ended_at)',
});

export const importReport = strict(
  {
    object: Type.Literal('import_report'),
    import_id: nullable(Type.String({ description: 'null in a dry run' })),
    dry_run: Type.Boolean(),
    kind: settings.kind,
    file,
    dialect,
    mapping,
    guessed,
    ...counts,
    ...errors,
  },
  { title: 'ImportReport' },
);

export const importPreview = strict(
  {
    object: Type.Literal('import_preview'),
    kind: settings.kind,
    file,
    dialect,
    mapping,
    workbook: nullable(
      strict(
        { sheets: Type.Array(strict({ name: Type.String(), is_hidden: Type.Boolean() })) },
        { title: 'ImportWorkbook', description: 'null: the file is CSV' },
      ),
    ),
    mapping_name: nullable(Type.String({ description: 'the saved mapping that was used' })),
    columns: Type.Array(
      strict(
        {
          column: Type.String(),
          field: nullable(Type.String({ description: 'null = ignored' })),
          source: Type.Enum([...SOURCES], { description: 'how it is known' }),
          samples: Type.Array(Type.String()),
        },
        { title: 'ImportColumn' },
      ),
    ),
    values: Type.Array(
      strict(
        {
          column: Type.String(),
          field: Type.String(),
          words: nullable(
            Type.Array(Type.String(), {
              description: 'what a value can mean; null = any country, by two letters',
            }),
          ),
          values: Type.Array(
            strict({
              value: Type.String({ description: 'as the file has it' }),
              lines: Type.Integer(),
              means: nullable(Type.String({ description: 'null: not known, or its lines are refused' })),
              source: Type.Enum([...VALUE_SOURCES], {
                description:
                  'given: by the request or a saved mapping; exact: one of our words; synonym: a common word for one; none: not known',
              }),
            }),
            { description: 'the most frequent first, 100 at most, those that are not known before others' },
          ),
          more: Type.Integer({ description: 'how many different values are not listed' }),
        },
        { title: 'ImportValues' },
      ),
      { description: 'the columns that have words of a fixed set, or countries' },
    ),
    guessed,
    questions: Type.Array(
      strict(
        {
          about: Type.Enum([...ABOUT]),
          message: Type.String(),
          choices: Type.Array(
            strict({
              label: Type.String(),
              query: Type.Record(Type.String(), Type.Unknown(), {
                description:
                  'what the next request says: parameters; `mapping` and `values` as JSON to merge into them',
              }),
            }),
          ),
        },
        { title: 'ImportQuestion' },
      ),
      { description: 'what must be answered before the file can be imported' },
    ),
    rows: Type.Array(
      strict(
        { line: Type.Integer(), fields: Type.Record(Type.String(), nullable(Type.String())) },
        { title: 'ImportRow' },
      ),
      { description: 'the first lines as they are read; `fields` is empty for one that is left out' },
    ),
    report: nullable(strict({ ...counts, ...errors }, { title: 'ImportCounts' })),
  },
  { title: 'ImportPreview' },
);

export const savedMapping = strict(
  {
    name: Type.String(),
    object: Type.Literal('import_mapping'),
    kind: settings.kind,
    columns: Type.Array(Type.String(), { description: 'of the files it is for, in lower case' }),
    mapping,
    settings: Type.Record(Type.String(), Type.String(), { description: 'the other settings for such files' }),
    updated_at: timestamp,
  },
  { title: 'ImportMapping' },
);

export type SavedMappingRecord = Static<typeof savedMapping>;

/** Its columns, over `import_mappings m`. */
export const mappingRecord = columnsOf(savedMapping, {
  name: 'm.name',
  object: "'import_mapping'",
  kind: 'm.kind',
  columns: 'm.header',
  mapping: 'm.mapping',
  settings: 'm.dialect',
  updated_at: 'iso(m.updated_at)',
});
