// Tasks for threads.test.ts: each gets the arguments of src/threads/serve.ts, and answers as it does.

/** Never returns. */
export const spin = () => {
  for (;;);
};

/** Waits forever, which takes no processor time. */
export const sleep = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);

/** Allocates memory endlessly. */
export const fill = () => {
  const all = [];
  for (;;) all.push(Array.from({ length: 10_000 }, (_, index) => ({ index })));
};

/** Returns the answer to its own question. */
export const ask = ({ input, port }) =>
  new Promise((resolve) => {
    port.once('message', ({ answer }) => {
      port.close();
      resolve({ output: `${input} ${answer}` });
    });
    port.postMessage('question');
  });
