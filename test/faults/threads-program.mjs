// Tasks for threads.test.ts: each is given what src/threads/serve.ts is given, and answers as it does.

/** Never returns. */
export const spin = () => {
  for (;;);
};

/** Takes memory without end. */
export const fill = () => {
  const all = [];
  for (;;) all.push(Array.from({ length: 10_000 }, (_, index) => ({ index })));
};

/** Answers what it was told when it asked. */
export const ask = ({ input, port }) =>
  new Promise((resolve) => {
    port.once('message', ({ answer }) => {
      port.close();
      resolve({ output: `${input} ${answer}` });
    });
    port.postMessage('question');
  });
