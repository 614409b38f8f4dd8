import type { Account, SepaMessage } from '../../../src/client/api.ts';
import { Checkbox, SelectField, TextField } from '../../parts/field.tsx';
import { Card } from '../../parts/page.tsx';
import { settings } from '../../texts/settings.ts';

const texts = settings.account;
const MESSAGES: readonly SepaMessage[] = ['pain.001.001.09', 'pain.001.001.03'];
const TYPED = ['name', 'iban', 'bic', 'rows'] as const;

/** The debtor, as typed. */
export interface TypedDebtor extends Readonly<Record<(typeof TYPED)[number], string>> {
  readonly message: SepaMessage;
  readonly isInstant: boolean;
}

/** The initial values of the form. */
export const typedDebtor = ({ debtor }: Account): TypedDebtor => ({
  name: debtor?.name ?? '',
  iban: debtor?.iban ?? '',
  bic: debtor?.bic ?? '',
  message: debtor?.message ?? 'pain.001.001.09',
  rows: String(debtor?.rows_per_file ?? ''),
  isInstant: debtor?.is_instant ?? false,
});

/** The request body; null = neither name nor account is filled in. The server validates the number of rows. */
export function debtorFrom(typed: TypedDebtor) {
  const [name, iban, bic, rows] = TYPED.map((field) => typed[field].trim());
  if (!name && !iban && !bic) return null;
  const limit = rows ? { rows_per_file: Number(rows) } : {};
  const { message, isInstant: is_instant } = typed;
  return { name: name ?? '', iban: iban ?? '', bic: bic || null, message, is_instant, ...limit };
}

/** The debtor of SEPA files. */
export function DebtorFields({
  typed,
  onChange,
}: {
  typed: TypedDebtor;
  onChange: (typed: TypedDebtor) => void;
}) {
  const field = (name: (typeof TYPED)[number]) => ({
    value: typed[name],
    onChange: (value: string) => onChange({ ...typed, [name]: value }),
  });
  return (
    <Card title={texts.debtor}>
      <p className="soft">{texts.debtorHint}</p>
      <TextField label={texts.debtorName} {...field('name')} />
      <TextField label={texts.debtorIban} {...field('iban')} />
      <TextField label={texts.debtorBic} isOptional {...field('bic')} />
      <SelectField
        label={texts.debtorMessage}
        hint={texts.debtorMessageHint}
        value={typed.message}
        options={MESSAGES.map((value) => ({ value, label: value }))}
        onChange={(message) => onChange({ ...typed, message })}
      />
      <TextField
        label={texts.debtorRows}
        hint={texts.debtorRowsHint}
        type="number"
        isOptional
        {...field('rows')}
      />
      <Checkbox
        label={texts.debtorInstant}
        isChecked={typed.isInstant}
        onChange={(isInstant) => onChange({ ...typed, isInstant })}
      />
      <p className="soft">{texts.debtorInstantHint}</p>
    </Card>
  );
}
