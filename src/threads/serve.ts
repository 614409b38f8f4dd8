import type { MessagePort } from 'node:worker_threads';
import { Failure, type ReasonName } from '../kernel/errors.ts';
import type { Ask, Task } from './task.ts';

/** What a thread is given. */
interface Call<Input> {
  readonly input: Input;
  /** Where questions are answered. */
  readonly port: MessagePort;
}

/** What a thread gives back. An error of ours would lose its reason on the way. */
export type Result<Output> =
  | { readonly output: Output }
  | {
      readonly failure: {
        readonly reason: ReasonName;
        readonly message: string;
        readonly headers: Record<string, string>;
      };
    };

/** What the program of threads exports under the name of a task. `load` gets the code when it is first needed. */
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

/** Asks one question after the other. */
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
    const asked = before.then(() => ask(question));
    before = asked.catch(() => undefined);
    return asked;
  };
}
