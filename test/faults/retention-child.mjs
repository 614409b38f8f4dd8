import {
  'webhooks/engine/retention.ts:dropOldWeeks' as dropOldWeeks,
  'app/platform.ts:openPlatform' as openPlatform,
  'kernel/config.ts:readConfig' as readConfig,
} from '../../dist/testing/program.js';

/*
 * A process that only drops old weeks, so that a test can kill it. Its settings are those of the program. Output: the
 * line `ready`; then `done` each time that nothing is left to drop. Input: any line, to begin.
 */

const config = readConfig();
const platform = await openPlatform(config, { purpose: 'command' });
process.stdout.write('ready\n');
await new Promise((resolve) => process.stdin.once('data', resolve));
for (;;) {
  try {
    await dropOldWeeks({ db: platform.db, log: platform.log, days: config.delivery.retentionDays });
    process.stdout.write('done\n');
  } catch (error) {
    // tables that others hold: a drop that waits for them is retried
    process.stdout.write(`${error.message}\n`);
  }
}
