/** Waits for a turn of an account; resolves to what ends it. */
export type Turns = (account: string) => Promise<() => void>;

/**
 * Gives turns, `most` at once and at most half of them to one account. Accounts that wait take turns, so that one with hundreds
 * waiting delays the next of another by one turn.
 */
export function turnsOf(most: number): Turns {
  const mostOfOne = Math.ceil(most / 2);
  const running = new Map<string, number>();
  /** Who waits, by account; whose turn was last stands last. */
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
