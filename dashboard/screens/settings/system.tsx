import type { ReactNode } from 'react';
import type { System } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { useRead } from '../../data/queries.ts';
import { serverNow } from '../../data/server-time.ts';
import { Empty, Notice, Problem, Skeleton } from '../../parts/feedback.tsx';
import { relative, size, whole } from '../../parts/format.ts';
import { Card, Facts } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Prose, Time } from '../../parts/values.tsx';
import { settings } from '../../texts/settings.ts';
import { Settings } from './frame.tsx';
import './settings.css';

const texts = settings.system;

const MINUTE_MS = 60_000;
/** A delivery due for longer than this is waiting for a worker. */
const LATE_DELIVERY_MS = 5 * MINUTE_MS;
/** The least frequent chores run hourly. */
const LATE_CHORE_MS = 180 * MINUTE_MS;
const LITTLE_ROOM = 0.1;

/** /settings/system */
export function SystemState() {
  const may = useMay();
  const { data, error, refetch } = useRead('getSystem', {}, { isLive: true, isEnabled: may.own });
  return (
    <Settings part="system" lead={texts.lead} needs="own">
      {error?.reason === 'installation_only' ? (
        <Empty icon="settings" title={texts.otherAccount}>
          <Prose>{texts.otherAccountLead}</Prose>
        </Empty>
      ) : (
        <>
          {error && <Problem error={error} onRetry={() => void refetch()} />}
          {data === undefined && !error && <Skeleton lines={6} />}
          {data && <State system={data} />}
        </>
      )}
    </Settings>
  );
}

/** The problems of the installation, and what to do about them. */
function problemsOf(
  { workers, backlog, disk, chores, failing_chores: failing, backups, replica, cells }: System,
  now: number,
): readonly { readonly what: string; readonly remedy: string }[] {
  const isOlder = (instant: string | null, age: number) =>
    instant !== null && now - Date.parse(instant) > age;
  const late = chores.filter(({ last_done_at }) => isOlder(last_done_at, LATE_CHORE_MS));
  const { noWorker, backlogLate, diskFull, choresLate, choreFails, backupFailed, replicaLeftOut, cellDown } =
    texts.problems;
  return [
    ...(workers.processes.length === 0 ? [noWorker] : []),
    ...(workers.processes.length > 0 && isOlder(backlog.oldest_due_at, LATE_DELIVERY_MS)
      ? [{ ...backlogLate, what: backlogLate.what(relative(backlog.oldest_due_at ?? '', now)) }]
      : []),
    ...(disk && disk.free_bytes < disk.total_bytes * LITTLE_ROOM
      ? [{ ...diskFull, what: diskFull.what(size(disk.free_bytes), size(disk.total_bytes)) }]
      : []),
    ...(backups.failure
      ? [
          {
            ...backupFailed,
            what: backupFailed.what(relative(backups.failure.failed_at, now), backups.failure.message),
          },
        ]
      : []),
    ...(replica?.problem ? [{ ...replicaLeftOut, what: replicaLeftOut.what(replica.problem) }] : []),
    ...cells.flatMap(({ number, problem }) =>
      problem === null ? [] : [{ ...cellDown, what: cellDown.what(number, problem) }],
    ),
    ...failing.map(({ name, cell, since, message }) => ({
      ...choreFails,
      what: choreFails.what(texts.choreOf(name, cell), relative(since, now), message),
    })),
    ...(late.length > 0 ? [{ ...choresLate, what: choresLate.what(late.map(({ name }) => name)) }] : []),
  ];
}

const WORKERS: readonly Column<System['workers']['processes'][number]>[] = [
  { title: texts.process, cell: ({ name }) => <code>{name}</code> },
  { title: texts.since, cell: ({ started_at }) => <Time at={started_at} /> },
];
const CHORES: readonly Column<System['chores'][number]>[] = [
  { title: texts.chore, cell: ({ name }) => name },
  { title: texts.lastDone, cell: ({ last_done_at }) => <Time at={last_done_at} /> },
];

const orDash = (value: number | null) => (value === null ? '–' : whole(value));

/** The schema of a cell, and its server if that is another than the one of cell 0. */
function placeOf({ schema, host }: System['cells'][number]): string {
  const name = schema === null ? texts.ofLogin : texts.schemaOf(schema);
  return host === null ? name : texts.onHost(name, host);
}

