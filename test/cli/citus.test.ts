import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openPlatform } from '../../src/app/platform.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { settingsOf } from '../support/database-url.ts';
import { useWorld } from '../support/world.ts';
import { useMachine } from './support.ts';

const world = useWorld({ own: true });
const machine = useMachine();

const BY_ROWS = 'Citus has distributed the rows of 2 tables, which Payhook does not support';
const LACKS =
  'Citus has distributed the schema, and the role lacks settings that Payhook then needs. ' +
  'Run ALTER ROLE payhook SET citus.propagate_set_commands = local;';

test.skipIf(process.env.TEST_CITUS)(
  'doctor and a starting server report what Citus has distributed in a way that does not work',
  async () => {
    const env = await settingsOf(world);
    const doctor = async () => (await machine.run(['doctor'], { env })).stdout.replace(/\s+/g, ' ');
    const startOfServer = async () => {
      const lines: string[] = [];
      const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
      const config = readConfig({ ...env, DATA_DIR: machine.dataDir });
      await (await openPlatform(config, { purpose: 'serve', log })).close();
      return lines.join('');
    };

    // the catalogue in which Citus lists its tables
    await world.query('create table pg_dist_partition (logicalrelid regclass, partmethod "char")');
    await world.query('grant select on pg_dist_partition to public');
    expect(await doctor()).not.toContain('Citus');
    expect(await startOfServer()).not.toContain('Citus');

    // a schema on a node
    await world.query(`insert into pg_dist_partition values ('events', 'n'), ('commissions', 'n')`);
    await world.query(`
    do $$ begin
      execute format('alter database %I set citus.allow_nested_distributed_execution = on', current_database());
    end $$`);
    expect(await doctor()).toContain(LACKS);
    expect(await startOfServer()).toContain(LACKS);

    // tables that are split by their rows; the rest is no table of Payhook, or a week of one
    await world.query(`update pg_dist_partition set partmethod = 'h'`);
    await world.query(`insert into pg_dist_partition values ('pg_class', 'h')`);
    await world.query(
      `insert into pg_dist_partition select inhrelid, 'h' from pg_inherits where inhparent = 'events'::regclass`,
    );
    expect(await doctor()).toContain(BY_ROWS);
    expect(await startOfServer()).toContain(BY_ROWS);
  },
);
