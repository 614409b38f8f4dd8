import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../faults/support-embedded.ts';
import { longRun, someOf } from '../support/depth.ts';
import { runOn } from './here.ts';
import { type Machine, startMachine } from './support.ts';

const NOBODY = 65534;
const isRoot = process.platform === 'linux' && process.geteuid?.() === 0;
const rootOnly = test.skipIf(!isRoot);

let machine: Machine;
let folders: string[];
let processes: ChildProcess[];
beforeEach(() => {
  machine = startMachine();
  folders = [];
  processes = [];
});
afterEach(async () => {
  for (const child of processes) child.kill('SIGKILL');
  await machine.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder of the user nobody that everyone may enter. */
function folderOfNobody(): string {
  const folder = mkdtempSync(join(tmpdir(), 'payhook-nobody-'));
  folders.push(folder);
  chmodSync(folder, 0o755);
  chownSync(folder, NOBODY, NOBODY);
  return folder;
}

/** Writes a file as the user nobody would, with its parent folders. */
function writeAsNobody(folder: string, name: string, content: string): void {
  const parts = name.split('/');
  for (let depth = 1; depth < parts.length; depth += 1) {
    const path = join(folder, ...parts.slice(0, depth));
    if (existsSync(path)) continue;
    mkdirSync(path);
    chownSync(path, NOBODY, NOBODY);
  }
  writeFileSync(join(folder, name), content);
  chownSync(join(folder, name), NOBODY, NOBODY);
}

/** A process of the user nobody. Resolves with what identifies it. */
async function processOfNobody(program: string, cwd: string) {
  const child = spawn(program, ['600'], { cwd, stdio: 'ignore', uid: NOBODY, gid: NOBODY });
  processes.push(child);
  const pid = child.pid ?? 0;
  const stat = await eventually(() =>
    /^\d+ \((?:postgres|sleep)\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')),
  );
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').replaceAll('-', '').slice(0, 16);
  return { pid, startTime: stat[1]?.split(' ')[19] ?? '', boot };
}

/** A folder with a file in it that nobody may delete. */
function victim(name = 'victim'): string {
  const folder = join(machine.folder, name);
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'kept'), 'kept');
  return folder;
}

rootOnly('a data folder of another user is refused before anything in it is read or removed', async () => {
  const folder = folderOfNobody();
  const kept = victim();
  writeAsNobody(folder, 'data/postgres/PG_VERSION', '18\n');
  writeAsNobody(folder, 'data/run/outside.json', JSON.stringify({ socketDir: kept, stage: kept }));
  const dataDir = join(folder, 'data');
  for (const args of [['accounts', 'list'], ['serve'], ['init'], ['doctor'], ['worker']]) {
    const isProcess = args[0] === 'serve' || args[0] === 'worker';
    const ran = await (isProcess ? machine.run : runOn(machine))([...args, '--data-dir', dataDir]);
    expect({ args, code: ran.code, said: ran.stdout + ran.stderr }).toEqual({
      args,
      code: 1,
      said: expect.stringContaining(
        `The data folder ${dataDir} belongs to the user with id ${NOBODY}, and this process runs as 0.`,
      ),
    });
  }
  expect(existsSync(join(kept, 'kept'))).toBe(true);
  expect(readdirSync(join(dataDir, 'run'))).toEqual(['outside.json']);
});

rootOnly('a command does not adopt the data folder that a process of another user works in', async () => {
  const folder = folderOfNobody();
  const kept = victim();
  const dataDir = join(folder, 'elsewhere');
  writeAsNobody(folder, 'elsewhere/postgres/PG_VERSION', '18\n');
  symlinkSync('/bin/sleep', join(folder, 'postgres'));
  await processOfNobody(join(folder, 'postgres'), join(dataDir, 'postgres'));
  const server = await processOfNobody('/bin/sleep', folder);
  const owner = { ...server, purpose: 'serve', socketDir: dataDir, port: 5432 };
  writeAsNobody(folder, 'elsewhere/run/owner.json', JSON.stringify(owner));
  writeAsNobody(folder, 'elsewhere/run/outside.json', JSON.stringify({ socketDir: null, stage: kept }));
  const command = machine.startOther('sh', ['-c', `DATA_DIR= ${machine.command} accounts list`], folder);
  expect(await command.ended).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(`^payhook: there is no Payhook data in ${join(folder, 'data')}:`),
  });
  expect(existsSync(join(kept, 'kept'))).toBe(true);
});

