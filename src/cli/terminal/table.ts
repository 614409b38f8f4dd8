/** A column of a table. */
export interface Column {
  readonly heading: string;
  /** Whether its cells are right-aligned, like numbers. */
  readonly right?: boolean;
  /** The maximum width; longer texts are truncated. */
  readonly most?: number;
}

const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u;
const COMBINING = /\p{M}/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not reach a terminal
const CONTROL = /[\u0000-\u001F\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

/** Makes a text from outside safe to print: a name must not move the cursor or reverse the line. */
export function printable(text: string): string {
  return text.replace(CONTROL, '\uFFFD');
}

/** The width of a text in terminal cells; East Asian characters and emoji take two. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += COMBINING.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}

/** Lines of an aligned table, without a heading line if no column has one. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  paintHeading: (text: string) => string = (text) => text,
): string {
  const cells = rows.map((row) => row.map((text, index) => cutTo(printable(text), columns[index]?.most)));
  const headings = columns.map(({ heading }) => heading);
  const withHeading = headings.some((heading) => heading !== '');
  const widths = columns.map(({ heading }, index) =>
    Math.max(displayWidth(heading), ...cells.map((row) => displayWidth(row[index] ?? ''))),
  );
  const line = (row: readonly string[]) =>
    columns
      .map(({ right }, index) => pad(row[index] ?? '', widths[index] ?? 0, right ?? false))
      .join('  ')
      .trimEnd();
  const lines = cells.map(line);
  if (withHeading) lines.unshift(paintHeading(line(headings)));
  return lines.map((text) => `${text}\n`).join('');
}

function pad(text: string, width: number, right: boolean): string {
  const space = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return right ? space + text : text + space;
}

/** Truncates a text to a number of terminal cells. */
function cutTo(text: string, most = Number.POSITIVE_INFINITY): string {
  if (displayWidth(text) <= most) return text;
  let shown = '';
  for (const character of text) {
    if (displayWidth(shown + character) >= most) break;
    shown += character;
  }
  return `${shown}…`;
}
