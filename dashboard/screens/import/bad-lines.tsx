import type { ImportBadLine, ImportColumn, ImportErrorGroup } from '../../../src/client/api.ts';
import { whole } from '../../parts/format.ts';
import { useIsNarrow } from '../../parts/narrow.ts';
import { Name } from '../../parts/values.tsx';
import { imports } from '../../texts/imports.ts';

const texts = imports.report;

/** The error without the field name: the cell shows which it is. */
function ruleOf({ column, message }: Pick<ImportErrorGroup, 'column' | 'message'>): string {
  const rule = column === null ? message : message.replace(/^\w+ /, '');
  return rule.charAt(0).toUpperCase() + rule.slice(1);
}

/** The first bad lines as the file has them: each with its wrong cell marked, and what is wrong below the lines that share it. */
export function BadLinesTable(props: {
  groups: readonly ImportErrorGroup[];
  columns: readonly ImportColumn[];
}) {
  return useIsNarrow() ? <BadLinesList {...props} /> : <BadLinesGrid {...props} />;
}

/** Those columns in which one of the lines has something, or has an error. */
function columnsOf(groups: readonly ImportErrorGroup[], columns: readonly ImportColumn[]): string[] {
  const used = new Set<string | null>();
  for (const { column, first } of groups) {
    used.add(column);
    for (const { values } of first) for (const name of Object.keys(values)) used.add(name);
  }
  return columns.map(({ column }) => column).filter((column) => used.has(column));
}

const keyOf = ({ first: [one], column, message }: ImportErrorGroup) => `${one?.line} ${column} ${message}`;

function BadLinesGrid({
  groups,
  columns,
}: {
  groups: readonly ImportErrorGroup[];
  columns: readonly ImportColumn[];
}) {
  const names = columnsOf(groups, columns);
  return (
    <section
      className="table-frame"
      aria-label={texts.errors}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable with the keyboard
      tabIndex={0}
    >
      <table className="table bad-grid">
        <thead>
          <tr>
            <th scope="col" className="figure">
              {texts.line}
            </th>
            {names.map((name) => (
              <th key={name} scope="col">
                <Name>{name}</Name>
              </th>
            ))}
          </tr>
        </thead>
        {groups.map((group) => (
          <tbody key={keyOf(group)}>
            {group.first.map((bad) => (
              <tr key={bad.line}>
                <th scope="row" className={group.column === null ? 'figure wrong' : 'figure'}>
                  {whole(bad.line)}
                </th>
                {names.map((name) =>
                  name === group.column ? (
                    <td key={name} className="wrong">
                      <WrongValue value={bad.values[name]} />
                    </td>
                  ) : (
                    <td key={name}>{bad.values[name] && <Name>{bad.values[name]}</Name>}</td>
                  ),
                )}
              </tr>
            ))}
            <tr>
              <td colSpan={names.length + 1}>
                <Rule group={group} />
              </td>
            </tr>
          </tbody>
        ))}
      </table>
    </section>
  );
}

/** On a phone: of each line the wrong cell, then its other values. */
function BadLinesList({
  groups,
  columns,
}: {
  groups: readonly ImportErrorGroup[];
  columns: readonly ImportColumn[];
}) {
  return (
    <ul className="stacked bad-list" aria-label={texts.errors}>
      {groups.map((group) => (
        <li key={keyOf(group)}>
          {group.first.map((bad) => (
            <div key={bad.line}>
              <p>
                <span className="soft">{texts.lineOf(whole(bad.line))}</span>
                {group.column !== null && (
                  <span className="wrong">
                    <Name>{group.column}</Name>: <WrongValue value={bad.values[group.column]} />
                  </span>
                )}
              </p>
              <p className="second">
                <Name>{othersOf(bad, columns).join(' · ')}</Name>
              </p>
            </div>
          ))}
          <Rule group={group} />
        </li>
      ))}
    </ul>
  );
}

const othersOf = ({ column: wrong, values }: ImportBadLine, columns: readonly ImportColumn[]): string[] =>
  columns.flatMap(({ column }) => (column === wrong ? [] : (values[column] ?? [])));

/** A wrong value; screen readers hear that it is wrong. */
function WrongValue({ value }: { value: string | undefined }) {
  return (
    <>
      {value === undefined ? <i>{texts.empty}</i> : <Name>{value}</Name>}
      <span className="hidden-text"> {texts.wrong}</span>
    </>
  );
}

/** What is wrong with the lines of a group, and how many have it. */
function Rule({ group }: { group: ImportErrorGroup }) {
  return (
    <p className="rule">
      <Name>{ruleOf(group)}</Name>
      {group.count > group.first.length && <b>{texts.sameError(group.count)}</b>}
    </p>
  );
}
