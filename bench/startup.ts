import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { duration, type Group, median, megabytes } from './measure.ts';
import { residentBytes, startProgram, temporaryFolder } from './program.ts';

const IDLE_MS = 3000;
const FIRST_RUN_GOAL = 4;
const START_GOAL = 0.7;
const MEMORY_GOAL = 80 * 2 ** 20;

/** Cold start of the built program with its embedded PostgreSQL, and the memory of the idle process. */
export const startup: Group = {
  name: 'startup',
  area: 'Start to the first answer, and memory',
  async *run({ cheapRounds }, note) {
    note('first runs');
    const first: number[] = [];
    let dataDir = '';
    for (let round = 0; round < Math.min(3, cheapRounds); round += 1) {
      dataDir = join(temporaryFolder(), 'data');
      const program = await startProgram(dataDir);
      first.push(program.startSeconds);
      await program.stop();
    }
    yield {
      measure: 'first run',
      figure: duration(median(first)),
      against: '–',
      ratio: null,
      goal: `< ${FIRST_RUN_GOAL} s`,
      met: median(first) < FIRST_RUN_GOAL,
      samples: { seconds: first },
    };

    note('starts on existing data');
    const again: number[] = [];
    const memory: number[] = [];
    for (let round = 0; round < cheapRounds; round += 1) {
      const program = await startProgram(dataDir);
      again.push(program.startSeconds);
      if (round === 0) await delay(IDLE_MS);
      if (round === 0) memory.push(residentBytes(program.pid));
      await program.stop();
    }
    yield {
      measure: 'cold start on existing data',
      figure: duration(median(again)),
      against: '–',
      ratio: null,
      goal: `< ${START_GOAL} s`,
      met: median(again) < START_GOAL,
      samples: { seconds: again },
    };
    const idle = median(memory);
    yield {
      measure: 'memory of the idle server, without PostgreSQL',
      figure: megabytes(idle),
      against: '–',
      ratio: null,
      goal: `< ${megabytes(MEMORY_GOAL)}`,
      met: Number.isNaN(idle) ? null : idle < MEMORY_GOAL,
      samples: { bytes: memory },
    };
  },
};