describe('the data folder is refused', () => {
  const spoilt: [what: string, spoil: (dataDir: string) => void, said: RegExp, needsRoot?: true][] = [
    [
      'when its group may write to it',
      (dataDir) => chmodSync(dataDir, 0o770),
      /Other users can write to the data folder .*data folder \(mode 0770\).*chmod 700/,
    ],
    [
      'when everyone may write to it',
      (dataDir) => chmodSync(dataDir, 0o1777),
      /Other users can write to the data folder .*\(mode 01777\)/,
    ],
    [
      'when others may write to run',
      (dataDir) => chmodSync(join(dataDir, 'run'), 0o722),
      /Other users can write to the folder .*run \(mode 0722\).*remove/,
    ],
    [
      'when run is a symbolic link',
      (dataDir) => {
        renameSync(join(dataDir, 'run'), join(dataDir, 'other'));
        symlinkSync('other', join(dataDir, 'run'));
      },
      /run must be a folder, and is none/,
    ],
    [
      'when run belongs to another user',
      (dataDir) => chownSync(join(dataDir, 'run'), NOBODY, NOBODY),
      /The folder .*run belongs to the user with id 65534, and this process runs as 0/,
      true,
    ],
    [
      'when it is a symbolic link of another user',
      (dataDir) => {
        renameSync(dataDir, `${dataDir} moved`);
        symlinkSync(`${dataDir} moved`, dataDir);
        lchownSync(dataDir, NOBODY, NOBODY);
      },
      /is a symbolic link of the user with id 65534/,
      true,
    ],
  ];

  test.each(someOf(spoilt, 3))('%s', async (_what, spoil, message, needsRoot) => {
    if (needsRoot && !isRoot) return;
    await machine.init();
    spoil(machine.dataDir);
    const ran = await runOn(machine)(['accounts', 'list']);
    expect(ran).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
    const doctor = await runOn(machine)(['doctor', '--json']);
    expect(doctor.json().checks).toEqual([
      { name: 'data folder', status: 'failed', detail: expect.stringMatching(message) },
    ]);
  });
});

longRun.test('your own link to the data folder works', async () => {
  await machine.init();
  renameSync(machine.dataDir, join(machine.folder, 'moved'));
  symlinkSync('moved', machine.dataDir);
  expect(await machine.run(['accounts', 'list'])).toMatchObject({ code: 0, stderr: '' });
});

longRun.test('PostgreSQL loads libraries from a folder that is new at each start', async () => {
  await machine.init();
  const links = join(machine.dataDir, 'run', 'lib');
  writeFileSync(join(links, 'libc.so.6'), 'not a library');
  expect(await machine.run(['accounts', 'list'])).toMatchObject({ code: 0, stderr: '' });
  const found = readdirSync(links);
  expect(found.length).toBeGreaterThan(0);
  expect(found.filter((name) => !lstatSync(join(links, name)).isSymbolicLink())).toEqual([]);
});

longRun.test('a start removes only folders that earlier starts created', async () => {
  await machine.init();
  const note = join(machine.dataDir, 'run', 'outside.json');
  const ours = ['payhook-postgres-Abc123', 'payhook-Abc123'].map((name) => victim(name));
  rmSync(join(ours[1] ?? '', 'kept'));
  const others = [victim(), victim('payhook-postgres-too-long')];
  const linked = join(machine.folder, 'payhook-postgres-Link12');
  symlinkSync(others[0] ?? '', linked);
  const pairs: [socketDir: string | undefined, stage: string | undefined][] = [
    [ours[1], ours[0]],
    [others[0], others[1]],
    [others[1], linked],
  ];
  if (isRoot) {
    const ofNobody = victim('payhook-postgres-Nobody');
    chownSync(ofNobody, NOBODY, NOBODY);
    others.push(ofNobody);
    pairs.push([undefined, ofNobody]);
  }
  for (const [socketDir, stage] of pairs) {
    writeFileSync(note, JSON.stringify({ socketDir, stage }));
    expect(await machine.run(['accounts', 'list'])).toMatchObject({ code: 0, stderr: '' });
  }
  expect(ours.filter(existsSync)).toEqual([]);
  expect(others.filter((folder) => !existsSync(join(folder, 'kept')))).toEqual([]);
  expect(existsSync(note)).toBe(false);
});
