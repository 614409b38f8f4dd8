import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { createThreads, type Threads } from '../../src/threads/pool.ts';
import { taskOf } from '../../src/threads/task.ts';
import { turnsOf } from '../../src/threads/turns.ts';
import { expectRefusal, makeAffiliate } from '../api/fixtures.ts';
import { scrape, series } from '../operations/support.ts';
import { rounds } from '../support/depth.ts';
import { until } from '../support/wire.ts';
import { useWorld } from '../support/world.ts';

const program = fileURLToPath(new URL('threads-program.mjs', import.meta.url));
const account = '00000000-0000-7000-8000-000000000001' as Parameters<Threads['run']>[2]['account'];

const spin = taskOf<null, string>('spin', 'spinning');
const sleep = taskOf<null, string>('sleep', 'sleeping');
const fill = taskOf<null, string>('fill', 'filling');
const ask = taskOf<string, string, string, string>('ask', 'asking');

describe('a thread', () => {
  let threads: Threads;
  const ended: string[] = [];
  const start = (more: { readonly memory?: number; readonly silenceMs?: number }) => {
    ended.length = 0;
    threads = createThreads({
      program,
      files: 2,
      onTask: () => undefined,
      onEnded: (task, why) => ended.push(`${task}: ${why}`),
      ...more,
    });
    return threads;
  };
  afterEach(() => threads.close());

  const answer = async (question: string) => `the answer to a ${question}`;
  const works = () => threads.run(ask, 'got', { account, answer });

  test('is started for its first task, asks, and does the next task too', async () => {
    start({});
    expect(threads.count()).toBe(0);
    expect(await works()).toBe('got the answer to a question');
    expect(await works()).toBe('got the answer to a question');
    expect(threads.count()).toBe(1);
  });

  test('that is silent for too long is ended, and only its request is refused', async () => {
    // long enough for a thread to start on a busy machine
    start({ silenceMs: 3000 });
    const [spun, other] = await Promise.allSettled([threads.run(spin, null, { account }), works()]);
    const message = 'the server gave up spinning: it took more than 3 seconds. Split it or choose less';
    expect(spun).toMatchObject({ status: 'rejected', reason: { reason: 'too_much_work', message } });
    expect(other).toMatchObject({ status: 'fulfilled' });
    expect(ended).toEqual(['spin: 3 seconds']);
    expect(await works()).toBe('got the answer to a question');
  });

  test('that needs too much memory is ended, and only its request is refused', async () => {
    start({ memory: 32 });
    const [filled, other] = await Promise.allSettled([threads.run(fill, null, { account }), works()]);
    expect(filled).toMatchObject({ status: 'rejected', reason: { reason: 'too_much_work' } });
    expect(filled).toMatchObject({ reason: { message: expect.stringContaining('32 MiB of memory') } });
    expect(other).toMatchObject({ status: 'fulfilled' });
    expect(await works()).toBe('got the answer to a question');
  });

  test('may wait for an answer as long as that takes, and learns when there is none', async () => {
    // long enough for a thread to start on a busy machine
    start({ silenceMs: 3000 });
    let reply: (answer: string) => void = () => undefined;
    const late = new Promise<string>((resolve) => {
      reply = resolve;
    });
    const waits = threads.run(ask, 'got', { account, answer: () => late });
    // another one is ended for its silence meanwhile
    await expect(threads.run(sleep, null, { account })).rejects.toMatchObject({ reason: 'too_much_work' });
    reply('a late answer');
    expect(await waits).toBe('got a late answer');
    const lost = threads.run(ask, 'got', { account, answer: () => Promise.reject(new Error('no database')) });
    await expect(lost).rejects.toThrow('no database');
  });
});

test('an account with 200 waiting tasks gets half of the turns, and delays no other account', async () => {
  const take = turnsOf(2);
  const order: string[] = [];
  const ends: (() => void)[] = [];
  const turn = async (name: string) => {
    const end = await take(name);
    order.push(name);
    ends.push(end);
  };
  const many = Array.from({ length: 200 }, () => turn('many'));
  const few = [turn('few'), turn('few')];
  await Promise.all([many[0], few[0]]);
  expect(order).toEqual(['many', 'few']);
  while (order.length < 202) {
    ends.shift()?.();
    await Promise.resolve();
    await Promise.resolve();
  }
  expect(order.indexOf('few', 2)).toBeLessThanOrEqual(3);
  await Promise.all([...many, ...few]);
});

