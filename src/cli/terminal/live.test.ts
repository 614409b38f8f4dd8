import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { openLiveLines } from './live.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: the language of terminals
const WRITTEN = /\u001B\[\??(\d*)([A-Za-z])|\r|(\n)|([^\u001B\r\n]+)/g;

/** A terminal that interprets the output of live lines: its text, and whether its cursor is visible. */
function createScreen(rows = 24) {
  let lines: string[] = ['$ payhook status'];
  let row = 1;
  let cursor = true;
  const events = new EventEmitter();
  const obey: Readonly<Record<string, (amount: number) => void>> = {
    A: (amount) => {
      row -= amount;
    },
    J: (mode) => {
      lines = mode === 2 ? [] : lines.slice(0, row);
    },
    H: () => {
      row = 0;
    },
    K: () => undefined,
    h: (mode) => {
      if (mode === 25) cursor = true;
    },
    l: (mode) => {
      if (mode === 25) cursor = false;
    },
  };
  const write = (text: string) => {
    for (const [, parameter, command = '', end, plain] of text.matchAll(WRITTEN)) {
      if (plain !== undefined) lines[row] = plain;
      else if (end !== undefined) row += 1;
      else obey[command]?.(Number(parameter || 0));
    }
  };
  return {
    stream: Object.assign(events, { rows, write }),
    shown: () => lines,
    hasCursor: () => cursor,
  };
}

test('lines are drawn in the place of those before, whether there are more or fewer', () => {
  const { stream, shown } = createScreen();
  const live = openLiveLines(stream);
  live.draw(['one', 'two']);
  live.draw(['1', '2', '3']);
  expect(shown()).toEqual(['$ payhook status', '1', '2', '3']);
  live.draw(['last']);
  expect(shown()).toEqual(['$ payhook status', 'last']);
});

test('a terminal that is too low shows the first lines only', () => {
  const { stream, shown } = createScreen(3);
  const live = openLiveLines(stream);
  live.draw(['one', 'two', 'three']);
  live.draw(['1', '2', '3']);
  expect(shown()).toEqual(['$ payhook status', '1', '2']);
});

test('when the size of the terminal changes, the lines stand alone on it', () => {
  const { stream, shown } = createScreen();
  const live = openLiveLines(stream);
  live.draw(['one', 'two']);
  stream.emit('resize');
  expect(shown()).toEqual(['one', 'two']);
  live.draw(['1']);
  expect(shown()).toEqual(['1']);
});

test('the cursor is hidden until the lines are closed; then nothing more is drawn', () => {
  const { stream, shown, hasCursor } = createScreen();
  const live = openLiveLines(stream);
  live.draw(['one']);
  expect(hasCursor()).toBe(false);
  live.close();
  live.draw(['late']);
  stream.emit('resize');
  expect(hasCursor()).toBe(true);
  expect(shown()).toEqual(['$ payhook status', 'one']);
});
