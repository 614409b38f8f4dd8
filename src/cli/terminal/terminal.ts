import { createSpinner, NO_SPINNER, type Spinner } from './spinner.ts';

/** Where a command speaks: results on standard output, everything else on standard error. */
export interface Terminal {
  /** Standard output carries exactly one JSON document, or one a line from a command that goes on. */
  readonly json: boolean;
  /** Somebody is there who can be asked. */
  readonly interactive: boolean;
  /** Whether a progress bar would be seen. */
  readonly showsProgress: boolean;
  /** Shown while requests take long. */
  readonly spinner: Spinner;
  /** Cells of a line on standard output. */
  readonly width: number;
  /** The result: as JSON, or as text for people. */
  result(value: unknown, text: () => string): void;
  /** A remark for people; nothing with --json. */
  note(text: string): void;
  readonly paint: Paint;
}

/** Colours, on a terminal that wants them; else the text as it is. */
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
  // hasColors() also asks NO_COLOR and FORCE_COLOR
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