describe('a server', () => {
  const world = useWorld({ own: true, settings: { METRICS_PORT: '0' } });
  const { api } = world;
  const csv = { 'content-type': 'text/csv' };
  const preview = (text: string, kind = 'affiliates') =>
    api.request('POST', `/v2/imports/preview?kind=${kind}`, { body: text, headers: csv });

  const dryRun = (path: string, text: string) =>
    api.request('POST', `${path}?dry_run=true`, { body: text, headers: csv });

  /** Calls /healthz repeatedly until the work is done; returns how often it was answered. */
  async function healthyDuring(work: Promise<unknown>): Promise<number> {
    let [answered, isDone] = [0, false];
    const over = work.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      expect((await fetch(`${world.url}/healthz`)).status).toBe(200);
      answered += 1;
      // the threads need the processor too
      await delay(5);
    }
    await over;
    return answered;
  }

  test('starts no thread before it reads a file, and reads files and creates documents in threads', async () => {
    const started: unknown[] = [];
    const note = (worker: unknown) => void started.push(worker);
    process.on('worker', note);
    try {
      const affiliate = await makeAffiliate(api);
      await api.get('/v2/affiliates');
      expect(started).toHaveLength(0);
      const [looked, read, document] = [
        await preview('email\na@example.com\n'),
        await dryRun('/v2/affiliates/import', 'email\nb@example.com\n'),
        await api.get(`/v2/affiliates/${affiliate.id}/statement/download?format=pdf`),
      ];
      expect([looked.status, looked.body.report.created], looked.text).toEqual([200, 1]);
      expect([read.status, document.status]).toEqual([200, 200]);
      // one did them all
      expect(started).toHaveLength(1);
      const done = await until('the tasks to be counted', async () => {
        const tasks = series(await scrape(world), 'payhook_thread_tasks_total');
        return Object.keys(tasks).length === 3 ? tasks : null;
      });
      const counted = (task: string) => `payhook_thread_tasks_total{task="${task}",outcome="done"}`;
      expect(done).toEqual({
        [counted('planImport')]: 1,
        [counted('readImport')]: 2,
        [counted('makeStatement')]: 1,
      });
    } finally {
      process.off('worker', note);
    }
  });

  const BAD = rounds(10_000, 100_000);
  test(`answers others while it reads ${BAD} bad lines, and reports the first thousand`, async () => {
    const lines = Array.from({ length: BAD }, (_, index) => `nobody ${index},maybe\n`).join('');
    const importing = dryRun('/v2/affiliates/import', `email,is_ready_for_payout\n${lines}`);
    expect(await healthyDuring(importing)).toBeGreaterThan(10);
    const { status, body } = await importing;
    expect([status, body.failed, body.errors.length]).toEqual([200, BAD, 1000]);
    expect(body.errors[0].line).toBe(2);
  });

  test('reports the first thousand of the lines that the database rejects, and counts them all', async () => {
    const line = (index: number) => `c-${index},nobody@example.com,1.00\n`;
    const count = rounds(4000, 20_000);
    const lines = Array.from({ length: count }, (_, index) => line(index)).join('');
    const { status, body } = await dryRun(
      '/v2/affiliates/commissions/import',
      `external_id,affiliate_email,amount\n${lines}`,
    );
    expect([status, body.lines, body.failed, body.created], JSON.stringify(body).slice(0, 300)).toEqual([
      200,
      count,
      count,
      0,
    ]);
    expect(body.errors).toHaveLength(1000);
    expect(body.errors[999]).toEqual({
      line: 1001,
      message: 'affiliate_email belongs to no affiliate: "nobody@example.com"',
    });
  });

  test('refuses hostile files, many at once, and answers others meanwhile', async () => {
    const header = Array.from({ length: 200_000 }, (_, index) => `c${index}`).join();
    const blanks = `email,external_id\na@example.com,${' '.repeat(1 << 20)}\n`;
    const all = Promise.all(
      Array.from({ length: rounds(4, 40) }, (_, index) => preview(index % 2 ? `${header}\n1\n` : blanks)),
    );
    expect(await healthyDuring(all)).toBeGreaterThan(10);
    for (const answer of await all) {
      // at most half of the files that are read at once are of one account
      if (answer.status === 409) expectRefusal(answer, 409, 'too_many_uploads');
      else expectRefusal(answer, 400, 'invalid_file');
    }
  });
});
