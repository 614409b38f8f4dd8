import { choicesOf, type WritableField, withoutNull } from '../../contract/fields.ts';
import { quote } from '../../kernel/csv-refusal.ts';
import { type Cell, type Cells, cell } from './csv-import.ts';

type ImportedFields = readonly (readonly [name: string, field: WritableField])[];

/** Whether the values of a field come from a fixed set, so that a truncated one cannot pass as valid. */
export const hasFixedWords = ({ type }: WritableField): boolean =>
  type === 'word' || type === 'flag' || type === 'country';

/** The SQL type that a field is staged as. */
export const stagedType = ({ type }: WritableField): string => (type === 'flag' ? 'boolean' : 'text');

/** The reader of a field: its length, words and default, but not its `rule`. */
export function readerOf(name: string, field: WritableField): (cells: Cells) => Cell {
  const read = valueReader(name, field);
  const fallback = (field.default ?? null) as Cell;
  return (cells) => {
    const value = cells[name] ?? null;
    return read(field.isRequired ? cell.required(name, value) : value) ?? fallback;
  };
}

function valueReader(
  name: string,
  { type, input, normalise }: WritableField,
): (value: string | null) => Cell {
  const choices = choicesOf(input);
  if (choices) return (value) => cell.oneOf(name, value, choices);
  if (type === 'flag') return (value) => cell.boolean(name, value);
  if (type === 'country') return (value) => cell.country(name, value);
  const { type: json, maxLength = Number.POSITIVE_INFINITY } = withoutNull(input) as {
    type?: string;
    maxLength?: number;
  };
  if (json === 'number') return (value) => cell.id(name, value);
  return (value) => {
    const text = cell.text(name, value, maxLength);
    return text !== null && normalise ? (normalise(text as never, name) as Cell) : text;
  };
}

/** JSON of column to message, for cells that break the rule of their field; null if none does. */
export function brokenRules(fields: ImportedFields): (cells: Cells) => string | null {
  const ruled = fields.filter(([, { rule }]) => rule !== undefined);
  return (cells) => {
    const broken = ruled.flatMap(([name, { rule }]) => {
      const value = cells[name] ?? null;
      const why = value === null ? null : rule?.(value);
      return value === null || why == null ? [] : [[name, `${name} ${why}: ${quote(value)}`] as const];
    });
    return broken.length === 0 ? null : JSON.stringify(Object.fromEntries(broken));
  };
}

/** The value of a field whose cell no message repeats; undefined if it is empty. The rules beyond are those of the API. */
export function privateCell(
  { type, input, import: rule }: WritableField,
  name: string,
  cells: Cells,
): string | undefined {
  const column = rule?.column ?? name;
  const choices = choicesOf(input);
  if (type === 'word' && choices) return cell.oneOf(column, cells[column], choices) ?? undefined;
  const { maxLength = Number.POSITIVE_INFINITY } = withoutNull(input) as { maxLength?: number };
  return cell.limited(column, cells[column], maxLength);
}
