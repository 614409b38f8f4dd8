import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/db/connect.ts';
import type { Database } from '../../src/db/database.ts';
import { applyMigrations } from '../../src/db/migrate.ts';
import { dropPartitions, loggedWeeks, makePartitions } from '../../src/db/partitions.ts';
import { PROGRAM } from '../cells/support.ts';
import { runHere } from '../cli/here.ts';
import { onMembers, whyNoCitus } from '../support/citus.ts';
import { plainEnvironment } from '../support/environment.ts';
import { until } from '../support/wire.ts';
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

    const url = () => database.environment.DATABASE_URL ?? '';
    const members = () => [database.cluster.coordinator, ...database.cluster.nodes];
    const ports = () => members().map(({ port }) => port);
    /** What the coordinator and each node have of a role: one row, or none. */
    const rolesOf = (name: string) =>
      Promise.all(
        members().map(async (member) => {
          const client = await member.client('postgres');
          const { rows } = await client.query(
            `select rolpassword as password, array(select unnest(setconfig) order by 1) as settings,
               (select json_agg(m.member::regrole) from pg_auth_members m where m.roleid = a.oid) as members
             from pg_authid a left join pg_db_role_setting on setrole = a.oid where rolname = $1`,
            [name],
          );
          await client.end();
          return rows as unknown[];
        }),
      );
    /** Makes the coordinator accept logins of the command by their passwords only. */
    const requirePasswords = async () => {
      const [{ hba_file: file } = { hba_file: '' }] = await database.ask<{ hba_file: string }>(
        'show hba_file',
      );
      await database.ask(
        `copy (values ('host all postgres,cell_0,cell_1,old all trust'), ('host all all all scram-sha-256')) to '${file}'`,
      );
      await database.ask('select pg_reload_conf()');
      await until('the coordinator to ask for passwords', () => {
        const stranger = { host: '127.0.0.1', port: ports()[0], user: 'nobody', password: 'wrong' };
        // before, PostgreSQL says that there is no such role
        return new pg.Client(stranger).connect().then(
          () => false,
          ({ code }: pg.DatabaseError) => code === '28P01',
        );
      });
    };

    beforeAll(async () => {
      database = await startCitusDatabase();
      folder = database.environment.DATA_DIR ?? '';
      await succeed('init');
    });
    afterAll(() => database.close());

    test('cells add places a cell on a node, and refuses a login that Payhook could not use there', async () => {
      const url = await database.addLogin('cell_1');
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

    test('cells add --schema refuses a login that may not create logins, and says what an administrator runs', async () => {
      const roles = await rolesOf('cell_2');
      const { text } = await run('cells', 'add', '--schema', 'cell_', '--count', '2');
      expect(text).toContain('permission denied to create role');
      for (const statement of [
        `CREATE ROLE \\"cell_2\\" LOGIN PASSWORD '…';`,
        'ALTER ROLE \\"cell_2\\" SET citus.allow_nested_distributed_execution = on;',
        'CREATE SCHEMA \\"cell_2\\" AUTHORIZATION \\"cell_2\\";',
      ])
        expect(text).toContain(statement);
      const severalServers = url().replace('@127.0.0.1', `@127.0.0.1:${ports()[0]},127.0.0.1`);
      const env = { ...database.environment, DATABASE_URL: severalServers };
      expect((await runHere(['cells', 'add', '--schema', 'cell_'], { env })).stderr).toContain(
        'DATABASE_URL names several servers: give cells add the URL of the coordinator',
      );
      await onMembers(ports(), 'alter role cell_0 createrole');
      expect((await run('cells', 'add', '--schema', 'cell_', '--count', '2')).text).toContain(
        'permission denied for database payhook',
      );
      expect(await rolesOf('cell_2')).toEqual(roles);
      expect((await succeed('cells', 'list')).data).toHaveLength(2);
    });

    test('cells add --schema gives each cell a login on every node, unless its name is taken', async () => {
      await database.ask('grant create on database payhook to cell_0');
      await requirePasswords();
      const add = (...args: string[]) => run('cells', 'add', url(), '--schema', ...args);

      await onMembers(ports().slice(1, 2), 'create role cell_2');
      expect((await add('cell_', '--count', '2')).text).toContain(
        'the role cell_2 exists already, and was not created for cell 2',
      );
      await onMembers(ports().slice(1, 2), 'drop role cell_2');
      await database.ask('create schema shop');
      expect((await add('shop')).text).toContain('the schema shop exists already and belongs to postgres');
      expect((await add('cell_1')).text).toContain('the role cell_1 exists already');
      expect((await rolesOf('shop')).flat()).toEqual([]);

      expect(await succeed('cells', 'add', url(), '--schema', 'cell_', '--count', '2')).toEqual({
        data: [2, 3].map((number) => ({ number, object: 'cell' })),
      });
      expect([...(await database.places()).keys()].toSorted()).toEqual(['cell_1', 'cell_2', 'cell_3']);
      await succeed('accounts', 'create', '--name', 'Other shop', '--cell', '3');
      await database.ask(`select citus_add_node('127.0.0.1', ${ports()[2]})`);
      await database.ask('grant create on database payhook to cell_0'); // which Citus does not copy to a new node
      const [first, ...others] = await rolesOf('cell_3');
      expect(first).toEqual([
        {
          password: expect.stringMatching(/^SCRAM-SHA-256\$/),
          settings: [
            'TimeZone=UTC',
            'citus.allow_nested_distributed_execution=on',
            'citus.propagate_set_commands=local',
            'jit=off',
            'search_path=cell_3',
          ],
          members: null,
        },
      ]);
      expect(others).toEqual([first, first]);
    });

    test('a command that is killed after it created a login can be repeated', async () => {
      const asSuperuser = url().replace('cell_0@', 'postgres@');
      const args = ['cells', 'add', asSuperuser, '--schema', 'cell_', '--count', '1'];
      const adding = spawn(process.execPath, [PROGRAM, ...args], {
        env: { ...plainEnvironment(), ...database.environment },
        stdio: 'ignore',
      });
      await until('the login to be created', async () => (await rolesOf('cell_4'))[0]?.length === 1);
      adding.kill('SIGKILL');
      await once(adding, 'close');
      expect((await succeed('cells', 'list')).data).toHaveLength(4);
      expect(await succeed(...args)).toEqual({ data: [{ number: 4, object: 'cell' }] });
      await succeed('accounts', 'create', '--name', 'Repeated', '--cell', '4');
    });

    test('a cell is backed up, and restored onto a node', async () => {
      const file = join(folder, 'cell-1.payhook');
      await succeed('backup', file, '--cell', '1');
      await database.ask('drop schema cell_1 cascade');
      await database.ask('create schema cell_1 authorization cell_1');
      expect(await succeed('restore', file, '--cell', '1')).toMatchObject({ cell: 1 });
      expect([...(await database.places()).keys()]).toContain('cell_1');
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
