import { type Command, Option } from 'commander';
import type { FormField, FormFields } from '../../client/fields.ts';
import { amounts } from '../terminal/money.ts';
import { exactTime } from '../terminal/time.ts';
import { DECIMAL_HELP, describeMinimums, readAmount, readCurrency, readMinimums } from './amounts.ts';
import { UsageError } from './errors.ts';
import { describeMetadata, readMetadata, withMetadata } from './metadata.ts';
import { readInteger } from './numbers.ts';

/** The value of `--option` that clears a word, a number or amounts. */
const NONE = 'none';

const EXAMPLES: Readonly<Record<string, string>> = {
  day: ', YYYY-MM-DD',
  amounts: ', such as usd=50.00,eur=45.00',
  money: `, ${DECIMAL_HELP}`,
  time: ', an instant such as 2026-09-15T08:30:00Z',
};

const lowered = (label: string) => label.charAt(0).toLowerCase() + label.slice(1);

/** Gives a command an option for each field; a new record needs some of them. Fields of type `other` have their own. */
export function withFields(
  command: Command,
  fields: FormFields,
  { isNew = false, metadata = '' }: { isNew?: boolean; metadata?: string } = {},
): Command {
  for (const field of Object.values(fields)) {
    const { type, label, help = lowered(label), option: flags, choices, isRequired } = field;
    if (type === 'other') continue;
    if (type === 'metadata') {
      withMetadata(command, metadata);
      continue;
    }
    if (type === 'flag') {
      command.option(flags, help).option(flags.replace('--', '--no-'), `not ${lowered(label)}`);
      continue;
    }
    const word = clearingWord(field);
    const example = EXAMPLES[type] ?? '';
    const option = new Option(flags, `${help}${example}${word && !choices ? `; ${word} removes it` : ''}`);
    option.makeOptionMandatory(isNew && isRequired === true);
    command.addOption(choices ? option.choices([...choices, ...(word ? [word] : [])]) : option);
  }
  return command;
}

/** The value that clears a field; an empty one clears a text, undefined cannot be cleared. */
function clearingWord({ type, choices, isNullable, clearWord }: FormField): string | undefined {
  if (!isNullable) return clearWord;
  return choices || type === 'amounts' || type === 'integer' ? (clearWord ?? NONE) : '';
}

/**
 * The fields of a request; of a text that can be cleared, an empty one is null. `currency` is that of fields with an
 * amount. Throws a UsageError.
 */
export function readFields(fields: FormFields, options: object, currency = 'usd'): Record<string, unknown> {
  const given = options as Readonly<Record<string, unknown>>;
  const read: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const { long, attributeName } = optionOf(field);
    const value = given[attributeName];
    if (field.type === 'other' || value === undefined) continue;
    const [object = '', part] = name.split('.');
    if (part === undefined) read[name] = readField(field, long, value, currency);
    else if (value === field.clearWord) read[object] = null;
    else if (read[object] !== null)
      read[object] = { ...(read[object] ?? {}), [part]: readField(field, long, value, currency) };
  }
  refuseIncomplete(fields, read);
  return read;
}

/** Refuses an object without a part that it needs. */
function refuseIncomplete(fields: FormFields, read: Readonly<Record<string, unknown>>): void {
  for (const [object, value] of Object.entries(read)) {
    if (value === null) continue;
    const needed = Object.entries(fields).filter(
      ([name, { isNeededInObject }]) => isNeededInObject && name.startsWith(`${object}.`),
    );
    if (needed.every(([name]) => name.slice(object.length + 1) in (value as object))) continue;
    throw new UsageError(`${needed.map(([, field]) => optionOf(field).long).join(' and ')} go together`);
  }
}

function optionOf({ option }: FormField): { long: string; attributeName: string } {
  const made = new Option(option);
  return { long: made.long ?? option, attributeName: made.attributeName() };
}

function readField(field: FormField, option: string, value: unknown, currency: string): unknown {
  const { type, from = 0, to = Number.MAX_SAFE_INTEGER } = field;
  if (type === 'metadata') return readMetadata(value as readonly string[]);
  if (value === clearingWord(field)) return null;
  if (type === 'money') return readAmount(option, value as string, { currency, from });
  if (type === 'integer' || type === 'rate') return readInteger(option, value as string, { from, to });
  if (type === 'currency') return readCurrency(option, value as string);
  if (type === 'amounts') {
    const minimums = readMinimums(option, value as string);
    return Object.keys(minimums).length === 0 ? null : minimums;
  }
  return value;
}

const shownFields = (fields: FormFields) => Object.entries(fields).filter(([, { type }]) => type !== 'other');

/** The options of the fields, for messages. */
export const optionNames = (fields: FormFields): string =>
  Object.values(fields)
    .map((field) => optionOf(field).long)
    .join(', ');

/** Each field of a record for people; null when it has no value. */
export const describeFields = (
  fields: FormFields,
  record: object,
): (readonly [label: string, value: string | null])[] =>
  shownFields(fields).map(([name, { label, type }]) => [
    label,
    describe(type, (record as Readonly<Record<string, unknown>>)[name], record),
  ]);

function describe(type: string, value: unknown, record: { readonly currency?: string }): string | null {
  if (value === null || value === undefined) return null;
  if (type === 'money') return amounts([{ amount: value as number, currency: record.currency ?? '' }]);
  if (type === 'rate') return `${(value as number) / 100} %`;
  if (type === 'currency') return (value as string).toUpperCase();
  if (type === 'time') return exactTime(value as string);
  if (type === 'flag') return value ? 'yes' : 'no';
  if (type === 'amounts') return describeMinimums(value as Readonly<Record<string, number>>);
  if (type === 'metadata') return describeMetadata(value as Readonly<Record<string, string>>);
  return String(value);
}

/** The columns of a file that give these fields, with the words of each. */
export const importedNames = (fields: FormFields): string[] =>
  Object.values(fields).flatMap(({ column, type, choices }) => {
    if (column === undefined) return [];
    const words = type === 'flag' ? ['true', 'false'] : choices;
    return [words ? `${column} (${words.join(', ')})` : column];
  });
