import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * This machine in a mount namespace, so that a test may change it as root: the system folders that an installation
 * writes to are replaced.
 */
export interface OtherSystem {
  /** A shell command that runs commands in it; `/opt/payhook` is this project. */
  entered(commands: string): string;
  /** Runs commands to their end. */
  run(commands: string): { code: number | null; stdout: string; stderr: string };
  /** The outside path of a file in it. */
  path(inside: string): string;
  close(): void;
}

/** Folders that are replaced inside; all but /etc begin empty. */
const FOLDERS = ['etc', 'opt', 'root', 'usr/local/sbin', 'var/lib', 'var/log'];

/** Whether this process may create mounts, which takes root. */
export const canMount = spawnSync('unshare', ['--mount', 'mount', '--make-rprivate', '/']).status === 0;

/** Whether every user may run the Node of this process, as a service must. */
export const isNodeForAll =
  spawnSync('runuser', ['-u', 'nobody', '--', process.execPath, '--version']).status === 0;

/** Creates a system. Close it. */
export function startOtherSystem(): OtherSystem {
  const folder = mkdtempSync(join(tmpdir(), 'payhook-system-'));
  for (const name of FOLDERS) mkdirSync(join(folder, name), { recursive: true, mode: 0o755 });
  execFileSync('cp', ['-a', '/etc/.', join(folder, 'etc')]);
  mkdirSync(join(folder, 'opt/payhook'));
  const script = join(folder, 'enter');
  const mounts = FOLDERS.map((name) => `mount --bind '${folder}/${name}' /${name}`);
  writeFileSync(
    script,
    [
      'set -e',
      'mount --make-rprivate /',
      ...mounts,
      `mount --bind '${PROJECT}' /opt/payhook`,
      'exec bash -c "$1"',
    ].join('\n'),
  );
  const args = (commands: string) => ['--mount', '--', 'bash', script, commands];
  const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;
  return {
    entered: (commands) => `unshare ${args(commands).map(quoted).join(' ')}`,
    run(commands) {
      const { PATH = '/usr/sbin:/usr/bin:/sbin:/bin' } = process.env;
      const env = { PATH: `/usr/local/sbin:${PATH}`, HOME: '/root' };
      const { status, stdout, stderr } = spawnSync('unshare', args(commands), {
        encoding: 'utf8',
        cwd: '/',
        env,
      });
      return { code: status, stdout, stderr };
    },
    path: (inside) => join(folder, inside),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
