import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-port.ts';

/** PgBouncer in transaction mode, in front of a PostgreSQL. */
export interface PgBouncer {
  readonly host: string;
  readonly port: number;
  close(): Promise<void>;
}

/**
 * PgBouncer refuses to run as root: in a user namespace it sees itself as nobody, and the files of the embedded
 * PostgreSQL see root.
 */
const COMMAND: readonly [string, ...string[]] =
  process.getuid?.() === 0
    ? ['unshare', '--user', '--map-user=65534', '--map-group=65534', '--', 'pgbouncer']
    : ['pgbouncer'];
const [program, ...before] = COMMAND;

/** Whether PgBouncer is installed and can run. */
export const hasPgBouncer = spawnSync(program, [...before, '--version']).status === 0;

/**
 * Starts PgBouncer as Debian ships it, with settings that drop nothing. It accepts everyone as `user`, because it
 * serves tests on this machine only.
 */
export async function startPgBouncer(
  target: { host: string; port: number; user: string; password: string | undefined },
  settings: Readonly<Record<string, string>> = {},
): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'payhook-pgbouncer-'));
  const port = await freePort();
  const { host, user, password } = target;
  const lines = {
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    max_client_conn: '1000',
    default_pool_size: '10',
    ...settings,
  };
  const file = join(folder, 'pgbouncer.ini');
  const upstream = `host=${host} port=${target.port} user=${user}${password ? ` password=${password}` : ''}`;
  const text = Object.entries(lines).map(([name, value]) => `${name} = ${value}\n`);
  writeFileSync(file, `[databases]\n* = ${upstream}\n[pgbouncer]\n${text.join('')}`);
  const child = spawn(program, [...before, '-q', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  await untilOpen(child, port, () => output);
  return {
    host: '127.0.0.1',
    port,
    async close() {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilOpen(child: ChildProcess, port: number, output: () => string): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended:\n${output()}`);
    const socket = connect(port, '127.0.0.1');
    const isOpen = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (isOpen) return;
    await delay(20);
  }
}
