import type { MessagePort } from 'node:worker_threads';
import { Failure, type ReasonName } from '../kernel/errors.ts';
import type { Ask, Task } from './task.ts';

/** The input of a thread. */
interface Call<Input> {
  readonly input: Input;
  /** Where questions are asked. */
  readonly port: MessagePort;
}

/** The output of a thread. One of our errors would lose its reason if it were thrown. */
export type Result<Output> =
  | { readonly output: Output }
  | {
      readonly failure: {
        readonly reason: ReasonName;
        readonly message: string;
        readonly headers: Record<string, string>;
      };
    };

/** Wraps a task's function for export by the thread program. `load` imports the code on first use. */
export function served<Input, Output, Question, Answer>(
  _task: Task<Input, Output, Question, Answer>,
  load: () => Promise<(input: Input, ask: Ask<Question, Answer>) => Promise<Output>>,
): (call: Call<Input>) => Promise<Result<Output>> {
  return async ({ input, port }) => {
    try {
      const work = await load();
      return { output: await work(input, asking(port)) };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const { reason, message, headers } = error;
      return { failure: { reason, message, headers: { ...headers } } };
    } finally {
      port.close();
    }
  };
}

/** Asks one question at a time. */
function asking<Question, Answer>(port: MessagePort): Ask<Question, Answer> {
  let before: Promise<unknown> = Promise.resolve();
  const ask = (question: Question) =>
    new Promise<Answer>((resolve, reject) => {
      port.once('message', (reply: { readonly answer?: Answer }) => {
        if ('answer' in reply) resolve(reply.answer as Answer);
        else reject(new Error('the question could not be answered'));
      });
      port.postMessage(question);
    });
  return (question) => {
    const answer = before.then(() => ask(question));
    before = answer.catch(() => undefined);
    return answer;
  };
}
