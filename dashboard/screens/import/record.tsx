import { useCallback, useState } from 'react';
import type { Import } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { Actor } from '../../parts/actor.tsx';
import { Button } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { Problem, Skeleton } from '../../parts/feedback.tsx';
import { size } from '../../parts/format.ts';
import { Confirm, Drawer } from '../../parts/overlay.tsx';
import { Facts } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { toast } from '../../parts/toast.tsx';
import { Name, Status, Time } from '../../parts/values.tsx';
import { imports } from '../../texts/imports.ts';
import { Counts } from './report.tsx';

const texts = imports.records;

/** An import in a drawer: who imported which file, how it was read, its result, and undo. */
export function ImportDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const { data, error, refetch } = useRead('getImport', { path: [id] });
  return (
    <Drawer title={data ? (data.file.name ?? texts.noName) : imports.title} onClose={onClose}>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {data === undefined && !error && <Skeleton lines={6} />}
      {data && <Inside record={data} />}
    </Drawer>
  );
}

/** The status of an import. */
export function ImportStatus({ status }: { status: Import['status'] }) {
  return <Status tone={status === 'completed' ? 'good' : 'neutral'} label={texts.statuses[status]} />;
}

function Inside({ record }: { record: Import }) {
  const { kind, file, dialect, guessed } = record;
  const labels = imports.dialect;
  return (
    <div className="stack">
      <Counts counts={record} />
      <Undo record={record} />
      <Facts
        rows={[
          [texts.status, <ImportStatus key="status" status={record.status} />],
          [imports.kind, imports.kinds[kind]],
          [texts.created, <Time key="at" at={record.created_at} isFocusable />],
          [texts.by, <Actor key="by" id={record.created_by} />],
          ...(record.undone_by === null
            ? []
            : ([
                [texts.undoneAt, <Time key="undone" at={record.undone_at} isFocusable />],
                [texts.undoneBy, <Actor key="undoer" id={record.undone_by} />],
              ] as const)),
          [texts.bytes, size(file.bytes)],
          dialect.sheet === undefined
            ? [labels.separator, labels.separators[dialect.separator]]
            : [labels.sheet, <Name key="sheet">{dialect.sheet}</Name>],
          [labels.decimal, labels.decimals[dialect.decimal]],
          [labels.dates, labels.datesBy[dialect.dates]],
          ...(dialect.sheet === undefined
            ? ([[labels.encoding, labels.encodings[dialect.encoding]]] as const)
            : []),
          [texts.id, <Id key="id">{record.id}</Id>],
        ]}
      />
      <p className="hint">
        {texts.digest}: {file.digest === null ? texts.noDigest : <Id>{file.digest}</Id>}
      </p>
      {Object.keys(record.mapping).length > 0 && <Mapped record={record} />}
      {guessed.length > 0 && (
        <section>
          <h3>{texts.guessed}</h3>
          <ul className="guessed">
            {guessed.map((each) => (
              <li key={each}>{each}</li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

/** The field that each column was mapped to. */
function Mapped({ record: { mapping, kind } }: { record: Import }) {
  const fields = imports.fields[kind];
  const rows = Object.entries(mapping).map(([name, to]) =>
    typeof to === 'string'
      ? {
          name,
          to: to === 'ignore' ? imports.columns.ignore : (fields[to] ?? to),
          isLeftOut: to === 'ignore',
        }
      : { name: fields[name] ?? name, to: texts.constant(to.constant), isLeftOut: false },
  );
  const columns: readonly Column<(typeof rows)[number]>[] = [
    { title: imports.columns.column, cell: ({ name }) => <Name>{name}</Name> },
    {
      title: imports.columns.field,
      cell: ({ to, isLeftOut }) => <span className={isLeftOut ? 'soft' : undefined}>{to}</span>,
    },
  ];
  return (
    <section className="part">
      <h3>{texts.mapping}</h3>
      <Table label={texts.mapping} columns={columns} rows={rows} keyOf={({ name }) => name} />
    </section>
  );
}

/** Undoes an import after showing its effects, or says why it cannot be undone. */
function Undo({ record }: { record: Import }) {
  const may = useMay();
  const [isAsked, setAsked] = useState(false);
  const stop = useCallback(() => setAsked(false), []);
  const undoing = useWrite('undoImport');
  const { id, kind, status, created, updated, payouts: past } = record;
  const name = record.file.name ?? texts.noName;
  const labels = imports.undo;
  if (status === 'undone') return null;
  if (record.undo_ended_at !== null) return <p className="soft">{labels.ended}</p>;
  if (past > 0) return <p className="soft">{labels.paid(past)}</p>;
  if (created + updated === 0) return <p className="soft">{labels.nothing}</p>;
  if (!may.write) return null;
  const done = () => {
    toast(labels.done(name));
    stop();
  };
  return (
    <div>
      <Button kind="danger" onPress={() => setAsked(true)}>
        {labels.action}
      </Button>
      {isAsked && (
        <Confirm
          title={labels.title(name)}
          action={labels.action}
          isDangerous
          isBusy={undoing.isPending}
          error={undoing.error}
          onClose={stop}
          onConfirm={() => undoing.mutate({ path: [id] }, { onSuccess: done })}
        >
          <p>{kind === 'affiliates' ? labels.affiliates(created, updated) : labels.commissions(created)}</p>
          <p>{labels.unchanged}</p>
          <p className="soft">{labels.used}</p>
        </Confirm>
      )}
    </div>
  );
}
