import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { Failure, fail } from '../kernel/errors.ts';
import type { AccountId } from '../kernel/ids.ts';
import type { Result } from './serve.ts';
import type { Task } from './task.ts';
import { turnsOf } from './turns.ts';

/** For whom a thread works, and how. */
export interface Work<Question, Answer> {
  readonly account: AccountId;
  /** Answers what the task asks, one question after the other. If it throws, the task ends, and with it `run`. */
  answer?(question: Question): Promise<Answer>;
}

/** Threads beside the event loop, for what takes processor time: reading files and making documents. */
export interface Threads {
  /**
   * Runs a task in a thread. Throws what the task throws; `too_much_work` when the thread ran out of memory or said nothing
   * for too long, and was ended. `inTurn` waits until the account may: for tasks that nothing else limits.
   */
  run<Input, Output, Question, Answer>(
    task: Task<Input, Output, Question, Answer>,
    input: Input,
    work: Work<Question, Answer> & { readonly inTurn?: true },
  ): Promise<Output>;
  /** How many there are. */
  count(): number;
  /** Ends them, whatever they do. */
  close(): Promise<void>;
}

interface ThreadOptions {
  /** The path of the program that exports the tasks. */
  readonly program: string;
  /** How many files are read at once at most: each has a thread. */
  readonly files: number;
  /** How a task ended: the thread did it, refused to, or was ended. */
  onTask(task: string, outcome: 'done' | 'refused' | 'ended'): void;
  onEnded(task: string, why: string): void;
  /** Megabytes of values that a thread may hold; default 512. */
  readonly memory?: number;
  /** How long a task may work without a question, in milliseconds; default 2 minutes. */
  readonly silenceMs?: number;
}

/** Documents that are made at once. */
const DOCUMENTS = 2;
const MEMORY_MB = 512;
const SILENCE_MS = 120_000;
/** A thread without work is ended after this. */
const IDLE_MS = 30_000;
/** The event loop goes first: what a thread has to do can wait. */
const NICE = 5;

/** The threads of a server. None is started before it is needed, nor is the package loaded that keeps them. */
export function createThreads(options: ThreadOptions): Threads {
  const { memory = MEMORY_MB, silenceMs = SILENCE_MS } = options;
  const documents = turnsOf(DOCUMENTS);
  let pool: Promise<Piscina> | undefined;
  let running: Piscina | undefined;

  async function start(): Promise<Piscina> {
    const { Piscina } = await import('piscina');
    const started = new Piscina({
      filename: options.program,
      minThreads: 0,
      maxThreads: options.files + DOCUMENTS,
      idleTimeout: IDLE_MS,
      resourceLimits: { maxOldGenerationSizeMb: memory },
      niceIncrement: NICE,
      recordTiming: false,
    });
    // of a thread that ends while nobody waits for it; without a listener it would end the process
    started.on('error', (error: Error) => options.onEnded('', error.message));
    running = started;
    return started;
  }

  return {
    async run(task, input, { account, answer, inTurn }) {
      const leave = inTurn ? await documents(account) : undefined;
      const { port1: here, port2: there } = new MessageChannel();
      const watch = watchOf(silenceMs);
      const refusal = answering(here, answer, watch);
      try {
        pool ??= start();
        const result: Result<never> = await (await pool).run(
          { input, port: there },
          { name: task.name, transferList: [there], signal: watch.signal },
        );
        if (refusal() === null && 'output' in result) {
          options.onTask(task.name, 'done');
          return result.output;
        }
        if ('output' in result) throw new Error('a task went on without an answer');
        const { reason, message, headers } = result.failure;
        throw fail(reason, message, headers);
      } catch (error) {
        const thrown = refusal();
        const why = watch.signal.aborted ? `${silenceMs / 1000} seconds` : memoryIn(error, memory);
        const isEnded = thrown === null && why !== null && !(error instanceof Failure);
        options.onTask(task.name, isEnded ? 'ended' : 'refused');
        if (thrown !== null) throw thrown.error;
        if (!isEnded) throw error;
        options.onEnded(task.name, why);
        throw fail(
          'too_much_work',
          `the server gave up ${task.what}: it took more than ${why}. Split it or choose less`,
        );
      } finally {
        watch.end();
        here.close();
        leave?.();
      }
    },
    count: () => running?.threads.length ?? 0,
    async close() {
      await (await pool)?.close({ force: true });
    },
  };
}

const memoryIn = (error: unknown, memory: number): string | null =>
  (error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY' ? `${memory} MiB of memory` : null;

interface Watch {
  readonly signal: AbortSignal;
  /** The thread works. */
  begin(): void;
  /** It waits for us. */
  pause(): void;
  end(): void;
}

/** Aborts its signal when a thread works for too long without a word. */
function watchOf(silenceMs: number): Watch {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const pause = () => clearTimeout(timer);
  const begin = () => {
    pause();
    timer = setTimeout(() => controller.abort(), silenceMs);
  };
  begin();
  return { signal: controller.signal, begin, pause, end: pause };
}

/** Answers the questions of a thread; returns what tells how that failed first. */
function answering<Question, Answer>(
  port: MessagePort,
  answer: ((question: Question) => Promise<Answer>) | undefined,
  watch: Watch,
): () => { readonly error: unknown } | null {
  let thrown: { readonly error: unknown } | null = null;
  port.on('message', async (question: Question) => {
    watch.pause();
    try {
      port.postMessage({ answer: await answer?.(question) });
    } catch (error) {
      thrown ??= { error };
      port.postMessage({});
    }
    watch.begin();
  });
  return () => thrown;
}
