import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeAffiliates } from '../support/seed.ts';
import { until } from '../support/wire.ts';
import { dataFolder } from './support-server.ts';

const MEGABYTE = 1024 ** 2;

/** Whether a small file system may be mounted here: in a container without that right the test is skipped. */
function canMount(): boolean {
  if (process.platform !== 'linux' || process.geteuid?.() !== 0) return false;
  const place = `/tmp/payhook-mount-${process.pid}`;
  mkdirSync(place, { recursive: true });
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', place]).status === 0;
  if (mounted) spawnSync('umount', [place]);
  rmSync(place, { recursive: true, force: true });
  return mounted;
}

test.skipIf(!canMount())(
  'a full disk is reported by /readyz and by refusals; with room again everything continues, without a restart (needs the right to mount)',
  async () => {
    const folder = dataFolder();
    const data = join(folder.path, 'data');
    mkdirSync(data, { mode: 0o700 });
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=400m,mode=0700', 'tmpfs', data]);
    expect(mounted.status, String(mounted.stderr)).toBe(0);
    try {
      const server = await folder.start();
      const { api, url } = server;
      const [affiliate = 0] = await makeAffiliates(api, 1);
      const ready = async () => {
        const answer = await fetch(`${url}/readyz`);
        return [answer.status, ((await answer.json()) as { reason?: string }).reason];
      };
      expect(await ready()).toEqual([200, undefined]);

      const free = () => {
        const disk = statfsSync(data);
        return disk.bavail * disk.bsize;
      };
      const filler = join(data, 'filler');
      writeFileSync(filler, Buffer.alloc(free() - 16 * 1024));
      try {
        writeFileSync(`${filler}-rest`, Buffer.alloc(free()));
      } catch (error) {
        // the server wrote meanwhile
        expect(error).toMatchObject({ code: 'ENOSPC' });
      }
      await until('/readyz says so', async () => (await ready()).join() === '503,disk_full');
      // a table that must grow: 1 MiB of incompressible text
      const text = () => Array.from({ length: 8000 }, () => Math.random().toString(36).slice(2)).join('');
      const write = () =>
        api.post('/v2/affiliates/commissions', {
          affiliate_id: affiliate,
          external_id: `c-${Math.random()}`,
          type: 'bonus',
          currency: 'usd',
          amount: 100,
          metadata: { text: text().slice(0, 400) },
          description: text().slice(0, 400),
        });
      const refused = await until('a write to be refused', async () => {
        const answer = await write();
        return answer.status === 201 ? null : answer;
      });
      expect([refused.status, refused.reason], refused.text).toEqual([500, 'disk_full']);
      expect(refused.body.error.message).toContain('the disk is full');
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);

      rmSync(filler);
      rmSync(`${filler}-rest`);
      await until('it is ready', async () => (await ready())[0] === 200);
      expect((await write()).status).toBe(201);
      expect((await server.signal('SIGTERM')).code).toBe(0);
      expect(free()).toBeGreaterThan(MEGABYTE);
    } finally {
      // PostgreSQL ends before its file system is unmounted
      spawnSync('umount', ['-l', data]);
      await folder.remove();
    }
  },
);