const CELLS: readonly Column<System['cells'][number]>[] = [
  { title: texts.cell, cell: ({ number }) => number },
  { title: texts.cellState, cell: ({ state, problem }) => problem ?? texts.cellStates[state] },
  { title: texts.place, cell: placeOf },
  { title: texts.schema, cell: ({ schema_version }) => orDash(schema_version), isFigure: true },
  { title: texts.accounts, cell: ({ account_count }) => orDash(account_count), isFigure: true },
  { title: texts.due, cell: ({ due_count }) => orDash(due_count), isFigure: true },
  { title: texts.workers, cell: ({ worker_count }) => orDash(worker_count), isFigure: true },
];

/** The whole state, problems first. */
function State({ system }: { system: System }) {
  const { database, disk, backlog, workers, chores, backups, replica, cells } = system;
  const problems = problemsOf(system, serverNow());
  return (
    <>
      {problems.length === 0 && <Notice tone="good">{texts.well}</Notice>}
      {problems.map(({ what, remedy }) => (
        <Notice key={what} tone="warn">
          <p>
            <b>{what}</b>
          </p>
          <p>
            <Prose>{remedy}</Prose>
          </p>
        </Notice>
      ))}
      <Group
        title={texts.installation}
        rows={[
          [texts.version, system.version],
          [texts.schema, whole(system.schema_version)],
          [
            texts.backup,
            backups.last === null ? (
              <Prose key="backup">{texts.noBackup}</Prose>
            ) : (
              <span key="backup">
                <Time at={backups.last.made_at} isFocusable /> · {size(backups.last.size_bytes)} ·{' '}
                <code>{backups.last.file}</code>
              </span>
            ),
          ],
        ]}
      />
      <Group
        title={texts.database}
        rows={[
          [texts.databaseVersion, database.version],
          [texts.databaseSize, size(database.size_bytes)],
          [texts.databaseStarted, <Time key="started" at={database.started_at} isFocusable />],
          [
            texts.disk,
            disk === null ? texts.elsewhere : texts.free(size(disk.free_bytes), size(disk.total_bytes)),
          ],
          ...(replica === null ? [] : [[texts.replica, replicaState(replica)] as const]),
        ]}
      />
      <Group
        title={texts.deliveries}
        rows={[
          [texts.queued, whole(backlog.queued_count)],
          [texts.due, whole(backlog.due_count)],
          [texts.oldest, <Time key="oldest" at={backlog.oldest_due_at} isFocusable />],
          ...(backlog.behind_count > 0
            ? ([
                [texts.ordered, whole(backlog.behind_count)],
                [texts.orderedSince, <Time key="behind" at={backlog.behind_since} isFocusable />],
              ] as const)
            : []),
          [texts.inFlight, whole(workers.in_flight_count)],
          [texts.lastClaim, <Time key="claim" at={workers.last_claim_at} isFocusable />],
        ]}
      />
      <section className="part">
        <h2>{texts.workers}</h2>
        {workers.processes.length === 0 ? (
          <p className="soft">{texts.noWorkers}</p>
        ) : (
          <Table
            label={texts.workers}
            columns={WORKERS}
            rows={workers.processes}
            keyOf={({ name, started_at }) => `${name} ${started_at}`}
          />
        )}
      </section>
      <section className="part">
        <h2>{texts.chores}</h2>
        <Table label={texts.chores} columns={CHORES} rows={chores} keyOf={({ name }) => name} />
      </section>
      {cells.length > 1 && (
        <section className="part">
          <h2>{texts.cells}</h2>
          <Table label={texts.cells} columns={CELLS} rows={cells} keyOf={({ number }) => String(number)} />
        </section>
      )}
    </>
  );
}

/** Whether the replica is read from, and how far it is behind. */
function replicaState({ is_used, lag_ms, lag_bytes }: NonNullable<System['replica']>): string {
  const { replicaUsed, replicaUnused, behind } = texts;
  const lag = lag_ms === null || lag_bytes === null ? [] : [behind(whole(lag_ms), size(lag_bytes))];
  return [is_used ? replicaUsed : replicaUnused, ...lag].join(', ');
}

function Group({ title, rows }: { title: string; rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <Card title={title}>
      <Facts rows={rows} />
    </Card>
  );
}
