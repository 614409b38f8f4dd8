import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isLong, longRun, someOf } from '../support/depth.ts';
import { canMount, isNodeForAll, type OtherSystem, startOtherSystem } from '../support/other-system.ts';

const UNIT = '/etc/systemd/system/payhook.service';
const SETTINGS = '/etc/payhook.env';
const SCRIPT = '/usr/local/sbin/payhook';
const INSTALL = `'${process.execPath}' /opt/payhook/dist/cli/main.js service install`;
const UNINSTALL = INSTALL.replace('install', 'uninstall');

let system: OtherSystem;
const modeOf = (path: string) => statSync(system.path(path)).mode & 0o7777;
const unit = () => readFileSync(system.path(UNIT), 'utf8');
const actions = (stdout: string) =>
  Object.fromEntries(
    (JSON.parse(stdout).steps as { what: string; action: string }[]).map((step) => [step.what, step.action]),
  );
const setSettings = (text: string) => writeFileSync(system.path(SETTINGS), text);

// Root with replaced system folders: needs the right to mount, and skips without it.
describe.skipIf(!canMount || !isNodeForAll)('payhook service', () => {
  beforeAll(() => {
    system = startOtherSystem();
  });
  afterAll(() => system.close());

  // One story on one system: each test continues where the previous one ended.

  test('a dry run shows each file and command, and creates nothing', () => {
    const ran = system.run(`${INSTALL} --dry-run`);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toContain('create     user payhook\n    useradd --system');
    expect(ran.stdout).toContain(`create     ${UNIT}\n    # Written by`);
    expect(ran.stdout).toContain('    ExecStart=');
    expect(ran.stdout).toContain('    install -d -m 700 -o payhook -g payhook /var/lib/payhook\n');
    for (const path of [UNIT, SETTINGS, SCRIPT, '/var/lib/payhook'])
      expect(existsSync(system.path(path))).toBe(false);
    expect(readFileSync(system.path('/etc/passwd'), 'utf8')).not.toContain('payhook');
  });

  test('only root may install, and only a program that the service can reach', () => {
    const asNobody = system.run(`runuser -u nobody -- ${INSTALL}`);
    expect(asNobody).toMatchObject({ code: 1, stderr: expect.stringContaining('run this as root') });
    const closed = system.run(
      `mkdir -p /root/p && mount --bind /opt/payhook /root/p && ${INSTALL.replace('/opt/payhook', '/root/p')}`,
    );
    expect(closed).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('/root/p/dist/cli, which the service cannot reach'),
    });
    expect(existsSync(system.path(UNIT))).toBe(false);
  });

  test('a program that users other than root can write to is refused', () => {
    const copy =
      'mkdir /opt/copy && cp -r /opt/payhook/dist /opt/payhook/package.json /opt/payhook/migrations /opt/copy && ln -s /opt/payhook/node_modules /opt/copy/node_modules';
    const install = INSTALL.replace('/opt/payhook', '/opt/copy');
    const spoilt = [
      ['chmod g+w /opt/copy/dist/cli/main.js', '/opt/copy/dist/cli/main.js (mode 0'],
      ['chown nobody /opt/copy/migrations', '/opt/copy/migrations (it belongs to the user with id 65534)'],
      ['chmod 777 /opt', 'can write to /opt (mode 0777)'],
      [
        'touch /opt/copy/dist/program/more.js && chown nobody /opt/copy/dist/program/more.js',
        '/opt/copy/dist/program/more.js',
      ],
    ] as const;
    for (const [spoil, message] of someOf(spoilt, 1)) {
      const ran = system.run(
        `umask 022; ${copy} && ${spoil} && ${install} --dry-run; code=$?; chmod 755 /opt; rm -r /opt/copy; exit $code`,
      );
      expect({ spoil, ...ran }).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
      expect(ran.stderr).toContain('users other than root can write to');
    }
    expect(existsSync(system.path(UNIT))).toBe(false);
  });

  test('it creates the user, the folder, the settings, the unit and the script, with their permissions', () => {
    const ran = system.run(`${INSTALL} --json`);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    const made = ['user payhook', SETTINGS, '/var/lib/payhook', UNIT, SCRIPT];
    expect(actions(ran.stdout)).toEqual(Object.fromEntries(made.map((what) => [what, 'create'])));
    expect(system.run(`stat -c '%U:%G %a' /var/lib/payhook ${SETTINGS} ${UNIT} ${SCRIPT}`).stdout).toBe(
      'payhook:payhook 700\nroot:payhook 640\nroot:root 644\nroot:root 755\n',
    );
    if (!isLong) return;
    const again = system.run(`${INSTALL} --json`);
    expect(actions(again.stdout)).toEqual(Object.fromEntries(made.map((what) => [what, 'unchanged'])));
  });

  test.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)(
    'systemd accepts the unit, and rates it well protected',
    () => {
      const verified = system.run(`systemd-analyze verify ${UNIT}`);
      expect(verified.stderr.split('\n').filter((line) => line.includes('payhook'))).toEqual([]);
      expect(verified.code).toBe(0);
      // 10 is a service without any protection; the threshold is 2.5
      const judged = system.run(`systemd-analyze security --offline=true --threshold=25 --no-pager ${UNIT}`);
      expect(judged.code, judged.stdout).toBe(0);
    },
  );

  test('commands of the script have the settings and the user of the service', () => {
    const doctor = system.run(`${SCRIPT} doctor`);
    expect(doctor, doctor.stderr).toMatchObject({ code: 0 });
    expect(doctor.stdout).toContain('/var/lib/payhook/data does not exist yet');
  });

  longRun.test('commands of the script that take no settings run without them', () => {
    const dry = system.run(`${SCRIPT} service install --dry-run`);
    expect(dry, dry.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining(`unchanged  ${UNIT}`) });
    const completion = system.run(`${SCRIPT} completion bash`);
    expect(completion, completion.stderr).toMatchObject({ code: 0, stderr: '' });
  });

  test('settings are kept, and their values go into the unit', () => {
    const kept =
      'DATA_DIR=/opt/my data/payhook\nSHUTDOWN_DELAY_MS=60000\nBACKUP_EVERY=24h\nBACKUP_TO=/var/lib/payhook/backups\n';
    setSettings(kept);
    system.run(`chmod 644 ${SETTINGS}; chmod 755 /var/lib/payhook`);
    expect(unit()).toContain('\nTimeoutStopSec=30\n');
    const ran = system.run(`${INSTALL} --json`);
    expect(actions(ran.stdout)).toEqual({
      'user payhook': 'unchanged',
      [SETTINGS]: 'update',
      '/var/lib/payhook': 'update',
      '/opt/my data/payhook': 'create',
      [UNIT]: 'update',
      [SCRIPT]: 'unchanged',
    });
    expect(unit()).toContain('\nReadWritePaths="/opt/my data/payhook"\n');
    expect(unit()).toContain('\nTimeoutStopSec=85\n');
    expect(readFileSync(system.path(SETTINGS), 'utf8')).toBe(kept);
    expect(modeOf(SETTINGS)).toBe(0o640);
    expect(modeOf('/var/lib/payhook')).toBe(0o700);
  });

  test('wrong settings are reported, and the unit stays unchanged', () => {
    const before = unit();
    setSettings('PORT=high\nSHUTDOWN_DELAY_MS=1000\n');
    expect(system.run(INSTALL)).toMatchObject({ code: 2, stderr: expect.stringContaining('PORT must be') });
    expect(unit()).toBe(before);
  });

  test('uninstall removes the unit and the script; user, settings and data stay', () => {
    const ran = system.run(`${SCRIPT} service uninstall --json`);
    expect(ran.code, ran.stderr).toBe(0);
    expect(JSON.parse(ran.stdout)).toEqual({ removed: [UNIT, SCRIPT] });
    expect([UNIT, SCRIPT, SETTINGS, '/var/lib/payhook'].map((path) => existsSync(system.path(path)))).toEqual(
      [false, false, true, true],
    );
    if (!isLong) return;
    expect(system.run(UNINSTALL)).toMatchObject({ code: 0, stdout: 'No service is installed.\n' });
  });

  test('a script of another program is neither overwritten nor removed', () => {
    setSettings('');
    const other = '#!/bin/sh\nexec something else\n';
    writeFileSync(system.path(SCRIPT), other);
    expect(system.run(INSTALL)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${SCRIPT} was not written by`),
    });
    system.run(UNINSTALL);
    expect(readFileSync(system.path(SCRIPT), 'utf8')).toBe(other);
  });
});
