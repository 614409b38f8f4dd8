import type { ReactNode } from 'react';
import type { FormField } from '../../src/client/fields.ts';
import { formatDecimal, parseDecimal } from '../../src/kernel/money.ts';
import { common, listed } from '../texts/common.ts';
import { forms as texts, wordLabel } from '../texts/words.ts';
import { SelectField, TextArea, TextField } from './field.tsx';
import { money } from './format.ts';
import { Money, Path, Time } from './values.tsx';

/** The fields of a resource that requests can set (`src/client/fields.ts`). */
type FormFields = Readonly<Record<string, FormField>>;
/** The values of a form as they are typed, by field. */
type Typed = Readonly<Record<string, string>>;
/** A form that shows the amounts of one currency. */
interface Form {
  readonly fields: FormFields;
  readonly currency: string;
}

type Amounts = Readonly<Record<string, number>>;
type Metadata = Readonly<Record<string, string>>;

function typed(type: string, value: unknown, currency: string): string {
  if (value === null || value === undefined) return '';
  switch (type) {
    case 'amounts': {
      const amount = (value as Amounts)[currency];
      return amount === undefined ? '' : formatDecimal(BigInt(amount), currency);
    }
    case 'metadata':
      return Object.entries(value as Metadata)
        .map((pair) => pair.join('='))
        .join('\n');
    default:
      return String(value);
  }
}

/** The fields that a form shows: others have a control of their own. */
const inForm = (fields: FormFields) => Object.entries(fields).filter(([, { type }]) => type !== 'other');

type Values = Readonly<Record<string, unknown>>;

/** The value of a field, or of the part of an object, such as `form.signed_on`. */
const valueIn = (record: object, name: string): unknown =>
  name.split('.').reduce<unknown>((value, key) => (value as Values | null | undefined)?.[key], record);

/** The names of the parts of an optional object. */
const partsOf = (fields: FormFields, object: string): string[] =>
  Object.keys(fields).filter((name) => name.startsWith(`${object}.`));

/** The value of a choice that is not sent. */
const KEEP = 'keep';

/** The optional object that a field is a part of, if any, and whether it is given: its first part is. */
function objectOf(fields: FormFields, name: string, values: Typed) {
  const [object = ''] = name.split('.');
  const [first, ...others] = partsOf(fields, object);
  if (first === undefined || !fields[first]?.isNeededInObject) return null;
  const given = (values[first] ?? '').trim();
  return { first, others, isGiven: given !== '' && given !== KEEP };
}

/** Whether a field that is needed is empty. */
export const isIncomplete = (fields: FormFields, values: Typed): boolean =>
  Object.entries(fields).some(
    ([name, { isRequired, isNeededInObject }]) =>
      (values[name] ?? '').trim() === '' &&
      (isRequired || (isNeededInObject && objectOf(fields, name, values)?.isGiven)),
  );

/** A record as it is typed. */
export const typedOf = ({ fields, currency }: Form, record: object): Typed =>
  Object.fromEntries(
    inForm(fields).map(([name, { type }]) => [name, typed(type, valueIn(record, name), currency)]),
  );

/** What is wrong with a typed value; null if nothing is. */
function problemOf({ type, from = 0, to = 0 }: FormField, text: string, currency: string): string | null {
  const given = text.trim();
  if (given === '') return null;
  if (type === 'integer') {
    const isGood = /^\d{1,9}$/.test(given) && Number(given) >= from && Number(given) <= to;
    return isGood ? null : texts.integer(from, to);
  }
  if (type === 'amounts') return (parseDecimal(given, currency) ?? -1n) < 0n ? texts.amount(currency) : null;
  if (type === 'metadata') {
    const lines = given.split('\n').filter((line) => line.trim() !== '');
    const keys = lines.map((line) => line.slice(0, line.indexOf('=')).trim());
    return keys.includes('') || new Set(keys).size < keys.length ? texts.metadata : null;
  }
  return null;
}

/** Whether a typed value is wrong. */
export const hasProblem = ({ fields, currency }: Form, values: Typed): boolean =>
  inForm(fields).some(([name, field]) => problemOf(field, values[name] ?? '', currency) !== null);

/** A typed value as a request has it; `before` is the value of the record. */
function requested(type: string, text: string, before: unknown, currency: string): unknown {
  const given = text.trim();
  if (type === 'amounts') {
    const { [currency]: _, ...others } = (before ?? {}) as Amounts;
    const all = given === '' ? others : { ...others, [currency]: Number(parseDecimal(given, currency)) };
    return Object.keys(all).length === 0 ? null : all;
  }
  if (type === 'metadata') {
    const lines = given.split('\n').filter((line) => line.trim() !== '');
    return Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf('=')).trim(),
        line.slice(line.indexOf('=') + 1).trim(),
      ]),
    );
  }
  if (type === 'flag') return given === 'true';
  if (type === 'integer') return given === '' ? null : Number(given);
  return given === '' ? null : given;
}

