import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blocksOf, newcomer, type Running, startShell, typeBlocks } from './support.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(ROOT, 'docs/production.md'), 'utf8');
const isRoot = process.geteuid?.() === 0;
const canSwitch = spawnSync('runuser', ['-u', 'nobody', '--', 'node', '--version']).status === 0;

// The page typed by root, with the user nobody for the service's, and with folders of the test for the system's.
describe.skipIf(!isRoot || !canSwitch)('docs/production.md', () => {
  const blocks = blocksOf('docs/production.md');
  let root: string;
  let server: Running | undefined;
  const here = (text: string) =>
    text
      .replaceAll(/(^|[ ="'])\/(opt|etc|var|usr\/local)\//gm, (_, before, top) => `${before}${root}/${top}/`)
      .replaceAll(
        /(runuser -u|-[og]) payhook\b/g,
        (_, option) => `${option} ${option === '-g' ? 'nogroup' : 'nobody'}`,
      );
  const type = (commands: string) =>
    typeBlocks(
      [{ heading: '', commands, output: undefined }],
      root,
      newcomer({ PATH: `${root}/usr/local/bin:${process.env.PATH}` }),
    ).then(([typed]) => typed ?? { output: '', code: -1 });
  const blockWith = (text: string) => blocks.find(({ commands }) => commands.includes(text))?.commands ?? '';

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'payhook-production-'));
    spawnSync('chmod', ['755', root]);
    for (const folder of ['etc', 'opt/payhook', 'var/lib/payhook', 'usr/local/bin']) {
      mkdirSync(join(root, folder), { recursive: true });
    }
    for (const name of ['dist', 'migrations', 'package.json']) {
      cpSync(join(ROOT, name), join(root, 'opt/payhook', name), { recursive: true });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(root, 'opt/payhook/node_modules'));
    spawnSync('chown', ['nobody:nogroup', join(root, 'var/lib/payhook')]);
  });
  afterAll(async () => {
    await server?.interrupt();
    rmSync(root, { recursive: true, force: true });
  });

  test('the settings and the script that it writes are enough for every command; doctor is content with a fresh machine', async () => {
    const settings = await type(here(blockWith('cat > /etc/payhook.env')));
    expect(settings, settings.output).toMatchObject({ code: 0 });
    expect(statSync(join(root, 'etc/payhook.env')).mode & 0o777).toBe(0o640);
    const script = await type(here(blockWith('cat > /usr/local/bin/payhook')));
    expect(script.output).toContain('not there yet');
    expect(script, script.output).toMatchObject({ code: 0 });
    expect(existsSync(join(root, 'var/lib/payhook/data'))).toBe(false);
  });

  test('the key is for the service alone', async () => {
    const key = await type(here(blockWith('openssl rand')).replace(/^payhook doctor$/m, ''));
    expect(key, key.output).toMatchObject({ code: 0 });
    expect(statSync(join(root, 'etc/payhook.key')).mode & 0o777).toBe(0o600);
    const read = await type(`runuser -u nobody -- cat ${root}/etc/payhook.key`);
    expect(read.output.trim().length).toBeGreaterThan(32);
  });

  test('before the first start migrate makes nothing; the service starts as its unit says, and the upgrade finds its data', async () => {
    const early = await type('payhook migrate');
    expect(early).toMatchObject({
      code: 1,
      output: expect.stringContaining(`no Payhook data in ${root}/var/lib/payhook/data`),
    });
    expect(existsSync(join(root, 'var/lib/payhook/data'))).toBe(false);

    const unit = Object.fromEntries(
      [...page.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
    );
    expect(Number(unit.RestartSec)).toBeGreaterThan(2); // five starts within ten seconds and systemd gives up
    const command = unit.ExecStart?.replace(/^\S+/, process.execPath);
    const environment = `set -a; . ${here(unit.EnvironmentFile ?? '')}; set +a; PORT=0`;
    server = startShell(
      `cd ${here(unit.WorkingDirectory ?? '')} && ${environment} exec runuser -u nobody -- ${command}`,
      root,
      newcomer({}),
    );
    await server.until(/Ctrl-C stops it/);
    expect(server.printed()).toContain(`in ${root}/var/lib/payhook/data/first-api-key`);
    expect(server.printed()).not.toMatch(/ph_\w{20}|token=/);

    const upgrade = blockWith('payhook migrate')
      .replace('npm ci && ', '')
      .replace(/ && systemctl.*/, '');
    const migrated = await type(here(upgrade));
    expect(migrated).toMatchObject({ code: 0, output: expect.stringContaining('already') });
    expect(existsSync(join(root, 'opt/payhook/data'))).toBe(false);
    const link = await type('payhook users setup-link');
    expect(link.output).toMatch(/^https:\/\/pay\.example\.com\/set-up\?token=/);
  });
});
