import { onInterrupt } from './interrupt.ts';

/** Lines of a terminal that are redrawn in place. */
export interface LiveLines {
  /** Replaces the lines drawn before. Lines that do not fit on the screen are left out. No effect once closed. */
  draw(lines: readonly string[]): void;
  /** Leaves the last lines on screen and restores the terminal. */
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
// the terminal must truncate long lines: with wrapped lines, the count would be wrong
const NO_WRAP = '\u001B[?7l';
const WRAP = '\u001B[?7h';
const ERASE_REST_OF_LINE = '\u001B[K';
const ERASE_BELOW = '\u001B[J';
const CLEAR = '\u001B[H\u001B[2J';
const USUAL_ROWS = 24;

/** Draws lines on a terminal from the current cursor position. Must be closed. */
export function openLiveLines(screen: Screen): LiveLines {
  let drawn: readonly string[] = [];
  let isOpen = true;
  const paint = (lines: readonly string[], before: number) => {
    const up = before > 0 ? `\u001B[${before}A\r` : '';
    const text = lines.map((line) => `${line}${ERASE_REST_OF_LINE}\n`).join('');
    screen.write(`${NO_WRAP}${up}${text}${ERASE_BELOW}${WRAP}`);
    drawn = lines;
  };
  // the terminal may have rewrapped the lines, so their position is unknown
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
