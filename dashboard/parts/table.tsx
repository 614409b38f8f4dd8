import { memo, type ReactNode, useMemo } from 'react';
import { common } from '../texts/common.ts';
import { Checkbox } from './field.tsx';
import { Icon } from './icon.tsx';
import { useIsNarrow } from './narrow.ts';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Figures are right-aligned. */
  readonly isFigure?: boolean;
  /** The name of the sort field in the API. */
  readonly sort?: string;
  /** Hidden on narrow screens. */
  readonly isWide?: boolean;
  /** On narrow screens, shown below the first column. */
  readonly isBelow?: boolean;
}

/** The selected rows, by key. */
export interface Selection<Row> {
  readonly has: (key: string) => boolean;
  readonly isAll: boolean;
  readonly isSome: boolean;
  readonly nameOf: (row: Row) => string;
  readonly toggle: (key: string, isOn: boolean) => void;
  readonly toggleAll: (isOn: boolean) => void;
}

/** Props of the link that opens a row: the whole row is clickable, and `j` and `k` move between rows. */
export const rowLink = { className: 'rowlink', 'data-row': '' } as const;

interface TableProps<Row> {
  /** The accessible name of the table. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  /** undefined while loading. */
  readonly rows: readonly Row[] | undefined;
  readonly keyOf: (row: Row) => string;
  /** The sort field; a leading `-` is descending. */
  readonly sort?: string | undefined;
  readonly onSort?: ((sort: string) => void) | undefined;
  readonly selection?: Selection<Row> | undefined;
  /** Whether a row is highlighted. */
  readonly isMarked?: ((row: Row) => boolean) | undefined;
  /** The row of sums. */
  readonly footer?: ReactNode;
  /** On narrow screens a row is a list of its values, one below the other: for many figures and few rows. */
  readonly isStacked?: boolean;
  /** The rows are outdated because another page or order is loading. */
  readonly isStale?: boolean | undefined;
}

const BONES = 8;

/** A table; the server sorts and pages. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, rows, keyOf, selection, isMarked, footer, isStale } = props;
  const columns = useColumns(props.columns);
  const isNarrow = useIsNarrow();
  if (props.isStacked && isNarrow && rows !== undefined) {
    return <Stack label={label} columns={columns} rows={rows} keyOf={keyOf} />;
  }
  return (
    <section
      className="table-frame"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable with the keyboard
      tabIndex={0}
      aria-busy={rows === undefined || isStale}
    >
      <table className={isStale ? 'table stale' : 'table'}>
        <thead>
          <tr>
            {selection && (
              <th scope="col" className="tick">
                <Checkbox
                  isLabelHidden
                  label={common.selectAll}
                  isChecked={selection.isAll}
                  isMixed={selection.isSome && !selection.isAll}
                  onChange={selection.toggleAll}
                />
              </th>
            )}
            {columns.map((column) => (
              <Head key={column.title} column={column} sort={props.sort} onSort={props.onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows === undefined
            ? Array.from({ length: BONES }, (_, line) => (
                <tr key={line}>
                  {selection && <td className="tick" />}
                  {columns.map((column) => (
                    <td key={column.title} className={classOf(column)}>
                      <span className="bone" />
                    </td>
                  ))}
                </tr>
              ))
            : rows.map((row) => {
                const [key, isRowMarked] = [keyOf(row), isMarked?.(row) ?? false];
                return <Line key={key} {...{ row, id: key, columns, selection, isRowMarked }} />;
              })}
        </tbody>
        {footer && <tfoot>{footer}</tfoot>}
      </table>
    </section>
  );
}

/** Each row as a list of names and values. A null value is left out with its name. */
function Stack<Row>({
  label,
  columns,
  rows,
  keyOf,
}: Pick<TableProps<Row>, 'label' | 'columns' | 'keyOf'> & { rows: readonly Row[] }) {
  return (
    <ul className="stacked" aria-label={label}>
      {rows.map((row) => (
        <li key={keyOf(row)}>
          <dl>
            {columns
              .map(({ title, cell }) => ({ title, value: cell(row) }))
              .filter(({ value }) => value !== null)
              .map(({ title, value }) => (
                <div key={title}>
                  <dt>{title}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
          </dl>
        </li>
      ))}
    </ul>
  );
}

/** The columns for the current screen width. */
function useColumns<Row>(columns: readonly Column<Row>[]): readonly Column<Row>[] {
  const isNarrow = useIsNarrow();
  return useMemo(() => {
    const [first, ...rest] = columns;
    const below = rest.filter(({ isBelow }) => isBelow);
    if (!isNarrow || first === undefined || below.length === 0) return columns;
    const cell = (row: Row) => (
      <>
        {first.cell(row)}
        {below.map((column) => (
          <div key={column.title} className="below">
            {column.cell(row)}
          </div>
        ))}
      </>
    );
    return [{ ...first, cell }, ...rest.filter(({ isBelow }) => !isBelow)];
  }, [columns, isNarrow]);
}

interface LineProps<Row> extends Pick<TableProps<Row>, 'columns' | 'selection'> {
  readonly row: Row;
  readonly id: string;
  readonly isRowMarked: boolean;
}

// a growing log is refetched often, and most rows on screen do not change
const Line = memo(function Line<Row>({ row, id, columns, selection, isRowMarked }: LineProps<Row>) {
  const isChosen = selection?.has(id);
  return (
    <tr className={isRowMarked ? 'marked' : undefined} aria-selected={isChosen}>
      {selection && (
        <td className="tick">
          <Checkbox
            isLabelHidden
            label={common.selectRow(selection.nameOf(row))}
            isChecked={isChosen ?? false}
            onChange={(isOn) => selection.toggle(id, isOn)}
          />
        </td>
      )}
      {columns.map((column) => (
        <td key={column.title} className={classOf(column)}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}) as <Row>(props: LineProps<Row>) => ReactNode;

const classOf = <Row,>({ isFigure, isWide }: Column<Row>) =>
  [isFigure ? 'figure' : '', isWide ? 'wide-only' : ''].filter(Boolean).join(' ') || undefined;

function Head<Row>({
  column,
  sort = '',
  onSort,
}: {
  column: Column<Row>;
  sort: string | undefined;
  onSort: ((sort: string) => void) | undefined;
}) {
  const { title, sort: field } = column;
  if (field === undefined || onSort === undefined) {
    return (
      <th scope="col" className={classOf(column)}>
        {title}
      </th>
    );
  }
  const [isUp, isDown] = [sort === field, sort === `-${field}`];
  return (
    <th
      scope="col"
      className={classOf(column)}
      aria-sort={isUp ? 'ascending' : isDown ? 'descending' : undefined}
    >
      <button type="button" className="sort" onClick={() => onSort(isDown ? field : `-${field}`)}>
        {title}
        <span className={isUp || isDown ? 'sort-sign' : 'sort-sign off'}>
          <Icon name={isUp ? 'up' : 'down'} />
        </span>
      </button>
    </th>
  );
}
