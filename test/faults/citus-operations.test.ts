import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/db/connect.ts';
import type { Database } from '../../src/db/database.ts';
import { applyMigrations } from '../../src/db/migrate.ts';
import { dropPartitions, loggedWeeks, makePartitions } from '../../src/db/partitions.ts';
import { runHere } from '../cli/here.ts';
import { whyNoCitus } from '../support/citus.ts';
import { type CitusDatabase, startCitusDatabase } from './support-citus.ts';

/** From this migration on, all work in a schema on a node. */
const OLDEST = 66;

describe.skipIf(!process.env.TEST_CITUS || whyNoCitus !== null)(
  'operating cells on the nodes of a Citus cluster',
  () => {
    let database: CitusDatabase;
    let folder: string;

    const run = async (...args: string[]) => {
      const ran = await runHere([...args, '--json'], { env: database.environment, cwd: folder });
      return { ...ran, text: `${ran.stdout}${ran.stderr}${ran.error?.message ?? ''}` };
    };
    const succeed = async (...args: string[]) => {
      const ran = await run(...args);
      expect(ran.code, ran.text).toBe(0);
      return ran.json();
    };
    /** Runs work on the tables of a schema, as its login. */
    const inSchema = async (schema: string, work: (db: Database) => Promise<void>) => {
      const url = new URL(database.environment.DATABASE_URL ?? '');
      url.username = schema;
      const db = connect({
        target: { connectionString: url.href },
        poolSize: 2,
        name: 'test',
        cell: { number: 9, schema: null },
        onIdleError: () => undefined,
      });
      try {
        await work(db);
      } finally {
        await db.close();
      }
    };

    beforeAll(async () => {
      database = await startCitusDatabase();
      folder = database.environment.DATA_DIR ?? '';
      await succeed('init');
    });
    afterAll(() => database.close());

    test('cells add places a cell on a node, and refuses a login that Payhook could not use there', async () => {
      const url = await database.addLogin('cell_1');
      expect((await run('cells', 'add', '--schema', 'cell_', '--count', '2')).text).toContain(
        'Citus places each cell on a node, where only a login can select the schema',
      );
      await database.ask('alter role cell_1 reset citus.propagate_set_commands');
      expect((await run('cells', 'add', url)).text).toContain(
        'ALTER ROLE cell_1 SET citus.propagate_set_commands = local',
      );
      expect((await succeed('cells', 'list')).data).toHaveLength(1);
      await database.ask('alter role cell_1 set citus.propagate_set_commands = local');
      expect(await succeed('cells', 'add', url)).toEqual({ data: [{ number: 1, object: 'cell' }] });
      expect([...(await database.places()).keys()]).toEqual(['cell_1']);
      await succeed('accounts', 'create', '--name', 'Shop', '--cell', '1');
    });

    test('a cell is backed up, and restored onto a node', async () => {
      const file = join(folder, 'cell-1.payhook');
      await succeed('backup', file, '--cell', '1');
      await database.ask('drop schema cell_1 cascade');
      await database.ask('create schema cell_1 authorization cell_1');
      expect(await succeed('restore', file, '--cell', '1')).toMatchObject({ cell: 1 });
      expect([...(await database.places()).keys()]).toEqual(['cell_1']);
      expect((await succeed('accounts', 'list')).data).toContainEqual(
        expect.objectContaining({ name: 'Shop', cell: 1 }),
      );
      const { checks } = (await run('doctor')).json();
      expect(checks).toContainEqual(expect.objectContaining({ name: 'cell 1', status: 'ok' }));
    });

    test(`a schema on a node is upgraded from version ${OLDEST}`, async () => {
      await database.addLogin('old');
      await inSchema('old', async (db) => {
        await db.transaction(async (tx) => {
          await applyMigrations(tx, OLDEST);
          await makePartitions(tx);
        });
        await database.ask(`select citus_schema_distribute('old')`);
        const { applied } = await db.transaction(async (tx) => {
          const migrated = await applyMigrations(tx);
          await makePartitions(tx); // as a starting server: those of tables that are new
          return migrated;
        });
        expect(applied.length).toBeGreaterThan(0);
      });
      const columns = (schema: string) =>
        database.ask(
          `select table_name, column_name, data_type from information_schema.columns where table_schema = '${schema}' order by 1, 2`,
        );
      expect(await columns('old')).toEqual(await columns('cell_1'));
    });

    test('a week of the log is dropped on a node', () =>
      inSchema('cell_1', async (db) => {
        const [week = ''] = await loggedWeeks(db.reader);
        await dropPartitions(db, week);
        expect(await loggedWeeks(db.reader)).not.toContain(week);
        const [node] = database.cluster.nodes;
        const client = await node?.client('payhook');
        const left = await client?.query(
          `select relname from pg_class
           where relnamespace = 'cell_1'::regnamespace and relname ~ '_${week.slice(0, 10).replaceAll('-', '')}'`,
        );
        await client?.end();
        expect(left?.rows).toEqual([]);
      }));
  },
);