/** The changed fields as a request has them, so that two people can change different fields. */
export function changedIn(
  { fields, currency }: Form,
  record: object,
  values: Typed,
): Record<string, unknown> {
  const before = typedOf({ fields, currency }, record);
  return Object.fromEntries(
    inForm(fields)
      .filter(([name]) => (values[name] ?? '').trim() !== before[name])
      .map(([name, { type }]) => [
        name,
        requested(type, values[name] ?? '', valueIn(record, name), currency),
      ]),
  );
}

/** All fields as a request that replaces the record has them. An optional object whose first part is `keep` is left out. */
export function allIn({ fields, currency }: Form, values: Typed): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  for (const [name, { type, isNullable }] of inForm(fields)) {
    const [object = '', part] = name.split('.');
    const value = requested(type, values[name] ?? '', null, currency) ?? (isNullable ? null : '');
    const of = objectOf(fields, name, values);
    if (part === undefined) all[name] = value;
    else if (of === null || of.isGiven) all[object] = { ...(all[object] ?? {}), [part]: value };
    else if (values[of.first] !== KEEP) all[object] = null;
  }
  return all;
}

/** A sentence of the help of a field. */
export const hintOf = (help: string | undefined) =>
  help === undefined ? undefined : `${help.charAt(0).toUpperCase()}${help.slice(1)}.`;

/**
 * The inputs of a form, in the order of the fields; the first one takes the focus, if the form does. The other parts of an
 * optional object follow once its first part is given. `kept` has the label of the choice that keeps the current value.
 */
export function FieldInputs({
  fields,
  currency,
  values,
  onChange,
  hasFocus = true,
  kept = {},
}: Form & {
  values: Typed;
  onChange: (values: Typed) => void;
  hasFocus?: boolean;
  kept?: Readonly<Record<string, string>>;
}) {
  const isShown = (name: string) => {
    const object = objectOf(fields, name, values);
    return object === null || object.first === name || object.isGiven;
  };
  return inForm(fields).map(([name, field], index) => {
    const { type, label, help, choices, isNullable = field.isNeededInObject } = field;
    if (!isShown(name) || choices?.length === 1) return null; // one choice is none
    const value = values[name] ?? '';
    const change = (text: string) => onChange({ ...values, [name]: text });
    const problem = problemOf(field, value, currency);
    const shared = {
      label,
      hint: hintOf(help),
      problem,
      value,
      onChange: change,
      hasFocus: hasFocus && index === 0,
    };
    const words = type === 'flag' ? ['true', 'false'] : choices;
    if (words) {
      const options = words.map((word) => ({ value: word, label: wordLabel(name, word) }));
      const keep = kept[name] === undefined ? [] : [{ value: KEEP, label: kept[name] }];
      const none = isNullable ? [{ value: '', label: texts.notSet }] : [];
      return <SelectField key={name} {...shared} options={[...keep, ...none, ...options]} />;
    }
    if (type === 'metadata')
      return (
        <TextArea key={name} {...{ label, problem, value }} hint={texts.metadataHint} onChange={change} />
      );
    if (type === 'amounts')
      return <TextField key={name} {...shared} label={texts.inCurrency(label, currency)} />;
    return (
      <TextField
        key={name}
        {...shared}
        type={type === 'email' ? 'email' : type === 'day' ? 'date' : 'text'}
        {...(type === 'country' ? { maxLength: 2 } : {})}
      />
    );
  });
}

/** A value for people. */
function shown(name: string, { type, choices }: FormField, value: unknown, record: object): ReactNode {
  if (value === null || value === undefined) return common.nothing;
  if (type === 'money')
    return <Money amount={value as number} currency={String(valueIn(record, 'currency'))} />;
  if (type === 'rate') return `${(value as number) / 100} %`;
  if (type === 'time') return <Time at={value as string} isFocusable />;
  if (choices || type === 'flag') return wordLabel(name, String(value));
  if (type === 'amounts')
    return listed(Object.entries(value as Amounts).map(([currency, amount]) => money({ currency, amount })));
  if (type === 'metadata') {
    const pairs = Object.entries(value as Metadata).map((pair) => pair.join('='));
    return pairs.length === 0 ? common.nothing : listed(pairs);
  }
  return <Path>{String(value)}</Path>;
}

/** The fields that have a value in a record. */
export const givenIn = (fields: FormFields, record: object): FormFields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => (valueIn(record, name) ?? null) !== null));

/** A row for each field of a record, for `Facts`. */
export const factsOf = (fields: FormFields, record: object): (readonly [label: string, value: ReactNode])[] =>
  inForm(fields).map(([name, field]) => [field.label, shown(name, field, valueIn(record, name), record)]);
