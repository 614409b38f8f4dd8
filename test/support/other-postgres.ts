import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { until } from './wire.ts';

const DEBIAN = '/usr/lib/postgresql';
const OLDEST = 15;

/** The binaries of the oldest Debian PostgreSQL installed here that Payhook supports, or null. */
export function otherPostgres(): string | null {
  if (process.geteuid?.() !== 0 || spawnSync('id', ['-u', 'postgres']).status !== 0) return null;
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : [];
  const fit = versions.filter((version) => Number(version) >= OLDEST).sort((a, b) => Number(a) - Number(b));
  return fit[0] === undefined ? null : join(DEBIAN, fit[0], 'bin');
}

/** Starts such a PostgreSQL with one empty database, whose owner is no superuser. */
export async function startOther(
  binaries: string,
): Promise<{ url: string; client(): Promise<pg.Client>; close(): void }> {
  const folder = mkdtempSync(join(tmpdir(), 'payhook-pg-'));
  const [uid = 0, gid = 0] = ['-u', '-g'].map((what) =>
    Number(execFileSync('id', [what, 'postgres'], { encoding: 'utf8' })),
  );
  chownSync(folder, uid, gid);
  const data = join(folder, 'data');
  const options = { uid, gid, cwd: folder, stdio: 'ignore' } as const;
  execFileSync(
    join(binaries, 'initdb'),
    ['-D', data, '-A', 'trust', '-U', 'postgres', '-N', '--encoding=UTF8', '--locale=C.UTF-8'],
    options,
  );
  const settings = ['-c', 'listen_addresses=', '-c', `unix_socket_directories=${folder}`, '-c', 'fsync=off'];
  const server = spawn(join(binaries, 'postgres'), ['-D', data, ...settings], options);
  const connect = async (user: string, database: string) => {
    const client = new pg.Client({ host: folder, port: 5432, user, database });
    await client.connect();
    return client;
  };
  const admin = await until('PostgreSQL to answer', () => connect('postgres', 'postgres').catch(() => null));
  await admin.query('create role payhook login');
  await admin.query(`create database payhook owner payhook encoding 'UTF8' template template0`);
  await admin.end();
  return {
    url: `postgres://payhook@localhost:5432/payhook?host=${encodeURIComponent(folder)}`,
    client: () => connect('payhook', 'payhook'),
    close() {
      server.kill('SIGINT');
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
