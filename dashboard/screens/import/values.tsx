import type { ImportPreview, ImportValues } from '../../../src/client/api.ts';
import type { Values as WordValues } from '../../data/imports.ts';
import { Select } from '../../parts/field.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Name, Status } from '../../parts/values.tsx';
import { imports } from '../../texts/imports.ts';
import { countryOptions } from './countries.ts';

const texts = imports.values;
const REFUSE = 'refuse';

type Word = ImportValues['values'][number];

/** The words of the file that the API does not know: how many lines have each, and its meaning. */
export function Values({
  preview: { values, kind },
  onMean,
}: {
  preview: ImportPreview;
  onMean: (values: WordValues) => void;
}) {
  const columns = values.filter((one) => one.values.some(({ source }) => source !== 'exact'));
  return columns.map((one) => (
    <section className="part" key={one.column}>
      <h2>{texts.title(one.column)}</h2>
      <Table
        label={texts.title(one.column)}
        columns={columnsOf(one, kind, onMean)}
        rows={one.values}
        keyOf={({ value }) => value}
      />
      {one.more > 0 && <p className="soft">{texts.more(one.more)}</p>}
    </section>
  ));
}

function columnsOf(
  { field, words }: ImportValues,
  kind: ImportPreview['kind'],
  onMean: (values: WordValues) => void,
): readonly Column<Word>[] {
  const meanings =
    words === null
      ? countryOptions()
      : words.map((word) => ({ value: word, label: imports.meaning(kind, field, word) }));
  const options = [...meanings, { value: REFUSE, label: texts.refuse }];
  return [
    {
      title: texts.word,
      cell: ({ value, lines }) => (
        <>
          <b>
            <Name>{value}</Name>
          </b>
          <span className="second">{imports.lines(lines)}</span>
        </>
      ),
    },
    {
      title: texts.means,
      cell: ({ value, means, source }) => (
        <Select
          label={texts.of(value)}
          value={means ?? (source === 'given' ? REFUSE : '')}
          options={
            means === null && source !== 'given' ? [{ value: '', label: texts.unknown }, ...options] : options
          }
          onChange={(meaning) => meaning !== '' && onMean({ [field]: { [value]: meaning } })}
        />
      ),
    },
    { title: texts.how, isWide: true, cell: ({ source }) => <Source source={source} /> },
  ];
}

function Source({ source }: { source: Word['source'] }) {
  const tone = source === 'none' ? 'warn' : source === 'synonym' ? 'info' : 'good';
  const icon = source === 'none' ? 'alert' : source === 'synonym' ? 'info' : 'check';
  return <Status tone={tone} icon={icon} label={texts.sources[source]} />;
}
