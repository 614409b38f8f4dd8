import type { ServerResponse } from 'node:http';
import { pino } from 'pino';
import { afterAll, afterEach, describe, expect, inject, test } from 'vitest';
import { openPlatform } from '../../src/app/platform.ts';
import { work } from '../../src/app/serve.ts';
import { readConfig } from '../../src/kernel/config.ts';
import { isLong, longRun, rounds } from '../support/depth.ts';
import { statementsThat } from '../support/held.ts';
import { type LatencyProxy, latencyProxy } from '../support/latency.ts';
import { TEST_PATIENCE_MS } from '../support/patience.ts';
import { isRunning } from '../support/processes.ts';
import { type Received, type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/wire.ts';
import { type DataFolder, dataFolder, type ServerProcess, type WorkerProcess } from './support-server.ts';
import { sharedDatabase } from './support-shared.ts';

/** The shortest possible lease: attempts are shorter here than half of it. */
const LEASE_MS = 4000;
const settings = {
  DELIVERY_TIMEOUT_MS: '1500',
  DELIVERY_SCHEDULE: ['0s', ...Array(20).fill('1s')].join(' '),
  DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
};
const ROUNDS = rounds(1, 8);
const KINDS = ['plain', 'ordered', 'batching'] as const;
type Kind = (typeof KINDS)[number];
const FIELDS: Record<Kind, object> = {
  plain: {},
  ordered: { ordered: true },
  batching: { batch: { max_events: 2, max_wait_ms: 50 } },
};

type Cleanups = (() => Promise<unknown>)[];
const cleanUp = async (all: Cleanups) => {
  for (const cleanup of all.splice(0).reverse()) await cleanup();
};
const cleanups: Cleanups = [];
afterEach(() => cleanUp(cleanups));

/** What a receiver recorded. */
interface Seen {
  /** The numbers of the events of each request. */
  readonly requests: (readonly number[])[];
  /** The most requests open at the same time. */
  most: number;
}

/** A database that processes reach directly or through a proxy, with an endpoint of each kind. */
interface Scene {
  readonly folder: DataFolder;
  readonly proxy: LatencyProxy;
  /** The address of the database behind the proxy. */
  readonly through: { readonly DATABASE_URL: string };
  readonly seen: Readonly<Record<Kind, Seen>>;
  /** Called with each request before it is answered. */
  onRequest: ((kind: Kind) => void) | undefined;
  /** Requests that arrive from now on must have been signed from now on. */
  noteResumed(): void;
  /** Starts a worker that does not stall, inside the test process: that takes a tenth of the processor time of a process. */
  startOther(): Promise<{ close(): Promise<void> }>;
  /** Events with one ordering key, one after the other; returns when PostgreSQL has them. */
  publish(server: ServerProcess, count: number): Promise<void>;
  /** How many events were published. */
  published(): number;
  untilNothingWaits(): Promise<void>;
  /** The same, or a stalled process has rows locked since before its leases expired. */
  untilLeasesExpired(): Promise<void>;
  /** Waits until earlier leases have expired. */
  untilLeasesEnd(): Promise<void>;
  /** Proves the guarantees that hold whenever a process stalled. */
  expectOrder(): Promise<void>;
}

async function openScene(more: Readonly<Record<string, string>> = {}): Promise<Scene> {
  const { host, port } = inject('postgres');
  const proxy = await latencyProxy({ host, port }, 0);
  cleanups.push(() => proxy.close());
  const database = await sharedDatabase();
  cleanups.push(() => database.drop());
  const through = new URL(database.url);
  const folder = dataFolder({ settings: { ...settings, ...more }, database });
  cleanups.push(() => folder.remove());
  const seen = {} as Record<Kind, Seen>;
  let resumedAt = 0;
  const late: string[] = [];
  let published = 0;

  const note = (kind: Kind, { headers, body }: Received, response: ServerResponse): void => {
    const { requests } = seen[kind];
    const events = [JSON.parse(body)].flat() as { data: { number: number } }[];
    requests.push(events.map(({ data }) => data.number));
    // whole seconds: the fraction is cut off
    if (Number(headers['webhook-timestamp']) < Math.floor(resumedAt / 1000)) late.push(`${kind}: ${body}`);
    open[kind] += 1;
    seen[kind].most = Math.max(seen[kind].most, open[kind]);
    response.once('close', () => {
      open[kind] -= 1;
    });
  };
  const open: Record<Kind, number> = { plain: 0, ordered: 0, batching: 0 };
  const receivers = new Map<Kind, Receiver>();
  for (const kind of KINDS) {
    const receiver = await startReceiver();
    cleanups.push(() => receiver.close());
    receivers.set(kind, receiver);
    seen[kind] = { requests: [], most: 0 };
    receiver.respond((request, response) => {
      note(kind, request, response);
      scene.onRequest?.(kind);
      setTimeout(() => response.end(), 20);
    });
  }

  const clock = async () =>
    (await folder.query<{ now: Date }>('select clock_timestamp() as now'))[0]?.now.getTime() ?? 0;
  const scene: Scene = {
    folder,
    proxy,
    through: {
      DATABASE_URL: `postgres://${through.username}:${through.password}@127.0.0.1:${proxy.port}${through.pathname}`,
    },
    seen,
    onRequest: undefined,
    noteResumed() {
      resumedAt = Date.now();
    },
    async startOther() {
      const all = { DATA_DIR: folder.path, DATABASE_URL: database.url, SECRET_KEY: database.secretKey };
      const config = readConfig({ ...all, ...settings, ...more });
      const platform = await openPlatform(config, { purpose: 'command', log: pino({ level: 'silent' }) });
      const working = work(platform);
      let isOpen = true;
      const close = async () => {
        if (!isOpen) return;
        isOpen = false;
        await working.close();
        await platform.close();
      };
      cleanups.push(close);
      return { close };
    },
    async publish({ api }, count) {
      if (published === 0) {
        for (const kind of KINDS) {
          const fields = { url: receivers.get(kind)?.url, event_types: ['order.*'], ...FIELDS[kind] };
          const made = await api.post('/v2/webhook-endpoints', fields);
          expect(made.status, made.text).toBe(201);
        }
      }
      for (const _ of Array(count)) {
        published += 1;
        const event = { type: 'order.created', data: { number: published }, ordering_key: 'k' };
        const { status, text } = await api.post('/v2/events', event);
        expect(status, text).toBe(201);
      }
    },
    published: () => published,
    async untilNothingWaits() {
      await until('nothing waits', async () => (await folder.query('select from queue')).length === 0);
    },
    async untilLeasesExpired() {
      const stalled = `state = 'idle in transaction' and xact_start < now() - interval '${LEASE_MS} ms'`;
      await until('nothing can go', async () => {
        const waiting = await folder.query('select from queue limit 1');
        return waiting.length === 0 || (await statementsThat(folder, stalled)).length > 0;
      });
    },
    async untilLeasesEnd() {
      const end = (await clock()) + LEASE_MS;
      await until('the leases are over', async () => (await clock()) > end);
    },
    async expectOrder() {
      const { requests, most } = seen.ordered;
      expect(requests.flat(), 'no event arrives after a later one of its key').toEqual(
        requests.flat().toSorted((one, other) => one - other),
      );
      expect(most, 'requests of one key at the same time').toBe(1);
      expect(late, 'signed before the process stalled, sent after it').toEqual([]);
      const logged = await folder.query<{ sum: number }>(
        'select sum(attempt_count)::int as sum from deliveries group by endpoint_id',
      );
      const sent = KINDS.map((kind) => seen[kind].requests.flat().length);
      const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0);
      expect(sum(sent), 'each request is in the log').toBeLessThanOrEqual(sum(logged.map((row) => row.sum)));
      for (const kind of KINDS) {
        expect(new Set(seen[kind].requests.flat()).size, kind).toBe(published);
      }
      expect(await folder.query(`select from deliveries where status <> 'delivered'`)).toEqual([]);
    },
  };
  return scene;
}

