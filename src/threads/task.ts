declare const types: unique symbol;

/**
 * A function that a thread runs, named as the thread program exports it. Inputs and outputs must be cloneable. While it
 * runs, it can ask its caller a `Question`, for example for rows of the database, which threads cannot reach.
 */
export interface Task<Input, Output, Question = never, Answer = never> {
  readonly name: string;
  /** What it does, as in `the server gave up …`. */
  readonly what: string;
  readonly [types]?: (input: Input, ask: Ask<Question, Answer>) => Promise<Output>;
}

export type Ask<Question, Answer> = (question: Question) => Promise<Answer>;

/** The function that performs a task. */
export type WorkOf<Some> =
  Some extends Task<infer Input, infer Output, infer Question, infer Answer>
    ? (input: Input, ask: Ask<Question, Answer>) => Promise<Output>
    : never;

/** Declares a task. */
export const taskOf = <Input, Output, Question = never, Answer = never>(
  name: string,
  what: string,
): Task<Input, Output, Question, Answer> => ({ name, what });
