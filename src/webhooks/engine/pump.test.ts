import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createPump, type PumpControl } from './pump.ts';

function counted(look: (pump: PumpControl) => Promise<number>) {
  let looks = 0;
  const pump = createPump({
    log: pino({ level: 'silent' }),
    look(progress) {
      looks += 1;
      // an endless series of searches would never return to the test
      return looks > 10 ? new Promise(() => undefined) : look(progress);
    },
  });
  return { pump, looks: () => looks };
}

test('a search that reads nothing is not repeated before its pause ends', async () => {
  const { pump, looks } = counted(async () => 60_000);
  pump.wake();
  await nextTurn();
  expect(looks()).toBe(1);
  await pump.close();
});

test('a call during a search is answered by another search, a call before its last read is not', async () => {
  const { pump, looks } = counted(async ({ begin }) => {
    await Promise.resolve();
    if (looks() === 1) pump.wake();
    if (looks() === 2) {
      pump.wake();
      begin();
    }
    return 60_000;
  });
  pump.wake();
  await nextTurn();
  expect(looks()).toBe(2);
  await pump.close();
});
