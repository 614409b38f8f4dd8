import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, expect, test } from 'vitest';
import { locateNative } from '../../src/db/embedded/binaries.ts';
import { EmbeddedDatabaseError } from '../../src/db/embedded/errors.ts';
import { thisHost } from '../../src/db/embedded/host.ts';
import { openEmbedded, openEmbeddedOn } from '../../src/db/embedded/open.ts';
import { isLong, longRun } from '../support/depth.ts';
import { isRunning } from '../support/processes.ts';
import {
  cleanUp,
  eventually,
  existingData,
  existingDataAt,
  hostWith,
  postmasterPid,
  query,
  reclaimFolders,
  startChild,
  temporaryFolder,
} from './support-embedded.ts';

const NOBODY = 65534;
const isRoot = process.geteuid?.() === 0;
const isLinux = process.platform === 'linux';

afterEach(({ task }) => reclaimFolders(task.result?.state === 'pass'));
afterAll(cleanUp);

/** A process of ours that only waits. */
function idleProcess(): { pid: number; end: () => void } {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  return { pid: child.pid ?? 0, end: () => child.kill('SIGKILL') };
}

/** A zombie named postgres, and a way to end its parent, which never reaps it. */
async function zombieProcess(): Promise<{ pid: number; end: () => void }> {
  const postgres = join(temporaryFolder(), 'postgres');
  symlinkSync('/bin/sleep', postgres);
  const parent = spawn('sh', ['-c', '"$0" 0 & exec sleep 60', postgres], { stdio: 'ignore' });
  const list = `/proc/${parent.pid}/task/${parent.pid}/children`;
  const pid = await eventually(() => {
    const child = Number.parseInt(readFileSync(list, 'utf8'), 10);
    return /\(postgres\) Z /.test(readFileSync(`/proc/${child}/stat`, 'utf8')) ? child : null;
  });
  return { pid, end: () => parent.kill('SIGKILL') };
}

test('after kill -9 at a step of it, the first start creates a UTF-8 database, synced to disk, that the program owns without being superuser', async () => {
  const dataDir = join(temporaryFolder(), 'a folder with blanks', 'data');
  const inData = (pattern: RegExp, folder = '') =>
    existsSync(join(dataDir, folder)) &&
    readdirSync(join(dataDir, folder)).some((name) => pattern.test(name));
  const steps: (() => boolean)[] = [
    () => inData(/^lock\./, 'run'),
    () => inData(/^postgres\.new-/),
    () => existsSync(join(dataDir, 'postgres', 'PG_VERSION')),
    () => inData(/^postmaster\.pid$/, 'postgres'),
    () => inData(/^owner\.json$/, 'run'),
  ];
  // the first ones, so that a short run creates one database
  for (const step of isLong ? steps : steps.slice(0, 2)) {
    const child = startChild({ dataDir, purpose: 'serve' });
    await eventually(step);
    await child.kill();
  }
  const database = await openEmbedded({ dataDir, purpose: 'serve' });
  expect(database.launched).toBe(true);
  expect(inData(/^postgres\.new-/)).toBe(false);
  const [row] = await query(
    database.connection,
    `select current_user, current_database(), lower('É') as lower, current_setting('server_encoding') as encoding,
       current_setting('fsync') as fsync, current_setting('TimeZone') as zone, current_setting('data_checksums') as sums,
       (select rolsuper or rolcreatedb or rolcreaterole from pg_roles where rolname = current_user) as powerful`,
  );
  expect(row).toEqual({
    current_user: 'payhook',
    current_database: 'payhook',
    lower: 'é',
    encoding: 'UTF8',
    fsync: 'on',
    zone: 'UTC',
    sums: 'on',
    powerful: false,
  });
  await query(database.connection, 'create table owned (id int)');
  await expect(query(database.connection, `copy owned to program 'true'`)).rejects.toMatchObject({
    code: '42501',
  });
  await expect(query(database.connection, `select pg_read_file('PG_VERSION')`)).rejects.toMatchObject({
    code: '42501',
  });
  expect((await query(database.superuser, 'show is_superuser'))[0]).toEqual({ is_superuser: 'on' });
  for (const folder of ['', 'postgres', 'run'])
    expect(statSync(join(dataDir, folder)).mode & 0o777).toBe(0o700);
  await database.close();
  expect(await database.exited).toEqual({ code: 0, signal: null });
  expect(existsSync(join(dataDir, 'run', 'owner.json'))).toBe(false);
});

