/** Runs `work` once it is its owner's turn; resolves and rejects as `work` does. */
export type InTurn = <Result>(owner: string, work: () => Promise<Result>) => Promise<Result>;

/** Creates what runs work of many owners: `atOnce` at a time, one of an owner at a time, and the owners in turn. */
export function turnsOfOwners(atOnce: number): InTurn {
  const waiting = new Map<string, (() => Promise<void>)[]>();
  const running = new Set<string>();

  function begin(): void {
    for (const [owner, works] of waiting) {
      if (running.size === atOnce) return;
      if (running.has(owner)) continue;
      const work = works.shift();
      if (works.length === 0) waiting.delete(owner);
      if (work === undefined) continue;
      running.add(owner);
      void work().finally(() => {
        running.delete(owner);
        // whoever was served goes behind the others
        const more = waiting.get(owner);
        if (more && waiting.delete(owner)) waiting.set(owner, more);
        begin();
      });
    }
  }

  return (owner, work) =>
    new Promise((resolve, reject) => {
      const works = waiting.get(owner) ?? [];
      works.push(() => work().then(resolve, reject));
      waiting.set(owner, works);
      begin();
    });
}
