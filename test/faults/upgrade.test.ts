import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { apiOf } from '../support/api.ts';
import { IMBALANCES } from '../support/imbalances.ts';
import { startReceiver } from '../support/receiver.ts';
import { makeAffiliates } from '../support/seed.ts';
import { until } from '../support/wire.ts';
import { dataFolder } from './support-server.ts';
import { sharedDatabase } from './support-shared.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MODULES = join(ROOT, 'node_modules');
const BEFORE = 20;
const AFTER = 20;

const git = (...args: string[]) =>
  execFileSync('git', args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 1 << 26,
  });

/** Packages whose version has no effect: the root itself, and what Fastify loads for tests only. */
const UNLOADED: ReadonlySet<string> = new Set(['', 'node_modules/cookie']);

/** The commit before the newest migration came to this branch, or why it cannot be run here. */
function versionBefore(): { commit: string } | { reason: string } {
  const newest = readdirSync(join(ROOT, 'migrations')).findLast((name) => name.endsWith('.sql')) ?? '';
  try {
    const added = ['--first-parent', '--diff-merges=first-parent', '--diff-filter=A', '--no-patch'];
    const made = git('log', ...added, '--format=%H', '-1', '--', `migrations/${newest}`).trim();
    const commit = git('rev-parse', '--verify', `${made}^`).trim();
    type Lock = { packages: Record<string, { version?: string }> };
    const before = JSON.parse(git('show', `${commit}:package-lock.json`)) as Lock;
    const now = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
    const other = Object.entries(before.packages).find(
      ([name, { version }]) => !UNLOADED.has(name) && now.packages[name]?.version !== version,
    );
    return other ? { reason: `it needs another ${other[0]}` } : { commit };
  } catch {
    return { reason: 'there is no git history with it' };
  }
}

/** Puts the program of a source folder into its `dist`, in a few files as the build does; quicker, and without its checks. */
const buildIn = (source: string) =>
  build({
    absWorkingDir: source,
    entryPoints: ['src/cli/main.ts', 'src/app/thread.ts'],
    ...{ outbase: 'src', outdir: 'dist', chunkNames: 'program/[name]-[hash]', bundle: true, splitting: true },
    ...{ platform: 'node', format: 'esm', packages: 'external', logLevel: 'error' },
  });

const previous = versionBefore();
const commit = 'commit' in previous ? previous.commit : null;

test.skipIf(commit === null)(
  `the previous version continues on the schema of this one, and both deliver each event once${'reason' in previous ? ` (skipped: ${previous.reason})` : ''}`,
  async () => {
    const source = mkdtempSync(join(tmpdir(), 'payhook-before-'));
    execFileSync(
      'sh',
      [
        '-c',
        `git archive ${commit} src migrations package.json tsconfig.json | tar -x -C "$1"`,
        'sh',
        source,
      ],
      { cwd: ROOT },
    );
    symlinkSync(MODULES, join(source, 'node_modules'));
    const database = await sharedDatabase({ isEmpty: true });
    const settings = { DELIVERY_ALLOW_CIDRS: '127.0.0.0/8' };
    await buildIn(source);
    const program = [join(source, 'dist/cli/main.js')];
    const [before, after] = [dataFolder({ database, settings, program }), dataFolder({ database, settings })];
    const receiver = await startReceiver();
    let isOver = false;
    try {
      const old = await before.start();
      const key = readFileSync(join(before.path, 'data', 'first-api-key'), 'utf8').trim();
      // its responses lack the fields added after it
      const apis = [apiOf(old.url, key, () => undefined)];
      const [first] = apis as [(typeof apis)[0]];
      const made = await first.post('/v2/webhook-endpoints', {
        url: receiver.url,
        event_types: ['order.created'],
      });
      expect(made.status).toBe(201);
      const [affiliate = 0] = await makeAffiliates(first, 1);
      const events: string[] = [];
      let commissions = 0;
      const call = async (index: number) => {
        for (let round = 0; !isOver; round++) {
          const api = apis[round % apis.length] ?? first;
          const event = await api.post('/v2/events', { type: 'order.created', data: { index, round } });
          expect(event.status, event.text).toBe(201);
          events.push(event.body.id);
          const sale = { external_id: `${index}-${round}`, affiliate_id: affiliate, amount: 100 };
          const commission = await api.post('/v2/affiliates/commissions', sale);
          expect(commission.status, commission.text).toBe(201);
          commissions += 1;
        }
      };
      const callers = Promise.all([0, 1, 2, 3].map(call));
      await Promise.race([callers, until('the old one is busy', () => commissions > BEFORE)]);
      const { url } = await after.start();
      apis.push(apiOf(url, key));
      const sofar = commissions;
      await Promise.race([callers, until('both are busy', () => commissions > sofar + AFTER)]);
      isOver = true;
      await callers;

      const arrived = () => receiver.received.map(({ headers }) => String(headers['webhook-id']));
      await until('all events to arrive', () => new Set(arrived()).size === events.length);
      expect(arrived().toSorted()).toEqual(events.toSorted());
      for (const api of apis) {
        const { body } = await api.get('/v2/affiliates/commissions?per_page=1');
        expect(body.pagination.total).toBe(commissions);
      }
      const payout = await first.post('/v2/affiliates/payouts', {});
      expect([payout.status, payout.body.totals]).toMatchObject([201, [{ amount: 100 * commissions }]]);
      const inspector = await after.superuser();
      expect((await inspector.query(IMBALANCES)).rows).toEqual([]);
      await inspector.end();
      await expect(before.start()).rejects.toThrow('run the newer program');
    } finally {
      isOver = true;
      await Promise.all([before.remove(), after.remove()]);
      await receiver.close();
      await database.drop();
      rmSync(source, { recursive: true, force: true });
    }
  },
);
