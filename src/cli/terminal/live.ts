import { onInterrupt } from './interrupt.ts';

/** Lines of a terminal that are drawn again in their place. */
export interface LiveLines {
  /** Draws the lines instead of those before; what does not fit on the screen is left out. Nothing once it is closed. */
  draw(lines: readonly string[]): void;
  /** Leaves the last lines where they are and gives the terminal back. */
  close(): void;
}

interface Screen {
  readonly rows?: number;
  write(text: string): unknown;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

const HIDE_CURSOR = '\u001B[?25l';
const SHOW_CURSOR = '\u001B[?25h';
// a line that is too long is cut by the terminal: if it were wrapped, the lines could not be counted
const NO_WRAP = '\u001B[?7l';
const WRAP = '\u001B[?7h';
const ERASE_REST_OF_LINE = '\u001B[K';
const ERASE_BELOW = '\u001B[J';
const CLEAR = '\u001B[H\u001B[2J';
const USUAL_ROWS = 24;

/** Lines that are drawn on a terminal from where its cursor stands. Close them. */
export function openLiveLines(screen: Screen): LiveLines {
  let drawn: readonly string[] = [];
  let isOpen = true;
  const paint = (lines: readonly string[], before: number) => {
    const up = before > 0 ? `\u001B[${before}A\r` : '';
    const text = lines.map((line) => `${line}${ERASE_REST_OF_LINE}\n`).join('');
    screen.write(`${NO_WRAP}${up}${text}${ERASE_BELOW}${WRAP}`);
    drawn = lines;
  };
  // a terminal may have wrapped the lines anew: where they stand is unknown
  const redraw = () => {
    screen.write(CLEAR);
    paint(drawn, 0);
  };
  const show = () => void screen.write(SHOW_CURSOR);
  const forget = onInterrupt(show);
  screen.write(HIDE_CURSOR);
  screen.on('resize', redraw);
  return {
    draw(lines) {
      if (isOpen) paint(lines.slice(0, (screen.rows ?? USUAL_ROWS) - 1), drawn.length);
    },
    close() {
      isOpen = false;
      screen.off('resize', redraw);
      forget();
      show();
    },
  };
}
