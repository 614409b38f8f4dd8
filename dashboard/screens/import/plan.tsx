import { type ReactNode, useState } from 'react';
import type { ImportPreview, ImportReport } from '../../../src/client/api.ts';
import {
  type Choices,
  type ImportKind,
  type Mapping,
  queryOf,
  useImportPreview,
  type Values as WordValues,
  withValues,
} from '../../data/imports.ts';
import { useRead } from '../../data/queries.ts';
import { size } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Name } from '../../parts/values.tsx';
import { imports as texts } from '../../texts/imports.ts';
import { Columns } from './columns.tsx';
import { Dialect } from './dialect.tsx';
import { Questions } from './questions.tsx';
import { FileProblem, Report } from './report.tsx';
import { Values } from './values.tsx';
import { Working } from './working.tsx';

/** The plan for a chosen file: how it is read, open questions, columns, and what importing it would do. */
export function Plan({
  kind,
  file,
  onDone,
  onKind,
  children,
}: {
  kind: ImportKind;
  file: File;
  onDone: (report: ImportReport, choices: Choices) => void;
  /** The file is of this kind instead. */
  onKind: (kind: ImportKind) => void;
  /** The button to choose another file. */
  children: ReactNode;
}) {
  const [choices, setChoices] = useState<Choices>({});
  const [progressKey] = useState(() => crypto.randomUUID());
  const query = queryOf(kind, file, choices, progressKey);
  const { data, error, isFetching } = useImportPreview(file, query);
  const saved = useRead('listImportMappings', { query: { kind, per_page: 100 } }).data?.data ?? [];
  const change = (next: Choices) => setChoices({ ...choices, ...next });
  const mean = (more: WordValues) => change({ values: withValues(choices.values ?? {}, more) });
  const map = (to: (mapping: Mapping) => Mapping) => setChoices(mapped(choices, data, saved, to));
  return (
    <>
      <div className="import-file">
        <Icon name="file" />
        <div>
          <b>
            <Name>{file.name}</Name>
          </b>
          <span className="second">
            {size(file.size)}
            {data?.report && ` · ${texts.lines(data.report.lines)}`}
          </span>
        </div>
        {children}
      </div>
      {isFetching && (
        <Working file={file} progressKey={progressKey} lines={data?.report?.lines}>
          {texts.working.reading(file.name, size(file.size))}
        </Working>
      )}
      {error && (
        <>
          <FileProblem error={error} />
          <p className="soft">{texts.wrong.nothing}</p>
        </>
      )}
      {data && !error && (
        <>
          <Dialect preview={data} choices={choices} saved={saved} onChange={change} />
          <Questions preview={data} onAnswer={change} onMap={map} onMean={mean} onKind={onKind} />
          <Columns preview={data} onMap={map} />
          <Values preview={data} onMean={mean} />
          {data.rows.length > 0 && <FirstRows preview={data} />}
          <Report
            preview={data}
            file={file}
            choices={choices}
            isStale={isFetching}
            progressKey={progressKey}
            onDone={(report) => onDone(report, choices)}
          />
        </>
      )}
    </>
  );
}

/**
 * The choices after a column was mapped by hand. Undecided columns are left to the server, which asks if it is not sure. A
 * saved mapping is used as a whole, including the settings saved with it.
 */
function mapped(
  choices: Choices,
  preview: ImportPreview | undefined,
  saved: readonly { readonly name: string; readonly settings: Readonly<Record<string, string>> }[],
  to: (mapping: Mapping) => Mapping,
): Choices {
  const known = saved.find(({ name }) => name === preview?.mapping_name);
  if (preview && known) {
    const { values = '{}', ...settings } = known.settings;
    const words = withValues(JSON.parse(values), choices.values ?? {});
    return { ...settings, ...choices, values: words, mapping: to(preview.mapping) };
  }
  return { ...choices, mapping: to(typeof choices.mapping === 'object' ? choices.mapping : {}) };
}

type Row = ImportPreview['rows'][number];

/** The first lines as they would be stored. */
function FirstRows({ preview: { rows, kind } }: { preview: ImportPreview }) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row.fields)))];
  const fields = names.filter((name) => rows.some((row) => row.fields[name]));
  const columns: readonly Column<Row>[] = [
    { title: texts.rows.line, cell: ({ line }) => line },
    ...fields.map((field, index) => ({
      title: texts.fields[kind][field] ?? field,
      cell: (row: Row) =>
        index === 0 && Object.keys(row.fields).length === 0 ? (
          <span className="soft">{texts.rows.leftOut}</span>
        ) : row.fields[field] ? (
          <span className="first-cell">
            <Name>{row.fields[field]}</Name>
          </span>
        ) : null,
    })),
  ];
  return (
    <section className="part">
      <h2>{texts.rows.title}</h2>
      <Table
        label={texts.rows.title}
        isStacked
        columns={columns}
        rows={rows}
        keyOf={({ line }) => String(line)}
      />
    </section>
  );
}