/** Stops a process when this happens first; `stopped` resolves then. */
function stopping(pid: number) {
  let isStopped = false;
  return {
    stop(): void {
      if (isStopped) return;
      isStopped = true;
      process.kill(pid, 'SIGSTOP');
    },
    stopped: () => until(`process ${pid} is stopped`, () => isStopped),
    resume(): void {
      process.kill(pid, 'SIGCONT');
    },
  };
}

/** Calls `stop` at a message to PostgreSQL: at that statement, or at the commit of its transaction. */
function atStatement(proxy: LatencyProxy, name: string, isCommit: boolean, stop: () => void): void {
  let connection: object | undefined;
  proxy.before = (message, from) => {
    if (message.includes(`${name}\0`)) {
      connection = from;
      if (!isCommit) stop();
    }
    if (isCommit && connection === from && message.includes('commit')) stop();
    return undefined;
  };
}

interface Step {
  readonly when: string;
  /** A statement; null = a request is at the ordered endpoint. */
  readonly statement: string | null;
  readonly isCommit: boolean;
  /** Another worker can continue meanwhile: no row is locked. */
  readonly isFree: boolean;
  /** What was not sent by then arrives exactly once. */
  readonly unsent: readonly Kind[];
}
const STEPS: readonly Step[] = [
  { when: 'a claim was committed', statement: 'claim', isCommit: true, isFree: true, unsent: KINDS },
  { when: 'a claim was sent', statement: 'claim', isCommit: false, isFree: false, unsent: KINDS },
  {
    when: 'batches were leased',
    statement: 'lease_batches',
    isCommit: true,
    isFree: true,
    unsent: ['batching'],
  },
  {
    when: 'batches are leased',
    statement: 'lease_batches',
    isCommit: false,
    isFree: false,
    unsent: ['batching'],
  },
  { when: 'results are written', statement: 'settle', isCommit: false, isFree: false, unsent: [] },
  { when: 'a request has arrived', statement: null, isCommit: false, isFree: true, unsent: [] },
  { when: 'results were committed', statement: 'let_next_go', isCommit: true, isFree: true, unsent: [] },
];

