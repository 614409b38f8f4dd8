import { useState } from 'react';
import type { CreatePayoutScheduleBody, PayoutFilters, PayoutSchedule } from '../../../src/client/api.ts';
import { DESTINATION_TYPES } from '../../../src/terms/payments.ts';
import { useMe } from '../../data/me.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { rulesOf } from '../../data/schedules.ts';
import { CurrencyField } from '../../parts/currency.tsx';
import { Checkbox, optionsOf, SelectField, TextField } from '../../parts/field.tsx';
import { day as dayText } from '../../parts/format.ts';
import { Confirm } from '../../parts/overlay.tsx';
import { toast } from '../../parts/toast.tsx';
import { payouts } from '../../texts/payouts.ts';
import { schedules } from '../../texts/schedules.ts';

const texts = schedules.form;
const RHYTHMS = ['week', 'month'] as const;

/** The initial values of the form. */
function typedOf(before: PayoutSchedule | null) {
  const { rules } = rulesOf(before?.filters);
  return {
    name: before?.name ?? '',
    every: before?.every ?? 'month',
    day: String(before?.day ?? 1),
    method: rules.payout_method ?? '',
    currency: rules.currency ?? '',
    program: String(rules.program_id ?? ''),
    search: before?.search ?? '',
    ignore_minimum: before?.ignore_minimum ?? false,
  };
}
type Typed = ReturnType<typeof typedOf>;

/** The request body. Filters without a field here stay as they are. */
function bodyOf(typed: Typed, others: object | null): CreatePayoutScheduleBody {
  const { name, every, day, method, currency, program, search, ignore_minimum } = typed;
  const filters = {
    ...others,
    ...(method === '' ? {} : { payout_method: method }),
    ...(currency === '' ? {} : { currency }),
    ...(program === '' ? {} : { program_id: Number(program) }),
  } as PayoutFilters;
  return {
    name: name.trim(),
    every,
    day: Number(day),
    filters: Object.keys(filters).length === 0 ? null : filters,
    search: search.trim(),
    ignore_minimum,
  };
}

/** The dialog that creates or changes a schedule. */
export function ScheduleForm({ before, onClose }: { before: PayoutSchedule | null; onClose: () => void }) {
  const creating = useWrite('createPayoutSchedule');
  const changing = useWrite('changePayoutSchedule');
  const [typed, setTyped] = useState(() => typedOf(before));
  const { others } = rulesOf(before?.filters);
  const change = (next: Partial<Typed>) => setTyped({ ...typed, ...next });
  const done = (text: string) => {
    toast(text);
    onClose();
  };
  const save = () => {
    const body = bodyOf(typed, others);
    if (before === null) {
      const onSuccess = ({ next_on }: PayoutSchedule) => done(texts.created(dayText(next_on ?? '')));
      creating.mutate({ body }, { onSuccess });
    } else {
      changing.mutate({ path: [before.id], body }, { onSuccess: () => done(texts.saved) });
    }
  };
  return (
    <Confirm
      title={before === null ? texts.create : texts.change(before.name)}
      action={before === null ? texts.doIt : texts.save}
      isBusy={creating.isPending || changing.isPending}
      isDisabled={typed.name.trim() === ''}
      error={creating.error ?? changing.error}
      onConfirm={save}
      onClose={onClose}
    >
      <p className="soft form-lead">{before === null ? schedules.lead : schedules.creator}</p>
      <div className="form-grid">
        <TextField
          label={texts.name}
          value={typed.name}
          maxLength={200}
          hasFocus
          onChange={(name) => change({ name })}
        />
        <SelectField
          label={texts.every}
          value={typed.every}
          options={optionsOf(RHYTHMS, texts.rhythms)}
          onChange={(every) => change({ every, day: '1' })}
        />
        <Day typed={typed} change={change} />
        <Filters typed={typed} change={change} />
      </div>
      {others !== null && <p className="hint">{texts.others(JSON.stringify(others))}</p>}
      <div className="field">
        <Checkbox
          label={texts.minimum}
          isChecked={typed.ignore_minimum}
          onChange={(ignore_minimum) => change({ ignore_minimum })}
        />
      </div>
    </Confirm>
  );
}

interface Part {
  readonly typed: Typed;
  readonly change: (next: Partial<Typed>) => void;
}

function Day({ typed: { every, day }, change }: Part) {
  const days = Array.from({ length: every === 'week' ? 7 : 31 }, (_, index) => index + 1);
  return (
    <SelectField
      label={every === 'week' ? texts.weekday : texts.day}
      hint={texts.dayHint}
      value={day}
      options={days.map((each) => ({
        value: String(each),
        label: every === 'week' ? (schedules.weekdays[each - 1] ?? '') : schedules.dayOfMonth(each),
      }))}
      onChange={(next) => change({ day: next })}
    />
  );
}

function Filters({ typed, change }: Part) {
  const ownCurrency = useMe().data?.account.default_currency ?? 'usd';
  const programs = useRead('listPrograms', { query: { per_page: 100 } }).data?.data ?? [];
  const isUnknown = typed.program !== '' && !programs.some(({ id }) => String(id) === typed.program);
  return (
    <>
      <SelectField
        label={texts.method}
        value={typed.method}
        options={[
          { value: '' as const, label: texts.anyMethod },
          ...optionsOf(DESTINATION_TYPES, payouts.methods),
        ]}
        onChange={(method) => change({ method })}
      />
      <CurrencyField
        label={texts.currency}
        value={typed.currency}
        likely={[ownCurrency]}
        any={texts.anyCurrency}
        onChange={(currency) => change({ currency })}
      />
      {(programs.length > 0 || isUnknown) && (
        <SelectField
          label={texts.program}
          value={typed.program}
          options={[
            { value: '', label: texts.anyProgram },
            ...(isUnknown ? [{ value: typed.program, label: `#${typed.program}` }] : []),
            ...programs.map(({ id, name }) => ({ value: String(id), label: name })),
          ]}
          onChange={(program) => change({ program })}
        />
      )}
      <TextField
        label={texts.search}
        hint={texts.searchHint}
        isOptional
        value={typed.search}
        maxLength={200}
        onChange={(search) => change({ search })}
      />
    </>
  );
}
