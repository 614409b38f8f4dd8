import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { currencyTable } from '../../src/kernel/money.ts';
import { common } from '../texts/common.ts';
import { Icon } from './icon.tsx';

interface Labelled {
  readonly label: string;
  readonly hint?: ReactNode;
  /** The error message. */
  readonly problem?: string | null | undefined;
  readonly isOptional?: boolean | undefined;
}

interface Wired {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
}

/** A ref: a field with `hasFocus` takes the focus when it is first shown. */
const focusing =
  (hasFocus: boolean | undefined) => (element: HTMLInputElement | HTMLSelectElement | null) => {
    if (element === null) return;
    if (hasFocus && !element.dataset.seen) {
      // a dialog focuses the element with `autofocus` when it opens
      element.autofocus = true;
      element.focus();
    }
    element.dataset.seen = '1';
  };

/** A label, a control, a hint and an error, connected for screen readers. */
export function Field({
  label,
  hint,
  problem,
  isOptional = false,
  children,
}: Labelled & { children: (wired: Wired) => ReactNode }) {
  const id = useId();
  const described = [hint ? `${id}-hint` : '', problem ? `${id}-problem` : ''].filter(Boolean).join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {isOptional && <span className="soft"> {common.optional}</span>}
      </label>
      {children({
        id,
        'aria-describedby': described || undefined,
        'aria-invalid': problem ? true : undefined,
      })}
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem && (
        <p className="problem" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

interface TextProps extends Labelled {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly type?: 'text' | 'email' | 'password' | 'date' | 'number' | 'url';
  readonly autoComplete?: string;
  readonly placeholder?: string;
  readonly maxLength?: number;
  readonly hasFocus?: boolean;
}

/** A single-line text field. */
export function TextField({
  value,
  onChange,
  type = 'text',
  hasFocus,
  placeholder,
  maxLength,
  ...rest
}: TextProps) {
  return (
    <Field {...rest}>
      {(wired) => (
        <input
          {...wired}
          type={type}
          className="input"
          value={value}
          autoComplete={rest.autoComplete ?? 'off'}
          placeholder={placeholder}
          maxLength={maxLength}
          ref={focusing(hasFocus)}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** A multi-line text field. */
export function TextArea({
  value,
  onChange,
  rows = 3,
  isCode = false,
  ...rest
}: Labelled & { value: string; onChange: (value: string) => void; rows?: number; isCode?: boolean }) {
  return (
    <Field {...rest}>
      {(wired) => (
        <textarea
          {...wired}
          className={isCode ? 'input code' : 'input'}
          rows={rows}
          value={value}
          spellCheck={false}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export interface Option<Value extends string> {
  readonly value: Value;
  readonly label: string;
}

/** Options with the label of each value. */
export const optionsOf = <const Value extends string>(
  values: readonly Value[],
  labels: Readonly<Record<Value, string>>,
): Option<Value>[] => values.map((value) => ({ value, label: labels[value] }));

/** All currencies as options, the likely ones first. */
export function currencyOptions(likely: readonly string[]): Option<string>[] {
  const all = currencyTable().map(([currency]) => currency);
  return [...new Set([...likely, ...all])].map((value) => ({ value, label: value.toUpperCase() }));
}

/** A select in a form field. */
export function SelectField<Value extends string>({
  value,
  options,
  onChange,
  hasFocus,
  ...rest
}: Labelled & {
  value: Value;
  options: readonly Option<Value>[];
  onChange: (value: Value) => void;
  hasFocus?: boolean;
}) {
  return (
    <Field {...rest}>{(wired) => <Choice {...wired} {...{ value, options, onChange, hasFocus }} />}</Field>
  );
}

/** A select with its label inline: for filters and sentences. */
export function Select<Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: Value;
  options: readonly Option<Value>[];
  onChange: (value: Value) => void;
}) {
  return <Choice aria-label={label} value={value} options={options} onChange={onChange} />;
}

/** A filter of a list: one of the options, or with `any` none of them (undefined). */
export function FilterSelect<Value extends string>({
  any,
  value,
  options,
  onChange,
  ...rest
}: {
  label: string;
  any: string;
  value: Value | undefined;
  options: readonly Option<Value>[];
  onChange: (value: Value | undefined) => void;
}) {
  return (
    <Select<Value | ''>
      {...rest}
      value={value ?? ''}
      options={[{ value: '', label: any }, ...options]}
      onChange={(chosen) => onChange(chosen === '' ? undefined : chosen)}
    />
  );
}

function Choice<Value extends string>({
  options,
  onChange,
  hasFocus,
  ...rest
}: {
  value: Value;
  options: readonly Option<Value>[];
  onChange: (value: Value) => void;
  hasFocus?: boolean | undefined;
  id?: string;
  'aria-label'?: string;
}) {
  return (
    <span className="select">
      <select
        {...rest}
        ref={focusing(hasFocus)}
        onChange={(event) => onChange(event.currentTarget.value as Value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      <Icon name="down" />
    </span>
  );
}

/** A checkbox with its label; `isMixed` if only some of its items are checked. */
export function Checkbox({
  label,
  isChecked,
  isMixed = false,
  isLabelHidden = false,
  isDisabled = false,
  onChange,
}: {
  label: string;
  isChecked: boolean;
  isMixed?: boolean;
  isLabelHidden?: boolean;
  isDisabled?: boolean;
  onChange: (isChecked: boolean) => void;
}) {
  return (
    <label className="checkbox">
      <input
        type="checkbox"
        checked={isChecked}
        disabled={isDisabled}
        ref={(element) => {
          if (element) element.indeterminate = isMixed;
        }}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span className={isLabelHidden ? 'hidden-text' : undefined}>{label}</span>
    </label>
  );
}

/** A day `YYYY-MM-DD` with its label inline: for filters. */
export function DayField({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (day: string | undefined) => void;
}) {
  return (
    <label className="day">
      {label}
      <input
        type="date"
        className="input"
        min="1970-01-01"
        max="2999-12-31"
        value={value ?? ''}
        onChange={(event) => onChange(event.currentTarget.value || undefined)}
      />
    </label>
  );
}

/** The pause in typing before a list is requested. */
const PAUSE_MS = 250;

/** The search field of a list, focused with `/`. It reports the text after a pause in typing. */
export function SearchField({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const [text, setText] = useState(value);
  const reported = useRef(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // the URL was changed elsewhere, for example by going back
  useEffect(() => {
    if (value === reported.current) return;
    reported.current = value;
    setText(value);
  }, [value]);
  const report = (typed: string) => {
    clearTimeout(timer.current);
    if (typed === reported.current) return;
    reported.current = typed;
    onChange(typed);
  };
  const type = (typed: string) => {
    setText(typed);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => report(typed), PAUSE_MS);
  };
  return (
    <div className="search">
      <Icon name="search" />
      <input
        type="search"
        className="input"
        aria-label={label}
        placeholder={label}
        value={text}
        data-search=""
        onChange={(event) => type(event.currentTarget.value)}
        // reported later, it would navigate back from the next screen
        onBlur={() => report(text)}
      />
    </div>
  );
}
