import type { ImportMapping, ImportPreview } from '../../../src/client/api.ts';
import type { Choices } from '../../data/imports.ts';
import { SelectField } from '../../parts/field.tsx';
import { Card } from '../../parts/page.tsx';
import { imports } from '../../texts/imports.ts';

const texts = imports.dialect;

const options = <Value extends string>(labels: Readonly<Record<Value, string>>) =>
  (Object.entries(labels) as [Value, string][]).map(([value, label]) => ({ value, label }));

const FIRST_LINES = 30;

/** The lines that may name the columns. */
function headerOptions(current: number) {
  const lines = Array.from({ length: FIRST_LINES }, (_, index) => index + 1);
  const offered = lines.includes(current) ? lines : [...lines, current];
  return offered.map((line) => ({ value: String(line), label: texts.headerLine(line) }));
}

/** How a file is read, with controls to change it. */
export function Dialect({
  preview: { dialect, workbook, kind, columns, mapping_name },
  choices,
  saved,
  onChange,
}: {
  preview: ImportPreview;
  choices: Choices;
  saved: readonly ImportMapping[];
  onChange: (next: Choices) => void;
}) {
  const hasHistory = columns.some(({ field }) => field === 'paid_at' || field === 'status');
  return (
    <Card title={texts.title}>
      <p className="soft">{texts.hint}</p>
      <div className="form-grid">
        {workbook ? (
          <SelectField
            label={texts.sheet}
            value={dialect.sheet ?? ''}
            options={workbook.sheets.map(({ name, is_hidden }) => ({
              value: name,
              label: is_hidden ? texts.hidden(name) : name,
            }))}
            onChange={(sheet) => onChange({ sheet, header_row: undefined })}
          />
        ) : (
          <SelectField
            label={texts.separator}
            value={dialect.separator}
            options={options(texts.separators)}
            onChange={(separator) => onChange({ separator })}
          />
        )}
        <SelectField
          label={texts.header}
          value={String(dialect.header_row ?? 1)}
          options={headerOptions(dialect.header_row ?? 1)}
          onChange={(line) => onChange({ header_row: Number(line) })}
        />
        <SelectField
          label={texts.decimal}
          value={dialect.decimal}
          options={options(texts.decimals)}
          onChange={(decimal) => onChange({ decimal })}
        />
        <SelectField
          label={texts.dates}
          value={dialect.dates}
          options={options(texts.datesBy)}
          onChange={(dates) => onChange({ dates })}
        />
        {workbook === null && (
          <SelectField
            label={texts.encoding}
            value={dialect.encoding}
            options={options(texts.encodings)}
            onChange={(encoding) => onChange({ encoding })}
          />
        )}
        {kind === 'commissions' && hasHistory && (
          <SelectField
            label={texts.paid}
            value={choices.paid ?? 'import'}
            options={options(texts.paids)}
            onChange={(paid) => onChange({ paid })}
          />
        )}
        {saved.length > 0 && (
          <SelectField
            label={texts.mapping}
            value={mapping_name ?? ''}
            options={[
              { value: '', label: texts.noMapping },
              ...saved.map(({ name }) => ({ value: name, label: name })),
            ]}
            onChange={(name) => onChange({ mapping: name || {} })}
          />
        )}
      </div>
    </Card>
  );
}
