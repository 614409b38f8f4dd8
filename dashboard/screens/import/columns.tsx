import { type FormEvent, useState } from 'react';
import type { ImportColumn, ImportPreview } from '../../../src/client/api.ts';
import { type Mapping, withConstant, withField } from '../../data/imports.ts';
import { useMe } from '../../data/me.ts';
import { Button, IconButton } from '../../parts/button.tsx';
import { CurrencyField } from '../../parts/currency.tsx';
import { Select, SelectField, TextField } from '../../parts/field.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Name, Status } from '../../parts/values.tsx';
import { imports } from '../../texts/imports.ts';

const texts = imports.columns;
/** Derived by the server from other fields, so no column provides it. */
const DERIVED = 'is_pending';
/** Different in every line and never stored in the clear, so the server accepts them from columns only. */
const COLUMNS_ONLY = ['iban', 'account_number', 'tax_id'];

type OnMap = (to: (mapping: Mapping) => Mapping) => void;

/** Selects the field of each column, and constant values. */
export function Columns({ preview, onMap }: { preview: ImportPreview; onMap: OnMap }) {
  const fields = Object.entries(imports.fields[preview.kind]).filter(([field]) => field !== DERIVED);
  const options = [{ value: '', label: texts.ignore }, ...fields.map(([value, label]) => ({ value, label }))];
  const columns: readonly Column<ImportColumn>[] = [
    {
      title: texts.column,
      cell: ({ column, samples }) => (
        <>
          <b>
            <Name>{column}</Name>
          </b>
          <span className="second samples">
            <Name>{samples.join(' · ')}</Name>
          </span>
        </>
      ),
    },
    {
      title: texts.field,
      cell: ({ column, field }) => (
        <Select
          label={texts.of(column)}
          value={field ?? ''}
          options={options}
          onChange={(next) => onMap((mapping) => withField(mapping, column, next || null))}
        />
      ),
    },
    { title: texts.how, isWide: true, cell: ({ source }) => <Source source={source} /> },
  ];
  return (
    <>
      <section className="part">
        <h2>{texts.title}</h2>
        <Table label={texts.title} columns={columns} rows={preview.columns} keyOf={({ column }) => column} />
      </section>
      <Constants preview={preview} fields={fields} onMap={onMap} />
    </>
  );
}

function Source({ source }: { source: ImportColumn['source'] }) {
  const label = texts.sources[source];
  if (label === '') return null;
  const isGuess = source === 'synonym' || source === 'values';
  return <Status tone={isGuess ? 'info' : 'good'} icon={isGuess ? 'info' : 'check'} label={label} />;
}

/** Fields without a column: one value for all lines. */
function Constants({
  preview: { mapping },
  fields,
  onMap,
}: {
  preview: ImportPreview;
  fields: readonly (readonly [field: string, label: string])[];
  onMap: OnMap;
}) {
  const ownCurrency = useMe().data?.account.default_currency ?? 'usd';
  const [field, setField] = useState('');
  const [value, setValue] = useState('');
  const labels = new Map(fields);
  const offered = fields.filter(([name]) => !COLUMNS_ONLY.includes(name));
  const given = Object.entries(mapping).flatMap(([name, to]) =>
    typeof to === 'string' ? [] : [[name, to.constant] as const],
  );
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (field === '' || value.trim() === '') return;
    onMap((before) => withConstant(before, field, value.trim()));
    setField('');
    setValue('');
  };
  return (
    <details className="card" open={given.length > 0}>
      <summary>
        <h2>{imports.constants.title}</h2>
      </summary>
      <p className="soft">{imports.constants.hint}</p>
      {given.length > 0 && (
        <ul className="constants">
          {given.map(([name, constant]) => (
            <li key={name}>
              {labels.get(name) ?? name}: <b>{constant}</b>
              <IconButton
                icon="trash"
                label={imports.constants.remove(labels.get(name) ?? name)}
                onPress={() => onMap((before) => withConstant(before, name, null))}
              />
            </li>
          ))}
        </ul>
      )}
      <form className="constant-form" onSubmit={add}>
        <SelectField
          label={imports.constants.field}
          value={field}
          options={[
            { value: '', label: imports.constants.choose },
            ...offered.map(([name, label]) => ({ value: name, label })),
          ]}
          onChange={setField}
        />
        {field === 'currency' ? (
          <CurrencyField
            label={imports.constants.value}
            value={value}
            likely={[ownCurrency]}
            onChange={setValue}
          />
        ) : (
          <TextField label={imports.constants.value} value={value} onChange={setValue} />
        )}
        <Button type="submit" icon="plus" isDisabled={field === '' || value.trim() === ''}>
          {imports.constants.add}
        </Button>
      </form>
    </details>
  );
}