describe('a worker that stalls longer than its lease', () => {
  describe('when', () => {
    // the same worker stalls at each step, until a test fails
    let running: { scene: Scene; server: ServerProcess; worker: WorkerProcess; ends: Cleanups } | undefined;
    const start = async () => {
      const scene = await openScene();
      const server = await scene.folder.start({ DELIVERY_WORKER: 'off' });
      const worker = await scene.folder.startWorker(scene.through);
      return { scene, server, worker, ends: cleanups.splice(0) };
    };
    afterEach(async ({ task }) => {
      if (task.result?.state === 'pass') return;
      await cleanUp(running?.ends ?? []);
      running = undefined;
    });
    afterAll(async () => {
      if (running === undefined) return;
      const { worker, server, ends } = running;
      const exits = [await worker.signal('SIGTERM'), await server.signal('SIGTERM')];
      await cleanUp(ends);
      expect(exits.map(({ code }) => code)).toEqual([0, 0]);
    });

    // a short run stalls it before a request is sent, and after its answer
    const inShortRun = STEPS.filter(({ when }) => /^(a claim was committed|results are written)$/.test(when));
    for (const { when, statement, isCommit, isFree, unsent } of isLong ? STEPS : inShortRun) {
      test(`${when} sends nothing late and breaks no order`, { timeout: TEST_PATIENCE_MS }, async () => {
        running ??= await start();
        const { scene, server, worker } = running;
        const { proxy } = scene;
        const before = scene.published();
        for (let round = 0; round < ROUNDS; round++) {
          const { stop, stopped, resume } = stopping(worker.pid);
          if (statement === null) scene.onRequest = (kind) => kind === 'ordered' && stop();
          else atStatement(proxy, statement, isCommit, stop);
          await scene.publish(server, 3);
          await stopped();
          scene.onRequest = undefined;
          proxy.before = undefined;
          const other = await scene.startOther();
          await scene.untilLeasesEnd();
          if (isFree) await scene.untilLeasesExpired();
          // it takes nothing more; its end may wait for what the stalled one has locked
          const closed = other.close();
          scene.noteResumed();
          resume();
          await closed;
          await scene.publish(server, 1);
          await scene.untilNothingWaits();
          await scene.expectOrder();
        }
        for (const kind of unsent) {
          const numbers = scene.seen[kind].requests.flat().filter((number) => number > before);
          expect(
            numbers.toSorted((one, other) => one - other),
            kind,
          ).toEqual([...new Set(numbers)].sort((one, other) => one - other));
        }
      });
    }

    test('PostgreSQL commits a claim late sends each event once, after it was claimed again', {
      timeout: TEST_PATIENCE_MS,
    }, async () => {
      running ??= await start();
      const { scene, server } = running;
      const { folder, proxy, seen } = scene;
      const published = scene.published();
      const requests = seen.ordered.requests.length;
      const backends: number[] = [];
      let isClaiming = false;
      proxy.before = async (message) => {
        if (message.includes('claim\0')) isClaiming = true;
        if (!isClaiming || backends.length > 0 || !message.includes('commit')) return undefined;
        const [backend] = await folder.query<{ pid: number }>(
          `select pid from pg_stat_activity
           where datname = current_database() and state = 'idle in transaction' and query like '%lease_token(%'`,
        );
        if (!backend) return undefined;
        process.kill(backend.pid, 'SIGSTOP');
        backends.push(backend.pid);
        return undefined;
      };
      const resume = () => {
        for (const pid of backends) if (isRunning(pid)) process.kill(pid, 'SIGCONT');
      };
      cleanups.push(async () => resume());
      await scene.publish(server, 3);
      await until('the backend is stopped', () => backends.length > 0);
      proxy.before = undefined;
      await scene.untilLeasesEnd();
      expect(seen.ordered.requests).toHaveLength(requests);
      scene.noteResumed();
      resume();
      await scene.untilNothingWaits();
      await scene.expectOrder();
      for (const kind of KINDS) {
        const late = seen[kind].requests.flat().filter((number) => number > published);
        expect(late, kind).toHaveLength(3);
      }
    });
  });

  test('and loses its connection is treated as dead, and starts again under another number', {
    timeout: TEST_PATIENCE_MS,
  }, async () => {
    // leases of two minutes
    const scene = await openScene({ DELIVERY_TIMEOUT_MS: '60000' });
    const { folder, proxy } = scene;
    const server = await folder.start({ DELIVERY_WORKER: 'off' });
    const worker = await folder.startWorker(scene.through);
    const { stop, stopped, resume } = stopping(worker.pid);
    atStatement(proxy, 'claim', true, stop);
    await scene.publish(server, 3);
    await stopped();
    proxy.before = undefined;
    const numbers = () => folder.query<{ number: number }>('select number from workers');
    const [before] = await numbers();
    await folder.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'payhook listener'`,
    );
    const other = await scene.startOther();
    await scene.untilNothingWaits();
    const closed = other.close();
    resume();
    await closed;
    await scene.publish(server, 1);
    await scene.untilNothingWaits();
    await scene.expectOrder();
    for (const kind of KINDS) expect(scene.seen[kind].requests.flat(), kind).toHaveLength(4);
    const [after] = await numbers();
    expect(after?.number).toEqual(expect.any(Number));
    expect(after?.number).not.toBe(before?.number);
    expect(worker.log()).toContain('this worker was considered dead');
  });
});

longRun.test(
  'a server that stalls while it publishes sends nothing late of what it leased to itself',
  {
    timeout: TEST_PATIENCE_MS,
  },
  async () => {
    const scene = await openScene();
    const { folder, proxy } = scene;
    const publisher = await folder.start({ DELIVERY_WORKER: 'off' });
    // one process, because a parent that stalls stops none of those that publish for it
    const server = await folder.start({ ...scene.through, PROCESSES: '1' });
    for (let round = 0; round < ROUNDS; round++) {
      const { stop, stopped, resume } = stopping(server.pid);
      // before, it holds the key, and others who publish under it wait
      atStatement(proxy, 'publish_and_lease_by_key', true, stop);
      const stalled = stopped();
      let publishing = scene.publish(server, 1);
      const isAnswered = () => Promise.race([publishing.then(() => true), stalled.then(() => false)]);
      // only the only worker leases to itself, and only if it has looked since the last event
      while (await isAnswered()) {
        await scene.untilNothingWaits();
        publishing = scene.publish(server, 1);
      }
      proxy.before = undefined;
      const other = await scene.startOther();
      await scene.publish(publisher, 2);
      await scene.untilLeasesEnd();
      await scene.untilNothingWaits();
      const closed = other.close();
      scene.noteResumed();
      resume();
      await closed;
      await publishing;
      await scene.publish(publisher, 1);
      await scene.untilNothingWaits();
      await scene.expectOrder();
    }
    for (const kind of KINDS) {
      const numbers = scene.seen[kind].requests.flat();
      expect(numbers.length, kind).toBe(new Set(numbers).size);
    }
  },
);

longRun.test(
  'a server that stalls with a key locked holds up those who publish under it for a minute at most',
  async () => {
    const scene = await openScene();
    const publisher = await scene.folder.start({ DELIVERY_WORKER: 'off' });
    await scene.publish(publisher, 1);
    const server = await scene.folder.start({ ...scene.through, DELIVERY_WORKER: 'off', PROCESSES: '1' });
    const { stop, stopped, resume } = stopping(server.pid);
    atStatement(scene.proxy, 'by_key', false, stop);
    const event = { type: 'order.created', data: { number: 0 }, ordering_key: 'k' };
    const stalled = server.api.post('/v2/events', event);
    await stopped();
    scene.proxy.before = undefined;
    await scene.publish(publisher, 1);
    resume();
    const { status, text } = await stalled;
    expect(status, text).toBe(503);
  },
);
