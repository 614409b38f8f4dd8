import { useState } from 'react';
import type { ImportCounts, ImportErrorGroup, ImportReport } from '../../../src/client/api.ts';
import { download, UnreadableFile } from '../../data/api.ts';
import { type Choices, type ImportKind, queryOf, type TimedPreview } from '../../data/imports.ts';
import { pageSize } from '../../data/preferences.ts';
import { useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Notice, Problem } from '../../parts/feedback.tsx';
import { Checkbox, TextField } from '../../parts/field.tsx';
import { whole } from '../../parts/format.ts';
import { Pager } from '../../parts/listing.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { Card, Facts } from '../../parts/page.tsx';
import { saveFile } from '../../parts/save.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { Moneys, Name } from '../../parts/values.tsx';
import { imports } from '../../texts/imports.ts';
import { Working } from './working.tsx';

const texts = imports.report;
const MOST_TOLD = 1000;

interface FileOf {
  readonly file: File;
  readonly choices: Choices;
}

/** What importing a file would do, all bad lines, and the import button. */
export function Report({
  preview,
  file,
  choices,
  isStale,
  progressKey,
  onDone,
}: FileOf & {
  preview: TimedPreview;
  progressKey: string;
  /** The report for changed choices is loading. */
  isStale: boolean;
  onDone: (report: ImportReport) => void;
}) {
  const { report, kind, guessed } = preview;
  return (
    <>
      {report && (
        <Card title={texts.title}>
          <Counts counts={report} />
          {report.failed === 0 && report.lines > 0 && <p className="soft">{texts.good}</p>}
          {guessed.length > 0 && (
            <details className="guessed">
              <summary>{imports.guessed(guessed.length)}</summary>
              <ul>
                {guessed.map((each) => (
                  <li key={each}>{each}</li>
                ))}
              </ul>
            </details>
          )}
        </Card>
      )}
      {report && report.failed > 0 && <BadLines kind={kind} report={report} file={file} choices={choices} />}
      <Act
        preview={preview}
        file={file}
        choices={choices}
        isStale={isStale}
        progressKey={progressKey}
        onDone={onDone}
      />
    </>
  );
}

/** The result counts of a file. */
export function Counts({ counts }: { counts: Omit<ImportCounts, 'errors' | 'groups'> }) {
  const { created, updated, unchanged, skipped, failed, payouts, totals } = counts;
  const shown = [
    ['created', created, true],
    ['updated', updated, updated > 0],
    ['unchanged', unchanged, unchanged > 0],
    ['skipped', skipped, skipped > 0],
    ['failed', failed, failed > 0],
    ['payouts', payouts, payouts > 0],
  ] as const;
  return (
    <Facts
      rows={[
        ...shown
          .filter(([, , isShown]) => isShown)
          .map(([name, number]) => [texts[name], <b key={name}>{whole(number)}</b>] as const),
        ...(totals.length > 0 ? [[texts.sums, <Moneys key="sums" amounts={totals} />] as const] : []),
      ]}
    />
  );
}

/** A message is the field, the rule and, at its end, what the file has. */
const PARTS = /^(?:(\w+) )?(.*?)(?:(?:: |, not )"(.*)")?$/s;

/** The error without the field, which has its own column, and without the value. */
function ruleOf({ column, message }: Pick<ImportErrorGroup, 'column' | 'message'>): string {
  const [, field = '', rule = message] = PARTS.exec(message) ?? [];
  const shown = column === null && field !== '' ? `${field} ${rule}` : rule;
  return shown.charAt(0).toUpperCase() + shown.slice(1);
}

/** What the first lines of a group have there, each once. */
const valuesOf = ({ first }: ImportErrorGroup): string[] => [
  ...new Set(first.flatMap(({ message }) => PARTS.exec(message)?.[3] ?? [])),
];

const COLUMNS: readonly Column<ImportErrorGroup>[] = [
  {
    title: texts.line,
    cell: ({ count: number, first }) => (
      <>
        {first.map(({ line }) => whole(line)).join(', ')}
        {number > first.length && ' …'}
        {number > 1 && <span className="second">{imports.lines(number)}</span>}
      </>
    ),
  },
  { title: texts.column, cell: ({ column }) => (column === null ? '' : <Name>{column}</Name>) },
  {
    title: texts.value,
    cell: (group) => (
      <span className="bad-values">
        {valuesOf(group).map((value) => (
          <Name key={value}>{value}</Name>
        ))}
      </span>
    ),
  },
  {
    title: texts.what,
    cell: (group) => (
      <span className="sentence">
        <Name>{ruleOf(group)}</Name>
      </span>
    ),
  },
];

