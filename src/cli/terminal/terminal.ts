import { createSpinner, NO_SPINNER, type Spinner } from './spinner.ts';

/** The output of a command: results on standard output, everything else on standard error. */
export interface Terminal {
  /** Standard output has exactly one JSON document, or one per line for a command that keeps running. */
  readonly json: boolean;
  /** Whether questions can be asked. */
  readonly interactive: boolean;
  /** Whether a progress bar would be visible. */
  readonly showsProgress: boolean;
  /** Shown during long requests. */
  readonly spinner: Spinner;
  /** The width of standard output in cells. */
  readonly width: number;
  /** The result: as JSON, or as text for people. */
  result(value: unknown, text: () => string): void;
  /** A remark for people; ignored with --json. */
  note(text: string): void;
  readonly paint: Paint;
}

/** Colours on a terminal that supports them; otherwise the text unchanged. */
export interface Paint {
  strong(text: string): string;
  faint(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  warning(text: string): string;
}

const style = (enabled: boolean, code: number) => (text: string) =>
  enabled && text !== '' ? `\u001B[${code}m${text}\u001B[0m` : text;

/** The terminal of this process. */
export function createTerminal(json: boolean): Terminal {
  const { stdin, stdout, stderr } = process;
  // hasColors() also reads NO_COLOR and FORCE_COLOR
  const coloured = stdout.isTTY && stdout.hasColors();
  const showsProgress = !json && stderr.isTTY;
  const spinner = showsProgress ? createSpinner((text) => void stderr.write(text)) : NO_SPINNER;
  return {
    json,
    interactive: stdin.isTTY && stderr.isTTY,
    width: stdout.columns || 120,
    showsProgress,
    spinner,
    result(value, text) {
      spinner.clear();
      stdout.write(json ? `${JSON.stringify(value)}\n` : text());
    },
    note(text) {
      spinner.clear();
      if (!json) stderr.write(`${text}\n`);
    },
    paint: {
      strong: style(coloured, 1),
      faint: style(coloured, 2),
      good: style(coloured, 32),
      bad: style(coloured, 31),
      warning: style(coloured, 33),
    },
  };
}
