import { common } from '../texts/common.ts';
import { TextArea } from './field.tsx';
import { mistakeIn, readJson } from './json.ts';

/** Why a text is not a JSON object, with the position of the error; null when it is one. */
export function problemOfObject(text: string): string | null {
  const mistake = mistakeIn(text);
  if (mistake !== null) {
    return common.json.mistake(mistake.line, mistake.column, common.json.expected[mistake.expected]);
  }
  return text.trim().startsWith('{') ? null : common.json.noObject;
}

/** The object in a valid text. */
export const objectOf = (text: string) => readJson(text) as Record<string, unknown>;

/** A field for a JSON object; errors are shown with their position. */
export function JsonField({
  label,
  hint,
  value,
  onChange,
  problem,
  rows = 12,
  isOptional = false,
}: {
  label: string;
  hint?: string;
  value: string;
  onChange: (value: string) => void;
  /** What is wrong with the object, when its JSON is right. */
  problem?: string | undefined;
  rows?: number;
  /** Whether it may be left empty. */
  isOptional?: boolean;
}) {
  const isLeft = isOptional && value.trim() === '';
  return (
    <TextArea
      label={label}
      hint={hint}
      problem={isLeft ? null : (problemOfObject(value) ?? problem)}
      value={value}
      onChange={onChange}
      rows={rows}
      isOptional={isOptional}
      isCode
    />
  );
}
