/** Waits for an account's turn. Resolves to a function that ends it. */
export type Turns = (account: string) => Promise<() => void>;

/**
 * Gives out turns: up to `most` at once, and at most half of them to one account. Waiting accounts alternate, so one with
 * hundreds of tasks delays another by one turn.
 */
export function turnsOf(most: number): Turns {
  const mostOfOne = Math.ceil(most / 2);
  const running = new Map<string, number>();
  /** Waiting tasks by account; the account that was served last is last. */
  const waiting = new Map<string, (() => void)[]>();
  let all = 0;

  function begin(): void {
    for (const [account, queue] of waiting) {
      if (all >= most) return;
      const own = running.get(account) ?? 0;
      if (own >= mostOfOne) continue;
      waiting.delete(account);
      const [first, ...rest] = queue;
      if (rest.length > 0) waiting.set(account, rest);
      all += 1;
      running.set(account, own + 1);
      first?.();
    }
  }

  function end(account: string): void {
    all -= 1;
    const left = (running.get(account) ?? 1) - 1;
    if (left > 0) running.set(account, left);
    else running.delete(account);
    begin();
  }

  return async (account) => {
    await new Promise<void>((resolve) => {
      waiting.set(account, [...(waiting.get(account) ?? []), resolve]);
      begin();
    });
    return () => end(account);
  };
}
