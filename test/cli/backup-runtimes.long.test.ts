import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { describe, expect, inject, test } from 'vitest';
import { settingsOf } from '../support/database-url.ts';
import { plainEnvironment } from '../support/environment.ts';
import { useAccount, useWorld } from '../support/world.ts';
import { emptyDatabase, everything, fill } from './backup-support.ts';
import { ROOT, useMachine } from './support.ts';

const MAIN = join(ROOT, 'dist/cli/main.js');
/** A Node with zstd. */
const NEWER = join(ROOT, 'test/tools/node_modules', 'node-24', 'bin/node');
const hasNewer = spawnSync(NEWER, ['--version']).status === 0;
const isOld = !('createZstdCompress' in zlib);

const world = useWorld();
const api = useAccount(world);
const machine = useMachine();
const place = (name: string) => join(machine.folder, name);
const secretKey = () => inject('postgres').secretKey;

/** Runs a command of the built program with a Node. */
async function run(node: string, args: readonly string[], env: Record<string, string>) {
  const all = { ...plainEnvironment(), DATA_DIR: place('none'), ...env };
  const ran = promisify(execFile)(node, [MAIN, ...args, '--json'], { env: all });
  return ran.then(
    ({ stdout }) => ({ result: JSON.parse(stdout), error: '' }),
    ({ stderr }: { stderr: string }) => ({ result: null, error: stderr }),
  );
}

const entriesOf = (file: string) => execFileSync('tar', ['tf', file], { encoding: 'utf8' });
const manifestOf = (file: string) =>
  JSON.parse(execFileSync('tar', ['xOf', file, 'manifest.json'], { encoding: 'utf8' }));

/** What a Node restores from a file into an empty database, table by table, or its error. */
async function restoredBy(node: string, file: string) {
  const database = await emptyDatabase();
  const { result, error } = await run(node, ['restore', file], {
    DATABASE_URL: database.url,
    SECRET_KEY: secretKey(),
  });
  const client = await database.connect();
  const { rows } = await client.query(
    `select count(*)::int as count from pg_class where relnamespace = 'public'::regnamespace`,
  );
  const tables = result && (await everything(client));
  await client.end();
  await database.drop();
  return { error, tables, isEmpty: rows[0].count === 0 };
}

describe.skipIf(!hasNewer || !isOld)(
  'backups of a Node with zstd and one without (needs Node 20 and test/tools)',
  () => {
    test('each reads gzip; zstd needs a Node that has it, and any other refuses it and leaves nothing', async () => {
      await fill(world, api);
      const settings = await settingsOf(world);
      const older = (await run(process.execPath, ['backup', place('gzip.payhook')], settings)).result.file;
      const newer = (await run(NEWER, ['backup', place('zstd.payhook')], settings)).result.file;
      expect([manifestOf(older).compression, manifestOf(newer).compression]).toEqual(['gzip', 'zstd']);
      expect(entriesOf(older)).toMatch(/commissions\/000000\.copy\.gz\n/);
      expect(entriesOf(newer)).toMatch(/commissions\/000000\.copy\.zst\n/);
      expect(entriesOf(newer)).not.toContain('.gz\n');

      const [oldByOld, oldByNew, newByNew] = [
        await restoredBy(process.execPath, older),
        await restoredBy(NEWER, older),
        await restoredBy(NEWER, newer),
      ];
      for (const { error } of [oldByOld, oldByNew, newByNew]) expect(error).toBe('');
      for (const table of ['commissions', 'affiliates', 'payout_line_totals', 'events', 'attempts']) {
        expect(oldByNew.tables?.[table], table).toEqual(oldByOld.tables?.[table]);
        expect(newByNew.tables?.[table], table).toEqual(oldByOld.tables?.[table]);
      }
      expect(await restoredBy(process.execPath, newer)).toEqual({
        error: expect.stringContaining(
          'the backup is compressed with zstd: run this command with Node 22.15 or newer',
        ),
        tables: null,
        isEmpty: true,
      });
    });
  },
);
