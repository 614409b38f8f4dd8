import type { Account } from '../../../src/client/api.ts';
import { TextField } from '../../parts/field.tsx';
import { Card } from '../../parts/page.tsx';
import { originator as texts } from '../../texts/originator.ts';

type Field = keyof typeof texts.fields;
const FIELDS = Object.keys(texts.fields) as Field[];
const OPTIONAL: readonly Field[] = [
  'originating_dfi',
  'person_entry_description',
  'entry_description',
  'discretionary_data',
];

/** The originator, as typed. */
export type TypedOriginator = Readonly<Record<Field, string>>;

/** The initial values of the form. */
export const typedOriginator = ({ originator }: Account): TypedOriginator =>
  Object.fromEntries(FIELDS.map((field) => [field, originator?.[field] ?? ''])) as TypedOriginator;

/** The request body; fields that the form does not show stay as they are. null = nothing is filled in. */
export function originatorFrom({ originator: before }: Account, typed: TypedOriginator) {
  const given = FIELDS.map((field) => [field, typed[field].trim()] as const).filter(
    ([, text]) => text !== '',
  );
  if (given.length === 0) return null;
  const required = FIELDS.filter((field) => !OPTIONAL.includes(field)).map((field) => [field, '']);
  const rows = before === null ? {} : { rows_per_file: before.rows_per_file };
  return Object.fromEntries([...required, ...given, ...Object.entries(rows)]) as NonNullable<
    Account['originator']
  >;
}

/** The originator of NACHA files. */
export function OriginatorFields({
  typed,
  onChange,
}: {
  typed: TypedOriginator;
  onChange: (typed: TypedOriginator) => void;
}) {
  const hints: Partial<Record<Field, string>> = texts.hints;
  return (
    <Card title={texts.title}>
      <p className="soft">{texts.lead}</p>
      {FIELDS.map((field) => (
        <TextField
          key={field}
          label={texts.fields[field]}
          hint={hints[field]}
          value={typed[field]}
          isOptional={OPTIONAL.includes(field)}
          onChange={(value) => onChange({ ...typed, [field]: value })}
        />
      ))}
    </Card>
  );
}