longRun.test('data survive close and reopen, and close may be called twice', async () => {
  const dataDir = await existingData();
  const first = await openEmbedded({ dataDir, purpose: 'serve' });
  await query(first.connection, 'create table kept as select 42 as answer');
  await Promise.all([first.close(), first.close()]);
  const second = await openEmbedded({ dataDir, purpose: 'serve', settings: { work_mem: '7MB' } });
  expect(
    await query(second.connection, `select answer, current_setting('work_mem') as mem from kept`),
  ).toEqual([{ answer: 42, mem: '7MB' }]);
  await second.close();
});

test.skipIf(!isLinux)(
  'kill -9 of the program ends PostgreSQL; after one of both, while a query runs, the next start has what was committed',
  async () => {
    const dataDir = await existingData();
    const first = startChild({ dataDir, purpose: 'serve' });
    const { connection } = await first.hears('opened');
    await query(connection!, 'create table committed as select 1 as one');
    const left = postmasterPid(dataDir);
    await first.kill();
    await eventually(() => !isRunning(left));

    const child = startChild({ dataDir, purpose: 'serve' });
    await child.hears('opened');
    const busy = query(connection!, 'select count(*) from generate_series(1, 1e12::bigint)').catch(
      () => 'cut',
    );
    const superuser = { ...connection!, user: 'postgres' };
    await eventually(
      async () =>
        (
          await query(
            superuser,
            `select 1 from pg_stat_activity where query ~ '1e12' and pid <> pg_backend_pid()`,
          )
        )[0],
    );
    const postgres = postmasterPid(dataDir);
    // Stopped first, so that it cannot reap its dead child: PostgreSQL stays behind as a zombie.
    process.kill(child.pid, 'SIGSTOP');
    process.kill(postgres, 'SIGKILL');
    await eventually(() => !isRunning(postgres));
    await child.kill();
    const database = await openEmbedded({ dataDir, purpose: 'serve' });
    expect(await busy).toBe('cut');
    expect(postmasterPid(dataDir)).not.toBe(postgres);
    expect(await query(database.connection, 'select one from committed')).toEqual([{ one: 1 }]);
    await query(database.connection, 'drop table committed');
    await database.close();
  },
);

longRun.test.skipIf(!isLinux)('a postmaster.pid that names a zombie does not prevent a start', async () => {
  const dataDir = await existingData();
  const zombie = await zombieProcess();
  writeFileSync(
    join(dataDir, 'postgres', 'postmaster.pid'),
    `${zombie.pid}\n${dataDir}/postgres\n1\n5432\n\n`,
  );
  const database = await openEmbedded({ dataDir, purpose: 'serve' });
  await database.close();
  zombie.end();
});

test('a postmaster.pid and an owner file with the pid of another process prevent no start and do not harm it', async () => {
  const dataDir = await existingData();
  const stranger = idleProcess();
  const owner = {
    pid: stranger.pid,
    startTime: '1',
    boot: '0',
    purpose: 'serve',
    socketDir: dataDir,
    port: 5432,
  };
  writeFileSync(
    join(dataDir, 'postgres', 'postmaster.pid'),
    `${stranger.pid}\n${dataDir}/postgres\n1\n5432\n\n`,
  );
  writeFileSync(join(dataDir, 'run', 'owner.json'), JSON.stringify(owner));
  symlinkSync(`${stranger.pid}-1-0`, join(dataDir, 'run', 'lock.999'));
  const database = await openEmbedded({ dataDir, purpose: 'serve' });
  expect(database.launched).toBe(true);
  expect(isRunning(stranger.pid)).toBe(true);
  await database.close();
  stranger.end();
});

