declare const types: unique symbol;

/**
 * Something that a thread does, by the name under which the program of threads exports it. In and out go values that can be
 * cloned. While it runs, it can ask whoever started it a `Question`, for example for rows of the database, which threads do
 * not reach.
 */
export interface Task<Input, Output, Question = never, Answer = never> {
  readonly name: string;
  /** What it does, for a message: it completes `the server gave up …`. */
  readonly what: string;
  readonly [types]?: (input: Input, ask: Ask<Question, Answer>) => Promise<Output>;
}

export type Ask<Question, Answer> = (question: Question) => Promise<Answer>;

/** The function that does a task. */
export type WorkOf<Some> =
  Some extends Task<infer Input, infer Output, infer Question, infer Answer>
    ? (input: Input, ask: Ask<Question, Answer>) => Promise<Output>
    : never;

/** Declares a task. */
export const taskOf = <Input, Output, Question = never, Answer = never>(
  name: string,
  what: string,
): Task<Input, Output, Question, Answer> => ({ name, what });
