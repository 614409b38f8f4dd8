import type { ReactNode } from 'react';
import type { Event } from '../../src/client/api.ts';
import { common } from '../texts/common.ts';
import { events } from '../texts/events.ts';
import { JsonValue } from './json-value.tsx';
import { type Column, Table } from './table.tsx';

interface ChangedField {
  readonly field: string;
  /** undefined: there was none. null: it is left out. */
  readonly before: unknown;
  readonly after: unknown;
}

const texts = events.changes;
const COLUMNS: readonly Column<ChangedField>[] = [
  { title: texts.field, cell: ({ field }) => <code className="code-line">{field}</code> },
  { title: texts.before, cell: ({ before }) => shown(before, texts.leftOut) },
  { title: texts.after, cell: ({ after }) => shown(after, common.nothing) },
];

const shown = (value: unknown, absent: string) => {
  if (value === undefined) return common.nothing;
  return value === null ? absent : <JsonValue>{value}</JsonValue>;
};

/** Below a heading, the fields that an event of an update changed, with their values before and after; nothing for other events. */
export function ChangedFields({ payload, heading }: { payload: object; heading: ReactNode }) {
  const { changes, data } = payload as Pick<Event, 'changes' | 'data'>;
  if (changes === undefined) return null;
  const { added, updated, removed } = changes;
  const rows = [
    ...Object.keys(added).map((field) => ({ field, before: undefined, after: data[field] })),
    ...Object.entries({ ...updated, ...removed }).map(([field, before]) => ({
      field,
      before,
      after: data[field],
    })),
  ];
  return (
    <section>
      {heading}
      {rows.length === 0 ? (
        <p className="soft">{texts.none}</p>
      ) : (
        <Table label={texts.title} columns={COLUMNS} rows={rows} keyOf={({ field }) => field} isStacked />
      )}
    </section>
  );
}