test('of two servers started at once on one data folder, one runs and the other says what to do', async () => {
  const dataDir = isLong ? join(temporaryFolder(), 'data') : await existingData();
  const servers = [startChild({ dataDir, purpose: 'serve' }), startChild({ dataDir, purpose: 'serve' })];
  const reports = await Promise.all(servers.map((server) => server.hears('opened', 'failed')));
  expect(reports.map((one) => one.event).sort()).toEqual(['failed', 'opened']);
  const winner = servers[reports.findIndex((one) => one.event === 'opened')];
  const refused = reports.find((one) => one.event === 'failed');
  expect(refused?.name).toBe('EmbeddedDatabaseError');
  expect(refused?.message).toContain(`process ${winner?.pid}`);
  expect(refused?.message).toContain(dataDir);
  expect(refused?.message).toContain('another data folder');
  winner?.close();
  await winner?.hears('closed');
});

test('a command joins a running server; neither its end nor Ctrl-C in the terminal stops the database before the server does', async () => {
  const dataDir = await existingData();
  const server = startChild({ dataDir, purpose: 'serve' });
  await server.hears('opened');
  const command = await openEmbedded({ dataDir, purpose: 'command' });
  expect(command.launched).toBe(false);
  expect(await query(command.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  await command.close();
  expect(await query(command.connection, 'select 2 as two')).toEqual([{ two: 2 }]);
  expect(readdirSync(join(dataDir, 'run', 'users'))).toEqual([]);
  process.kill(-server.pid, 'SIGINT');
  await server.hears('interrupted');
  expect(await query(command.connection, 'select pg_sleep(0.1), 1 as one')).toMatchObject([{ one: 1 }]);
  expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(true);
  server.close();
  await server.hears('closed');
});

longRun.test('two commands at once on one data folder both work, whichever ends first', async () => {
  const dataDir = await existingData();
  const commands = [startChild({ dataDir, purpose: 'command' }), startChild({ dataDir, purpose: 'command' })];
  const reports = await Promise.all(commands.map((command) => command.hears('opened')));
  expect(reports.map((one) => one.launched).sort()).toEqual([false, true]);
  const launcher = commands[reports.findIndex((one) => one.launched)];
  const joiner = commands[reports.findIndex((one) => !one.launched)];
  const postgres = postmasterPid(dataDir);
  launcher?.close();
  await expect(query(reports[0]!.connection!, 'select pg_sleep(0.2), 1 as one')).resolves.toMatchObject([
    { one: 1 },
  ]);
  expect(isRunning(postgres)).toBe(true);
  joiner?.close();
  await joiner?.hears('closed');
  await launcher?.hears('closed');
  expect(isRunning(postgres)).toBe(false);
});

longRun.test(
  'a command that launched the database stops it although a command that joined was killed',
  async () => {
    const dataDir = await existingData();
    const launcher = await openEmbedded({ dataDir, purpose: 'command' });
    const joiner = startChild({ dataDir, purpose: 'command' });
    await joiner.hears('opened');
    await joiner.kill();
    await launcher.close();
    expect(await launcher.exited).toEqual({ code: 0, signal: null });
  },
);

test('a server waits for a command and then takes over; later commands join the server; one that waited too long names the command', async () => {
  const dataDir = await existingData();
  const running = await openEmbedded({ dataDir, purpose: 'command' });
  const early = openEmbedded({ dataDir, purpose: 'serve', takeoverTimeoutMs: 50 });
  await expect(early).rejects.toThrow(`payhook command (process ${process.pid})`);
  await expect(early).rejects.toBeInstanceOf(EmbeddedDatabaseError);
  const server = openEmbedded({ dataDir, purpose: 'serve' });
  await eventually(() => existsSync(join(dataDir, 'run', 'next.json')));
  const later = openEmbedded({ dataDir, purpose: 'command' });
  await running.close();
  expect((await server).launched).toBe(true);
  expect((await later).launched).toBe(false);
  expect(existsSync(join(dataDir, 'run', 'next.json'))).toBe(false);
  await (await later).close();
  await (await server).close();
});

test('the program notices that PostgreSQL ended unexpectedly', async () => {
  const dataDir = await existingData();
  const database = await openEmbedded({ dataDir, purpose: 'serve' });
  process.kill(postmasterPid(dataDir), 'SIGKILL');
  expect(await database.exited).toEqual({ code: null, signal: 'SIGKILL' });
  await database.close();
});

test('a very deep data folder works: the socket is elsewhere and is removed at the end', async () => {
  const dataDir = await existingDataAt(join(temporaryFolder(), 'deep-'.repeat(12), 'é'.repeat(60), 'data'));
  const database = await openEmbedded({ dataDir, purpose: 'serve' });
  const { host } = database.connection;
  expect(host.startsWith(realpathSync(tmpdir()))).toBe(true);
  expect(statSync(host).mode & 0o777).toBe(0o700);
  const command = await openEmbedded({ dataDir, purpose: 'command' });
  expect(await query(command.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  await command.close();
  await database.close();
  expect(existsSync(host)).toBe(false);
});

test.skipIf(!isLinux)(
  'without setpriv a PostgreSQL that outlived its program is stopped by the next start',
  async () => {
    const dataDir = await existingData();
    const host = hostWith('unshare');
    const child = startChild({ dataDir, purpose: 'serve', host });
    await child.hears('opened');
    const postgres = postmasterPid(dataDir);
    await child.kill();
    expect(isRunning(postgres)).toBe(true);
    const database = await openEmbeddedOn(host, { dataDir, purpose: 'serve' });
    expect(isRunning(postgres)).toBe(false);
    await database.close();
  },
);

test.skipIf(!isLinux || !isRoot)(
  'root without user namespaces: everything runs as nobody, below a folder nobody may enter',
  async () => {
    const closed = temporaryFolder(0o700);
    cpSync(locateNative(thisHost()), join(closed, 'native'), { recursive: true });
    const host = { ...hostWith('setpriv'), nativeDir: join(closed, 'native') };
    // a short run continues data of a machine that allows namespaces
    const dataDir = join(closed, 'a b', 'data');
    if (!isLong) await existingDataAt(dataDir);
    const first = await openEmbeddedOn(host, { dataDir, purpose: 'serve' });
    await query(first.connection, 'create table kept as select 42 as answer');
    expect(statSync(`/proc/${postmasterPid(dataDir)}`).uid).toBe(NOBODY);
    expect(statSync(join(dataDir, 'postgres')).uid).toBe(NOBODY);
    expect(statSync(dataDir).uid).toBe(0);
    const note = JSON.parse(readFileSync(join(dataDir, 'run', 'outside.json'), 'utf8'));
    expect(statSync(note.stage)).toMatchObject({ uid: 0, mode: 0o040755 });
    await first.close();
    expect(existsSync(note.stage)).toBe(false);
    // The same data on a machine that allows namespaces, and back.
    for (const machine of isLong ? [thisHost(), host] : []) {
      const again = await openEmbeddedOn(machine, { dataDir, purpose: 'serve' });
      expect(await query(again.connection, 'select answer from kept')).toEqual([{ answer: 42 }]);
      await again.close();
    }
  },
);

longRun.test.skipIf(!isLinux || !isRoot)(
  'root without user namespaces: kill -9 of the program ends PostgreSQL, in a deep folder as well',
  async () => {
    const dataDir = await existingDataAt(join(temporaryFolder(), 'deep-'.repeat(20), 'data'));
    const host = hostWith('setpriv');
    const child = startChild({ dataDir, purpose: 'serve', host });
    const { connection } = await child.hears('opened');
    expect(connection?.host.startsWith(dataDir)).toBe(false);
    const postgres = postmasterPid(dataDir);
    await child.kill();
    await eventually(() => !isRunning(postgres));
    const database = await openEmbeddedOn(host, { dataDir, purpose: 'serve' });
    expect(existsSync(connection!.host)).toBe(false);
    await database.close();
  },
);

function nobodyCanRun(): boolean {
  const folder = dirname(fileURLToPath(import.meta.url));
  try {
    execFileSync(process.execPath, ['-e', 'fs.readdirSync(process.argv[1])', folder], {
      uid: NOBODY,
      gid: NOBODY,
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}

longRun.test.skipIf(!isLinux || (isRoot && !nobodyCanRun()))(
  'a user other than root starts it without namespaces, and kill -9 leaves it startable (skipped where nobody cannot read the checkout)',
  async () => {
    const dataDir = join(temporaryFolder(0o777), 'data');
    const user = isRoot ? NOBODY : undefined;
    const first = startChild({ dataDir, purpose: 'serve' }, user);
    await first.hears('opened');
    const postgres = postmasterPid(dataDir);
    if (isRoot) expect(statSync(`/proc/${postgres}`).uid).toBe(NOBODY);
    await first.kill();
    const second = startChild({ dataDir, purpose: 'serve' }, user);
    const { connection } = await second.hears('opened');
    expect(isRunning(postgres)).toBe(false);
    expect(await query(connection!, 'select 1 as one')).toEqual([{ one: 1 }]);
    second.close();
    await second.hears('closed');
  },
);

test('data of another PostgreSQL version, or of none, are refused and not changed', async () => {
  const dataDir = await existingData();
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
  await expect(openEmbedded({ dataDir, purpose: 'serve' })).rejects.toThrow(
    /made by PostgreSQL 17.*includes PostgreSQL 18/s,
  );
  writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '18\n');
  const other = join(temporaryFolder(), 'data');
  mkdirSync(join(other, 'postgres'), { recursive: true });
  writeFileSync(join(other, 'postgres', 'mine.txt'), 'mine');
  await expect(openEmbedded({ dataDir: other, purpose: 'serve' })).rejects.toThrow(
    'holds no PostgreSQL data',
  );
  expect(readdirSync(join(other, 'postgres'))).toEqual(['mine.txt']);
  expect(readdirSync(other).sort()).toEqual(['postgres', 'run']);
});

test('a PostgreSQL that does not start is reported with the end of its log', async () => {
  const dataDir = await existingData();
  const start = openEmbedded({ dataDir, purpose: 'serve', settings: { shared_buffers: 'plenty' } });
  await expect(start).rejects.toThrow(/did not start.*postgres\.log.*shared_buffers/s);
  if (!isLong) return;
  const database = await openEmbedded({ dataDir, purpose: 'serve' });
  await database.close();
});

test('a program file that cannot be executed, or a data folder that is a file, is named', async () => {
  const native = temporaryFolder();
  mkdirSync(join(native, 'bin'));
  writeFileSync(join(native, 'bin', 'postgres'), '', { mode: 0o644 });
  const dataDir = join(native, 'data');
  const start = openEmbeddedOn({ ...thisHost(), nativeDir: native }, { dataDir, purpose: 'serve' });
  await expect(start).rejects.toThrow(/cannot be executed: .*bin\/postgres.*DATABASE_URL/s);
  writeFileSync(join(native, 'file'), '');
  await expect(openEmbedded({ dataDir: join(native, 'file'), purpose: 'serve' })).rejects.toThrow(
    'cannot be used',
  );
});
