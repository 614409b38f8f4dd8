import { openPlatform } from '../../src/app/platform.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { runSchedules } from '../../src/money/schedules/run.ts';

/*
 * A process of its own that runs the schedules that are due, so that a test can kill it. Its settings are those of the
 * program. Out: the line `done` when it has run them.
 */

const { db, log } = await openPlatform(readConfig(), { purpose: 'command' });
await runSchedules({ db, log });
process.stdout.write('done\n');
