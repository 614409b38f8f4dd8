import { spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT } from '../cli/support.ts';
import { type Running, startShell } from '../first-hour/support.ts';
import { longRun } from '../support/depth.ts';
import { freePort } from '../support/free-port.ts';
import { canMount, isNodeForAll } from '../support/other-system.ts';

/** The root of an image built from the Dockerfile; without one, this machine's with the project in it. */
const IMAGE = process.env.TEST_IMAGE_ROOT;
/** A user with a name, as initdb requires: the image's user, or nobody. */
const USER = IMAGE ? 10_001 : 65_534;

/** Creates the namespaces of a container around a command: the root is read-only, except the volume and /tmp. */
const enterScript = (root: string, volume: string) =>
  `set -e
mount --make-rprivate /
mount --bind '${IMAGE ?? '/'}' '${root}'
${
  IMAGE
    ? ''
    : `mount -t tmpfs none '${root}/opt'; mkdir '${root}/opt/payhook'; mount --bind '${ROOT}' '${root}/opt/payhook'; mount -o remount,bind,ro '${root}/opt/payhook'
mount -t tmpfs none '${root}/var/lib'; mkdir '${root}/var/lib/payhook'; mount -o remount,ro '${root}/var/lib'`
}
mount -o remount,bind,ro '${root}'
mount -t proc none '${root}/proc'
mount --rbind /dev '${root}/dev'
mount -t tmpfs none '${root}/tmp'
mount --bind '${volume}' '${root}/var/lib/payhook'
exec chroot '${root}' "$@"
`;

describe.skipIf(!canMount || !isNodeForAll)('in a container', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payhook-container-'));
  const volume = join(folder, 'volume');
  const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  let port = 0;
  let server: Running;

  beforeAll(async () => {
    mkdirSync(join(folder, 'root'));
    mkdirSync(volume, { mode: 0o700 });
    chownSync(volume, USER, USER);
    writeFileSync(join(folder, 'enter'), enterScript(join(folder, 'root'), volume));
    port = await freePort();
  });
  afterAll(async () => {
    if (server?.child.exitCode === null) await server.interrupt();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The server as process 1, without a terminal and without capabilities. */
  const start = async () => {
    const rights = `setpriv --reuid ${USER} --regid ${USER} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all`;
    const settings = `HOST=127.0.0.1 PORT=${port} DATA_DIR=/var/lib/payhook/data SHUTDOWN_DELAY_MS=0`;
    const node = IMAGE ? 'node' : process.execPath;
    server = startShell(
      `exec unshare --mount --pid --fork --kill-child -- bash '${folder}/enter' ` +
        `${rights} env -i PATH=/usr/local/bin:/usr/bin:/bin ${settings} ${node} /opt/payhook/dist/cli/main.js serve < /dev/null`,
      folder,
      { PATH: process.env.PATH ?? '' },
    );
    await server.until(/Ctrl-C stops it/);
  };
  /** The outside pid of process 1 of the container. */
  const first = () => {
    const children = readFileSync(`/proc/${server.child.pid}/task/${server.child.pid}/children`, 'utf8');
    return Number(children.trim());
  };
  /** The exit code of the health check that the Dockerfile names. */
  const health = () => {
    const [, command = ''] = /HEALTHCHECK[\s\S]*?CMD (\[.*\])/.exec(dockerfile) ?? [];
    const [, ...args] = JSON.parse(command) as string[];
    return spawnSync(process.execPath, args, { env: { PORT: String(port) } }).status;
  };

  test('it runs as process 1 on a read-only root, as an unprivileged user, and is healthy', async () => {
    expect(health()).toBe(1);
    await start();
    expect(health()).toBe(0);
    const status = readFileSync(`/proc/${first()}/status`, 'utf8');
    expect(status).toMatch(/^NSpid:\t\d+\t1$/m);
    expect(status).toMatch(new RegExp(`^Uid:\\t${USER}\\t`, 'm'));
    expect(status).toMatch(/^CapEff:\t0+$/m);
    const written = spawnSync('nsenter', ['-t', String(first()), '-m', '-r', 'touch', '/opt/payhook/file']);
    expect(String(written.stderr)).toContain('Read-only file system');
    expect(readdirSync(volume)).toEqual(['data']);
    expect(statSync(join(volume, 'data')).uid).toBe(USER);
  });

  longRun.test('after kill -9 the next container on the volume continues', async () => {
    process.kill(first(), 'SIGKILL');
    await server.ended;
    await start();
    expect(server.printed()).not.toContain('creating the database');
    expect(health()).toBe(0);
  });

  test('SIGTERM to process 1 stops PostgreSQL too, with exit code 0', async () => {
    process.kill(first(), 'SIGTERM');
    expect(await server.ended).toBe(0);
    expect(health()).toBe(1);
    expect(existsSync(join(volume, 'data/postgres/postmaster.pid'))).toBe(false);
  });
});
