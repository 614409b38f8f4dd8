import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openPlatform } from '../../src/app/platform.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { settingsOf } from '../support/database-url.ts';
import { useWorld } from '../support/world.ts';
import { useMachine } from './support.ts';

const world = useWorld({ own: true });
const machine = useMachine();

const UNSUPPORTED = 'Citus has distributed 2 tables, which Payhook does not support';

test('doctor and a starting server say that tables distributed by Citus are not supported', async () => {
  const env = await settingsOf(world);
  const doctor = async () => (await machine.run(['doctor'], { env })).stdout;
  const startOfServer = async () => {
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    const config = readConfig({ ...env, DATA_DIR: machine.dataDir });
    await (await openPlatform(config, { purpose: 'serve', log })).close();
    return lines.join('');
  };

  // the catalogue in which Citus lists its tables
  await world.query('create table pg_dist_partition (logicalrelid regclass)');
  await world.query('grant select on pg_dist_partition to public');
  expect(await doctor()).not.toContain('Citus');
  expect(await startOfServer()).not.toContain('Citus');

  await world.query(`insert into pg_dist_partition values ('events'), ('commissions'), ('pg_class')`);
  await world.query(
    `insert into pg_dist_partition select inhrelid from pg_inherits where inhparent = 'events'::regclass`,
  );
  expect(await doctor()).toMatch(new RegExp(`✗ +Citus +${UNSUPPORTED}`));
  expect(await startOfServer()).toContain(UNSUPPORTED);
});
