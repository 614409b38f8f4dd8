import {
  'app/platform.ts:openPlatform' as openPlatform,
  'kernel/config.ts:readConfig' as readConfig,
  'money/schedules/run.ts:runSchedules' as runSchedules,
} from '../../dist/testing/program.js';

/*
 * A process that runs due schedules, so that a test can kill it. Its settings are those of the program. Output: the
 * line `done` when it has run them.
 */

const { db, log } = await openPlatform(readConfig(), { purpose: 'command' });
await runSchedules({ db, log });
process.stdout.write('done\n');
