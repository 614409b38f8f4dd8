import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Platform } from '../../src/app/platform.ts';
import { keepHouse } from '../support/chores.ts';
import { canMount } from '../support/other-system.ts';
import { startReceiver } from '../support/receiver.ts';
import { useWorld } from '../support/world.ts';

const MEGABYTE = 1024 ** 2;
const CHANNELS = '/v2/alert-channels';

const world = useWorld({ delivers: true });

test.skipIf(!canMount)(
  'a disk that fills is reported once, to the first account; after it had room it is reported again (needs the right to mount)',
  async () => {
    const disk = mkdtempSync(join(tmpdir(), 'payhook-disk-'));
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=40m', 'tmpfs', disk]).status).toBe(0);
    const receiver = await startReceiver();
    try {
      const channel = { format: 'slack', url: receiver.url, kinds: ['disk_almost_full'] };
      const other = await world.otherAccount();
      for (const api of [world.api, other])
        expect((await api.post(CHANNELS, { ...channel, name: 'ops' })).status).toBe(201);
      // the data folder of a server whose PostgreSQL is in it
      const { platform } = world;
      const config = { ...platform.config, dataDir: disk };
      const embedded = {} as NonNullable<Platform['embedded']>;
      const look = () => keepHouse({ db: world.db, platform: { ...platform, config, embedded } }, 'disk');
      const fillTo = (megabytes: number) => {
        rmSync(join(disk, 'filler'), { force: true });
        const { bavail, bsize } = statfsSync(disk);
        writeFileSync(join(disk, 'filler'), Buffer.alloc(bavail * bsize - megabytes * MEGABYTE));
      };
      const reported = async () => {
        const rows = await world.query<{ account: string; line: string }>(
          `select public_id('acc', account_id) as account, data ->> 'message' as line from notices order by id`,
        );
        const { id } = (await world.api.get('/v2/account')).body;
        expect(rows.every(({ account }) => account === id)).toBe(true);
        return rows.map(({ line }) => line);
      };
      fillTo(5);
      await look();
      expect(await reported()).toEqual([]);
      fillTo(3);
      await look();
      fillTo(1);
      await look();
      expect(await reported()).toEqual(['3 MB of 41 MB are left']);
      fillTo(5);
      await look();
      fillTo(3);
      await look();
      expect(await reported()).toHaveLength(1);
      fillTo(10);
      await look();
      fillTo(2);
      await look();
      expect(await reported()).toEqual(['3 MB of 41 MB are left', '2 MB of 41 MB are left']);
      await world.query('update notices set due_at = now()');
      const [message] = await receiver.until(1);
      expect(JSON.parse(message?.body ?? '').text).toMatch(
        /^\*.*Disk almost full\*\n• .*almost full: 2 MB of 41 MB/,
      );
    } finally {
      spawnSync('umount', ['-l', disk]);
      rmSync(disk, { recursive: true, force: true });
      await receiver.close();
    }
  },
);