/** The errors, equal ones together, a page at a time, and a download of the bad lines. */
function BadLines({ kind, report, file, choices }: FileOf & { kind: ImportKind; report: ImportCounts }) {
  const [page, setPage] = useState(1);
  const perPage = Number(pageSize.use());
  const { groups, failed, lines } = report;
  const pages = Math.max(1, Math.ceil(groups.length / perPage));
  const at = Math.min(page, pages);
  const shown = groups.slice((at - 1) * perPage, at * perPage);
  return (
    <section className="part">
      <h2>{texts.errors}</h2>
      {failed === lines && (
        <Notice tone="bad">
          <p>
            <b>{texts.allBad}</b>
          </p>
          <p>{texts.allBadHint}</p>
        </Notice>
      )}
      <p className="soft form-lead">
        {texts.errorsLead(failed)} {failed > MOST_TOLD && texts.firstThousand}
      </p>
      <Table
        label={texts.errors}
        isStacked
        columns={COLUMNS}
        rows={shown}
        keyOf={({ first: [one], column, message }) => `${one?.line} ${column} ${message}`}
      />
      {pages > 1 && (
        <Pager
          label={texts.errors}
          pagination={{ page: at, limit: perPage, total: groups.length }}
          onPage={setPage}
        />
      )}
      <BadLinesDownload kind={kind} file={file} choices={choices} />
    </section>
  );
}

/** Downloads the bad lines as a file. */
export function BadLinesDownload({ kind, file, choices }: FileOf & { kind: ImportKind }) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const start = async () => {
    setBusy(true);
    setError(null);
    try {
      saveFile(await download('downloadBadLines', { query: queryOf(kind, file, choices), file }));
    } catch (refused) {
      setError(refused as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="bad-lines">
      {error && <FileProblem error={error} />}
      <Button icon="download" isBusy={isBusy} onPress={() => void start()}>
        {texts.download}
      </Button>
      <p className="hint">{texts.downloadHint}</p>
    </div>
  );
}

/** An error, or a note that the file has changed since it was chosen. */
export function FileProblem({ error }: { error: Error }) {
  if (!(error instanceof UnreadableFile)) return <Problem error={error} />;
  return (
    <Notice tone="bad">
      <p>
        <b>{imports.wrong.unreadable(error.message)}</b>
      </p>
      <p>{imports.wrong.unreadableHint}</p>
    </Notice>
  );
}

/** Imports, and saves the mapping if requested. Asks for confirmation when the import cannot be undone. */
function Act({
  preview,
  file,
  choices,
  isStale,
  progressKey,
  onDone,
}: FileOf & {
  preview: TimedPreview;
  isStale: boolean;
  progressKey: string;
  onDone: (report: ImportReport) => void;
}) {
  const { kind, report, mapping_name: known } = preview;
  const isChanged = typeof choices.mapping === 'object';
  const [isKept, setKept] = useState(false);
  const [name, setName] = useState(file.name.replace(/\.\w+$/, '').slice(0, 100));
  const [isAsked, setAsked] = useState(false);
  const importing = useWrite('createImport');
  if (report === null) return <p className="soft">{imports.open}</p>;
  const number = report.created + report.updated;
  const action =
    report.failed > 0 ? imports.actionPartial(kind, number, report.failed) : imports.action(kind, number);
  const start = () =>
    importing.mutate(
      {
        file,
        query: {
          ...queryOf(kind, file, choices, progressKey),
          accept_guesses: true,
          partial: report.failed > 0,
          ...(isKept && name.trim() !== '' ? { save_as: name.trim() } : {}),
        },
      },
      { onSuccess: onDone },
    );
  if (number === 0) {
    const { noLines, nothingGood, nothingToDo } = imports;
    const why = report.failed === report.lines ? nothingGood : nothingToDo;
    return <p className="soft">{report.lines === 0 ? noLines : why}</p>;
  }
  if (importing.isPending) {
    return (
      <Working file={file} progressKey={progressKey} lines={report.lines} expected={preview.seconds} isKept>
        {imports.working.importing(action.replace('Import ', ''))}
      </Working>
    );
  }
  return (
    <>
      {importing.error && !isAsked && <FileProblem error={importing.error} />}
      <div className="bar">
        {known !== null && !isChanged ? (
          <p className="soft">{imports.keep.known(known)}</p>
        ) : (
          <div>
            <Checkbox label={imports.keep.label} isChecked={isKept} onChange={setKept} />
            {isKept && (
              <TextField label={imports.keep.name} value={name} onChange={setName} maxLength={100} />
            )}
          </div>
        )}
        <Button
          kind="primary"
          isDisabled={isStale || (isKept && name.trim() === '')}
          onPress={() => (report.payouts > 0 ? setAsked(true) : start())}
        >
          {action}
        </Button>
      </div>
      {isAsked && (
        <Confirm
          title={action}
          action={action}
          isBusy={importing.isPending}
          error={importing.error}
          onClose={() => setAsked(false)}
          onConfirm={start}
        >
          <p>{imports.final.lead(report.payouts)}</p>
          <p className="soft">{imports.final.webhooks}</p>
        </Confirm>
      )}
    </>
  );
}
