import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { Failure, fail } from '../kernel/errors.ts';
import type { AccountId } from '../kernel/ids.ts';
import type { Result } from './serve.ts';
import type { Task } from './task.ts';
import { turnsOf } from './turns.ts';

/** How a thread runs a task for an account. */
export interface Work<Question, Answer> {
  readonly account: AccountId;
  /** Answers the task's questions one at a time. If it throws, the task ends, and `run` throws the same. */
  answer?(question: Question): Promise<Answer>;
}

/** Threads for work that takes processor time, such as reading files and making documents. */
export interface Threads {
  /**
   * Runs a task in a thread. Throws what the task throws, or `too_much_work` if the thread was ended because it ran out
   * of memory or was silent for too long. `inTurn` waits for the account's turn: for tasks that nothing else limits.
   */
  run<Input, Output, Question, Answer>(
    task: Task<Input, Output, Question, Answer>,
    input: Input,
    work: Work<Question, Answer> & { readonly inTurn?: true },
  ): Promise<Output>;
  /** The number of threads. */
  count(): number;
  /** Ends all threads, even working ones. */
  close(): Promise<void>;
}

interface ThreadOptions {
  /** The path of the program that exports the tasks. */
  readonly program: string;
  /** The maximum number of files read at once, each by a thread. */
  readonly files: number;
  /** How a task ended: done, refused by the task, or ended by the pool. */
  onTask(task: string, outcome: 'done' | 'refused' | 'ended'): void;
  onEnded(task: string, why: string): void;
  /** Megabytes of values that a thread may hold; default 512. */
  readonly memory?: number;
  /** How long a task may work without asking a question, in milliseconds; default 2 minutes. */
  readonly silenceMs?: number;
}

/** The maximum number of documents made at once. */
const DOCUMENTS = 2;
const MEMORY_MB = 512;
const SILENCE_MS = 120_000;
/** An idle thread is ended after this time. */
const IDLE_MS = 30_000;
/** The event loop has priority over threads. */
const NICE = 5;

/** Creates the threads of a server. Threads start, and their package loads, on first use. */
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
    // for a thread that ends while idle; without a listener the error would end the process
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
        if ('output' in result) throw new Error('the task continued without an answer');
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
  /** The thread begins to work. */
  begin(): void;
  /** The thread waits for an answer. */
  pause(): void;
  end(): void;
}

/** Aborts its signal if a thread is silent for too long. */
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

/** Answers a thread's questions. Returns a function that gives the first error. */
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
