import { useSyncExternalStore } from 'react';

/** A value outside the component tree that components can subscribe to. */
export interface Signal<Value> {
  get(): Value;
  set(value: Value): void;
  /** Subscribes to changes; returns a function that unsubscribes. */
  listen(listener: () => void): () => void;
  /** Resolves once the value is `wanted`; rejects when `abort` aborts. */
  until(wanted: Value, abort?: AbortSignal): Promise<void>;
  /** A hook: the current value; re-renders on changes. */
  use(): Value;
}

/** A signal with an initial value. */
export function createSignal<Value>(first: Value): Signal<Value> {
  let value = first;
  const listeners = new Set<() => void>();
  const listen = (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const get = () => value;
  return {
    get,
    listen,
    set(next) {
      value = next;
      for (const listener of [...listeners]) listener();
    },
    until: (wanted, abort) =>
      new Promise((resolve, reject) => {
        const end = () => {
          stop();
          abort?.removeEventListener('abort', giveUp);
        };
        const giveUp = () => {
          end();
          reject(abort?.reason);
        };
        const stop = listen(() => {
          if (value !== wanted) return;
          end();
          resolve();
        });
        abort?.addEventListener('abort', giveUp);
      }),
    use: () => useSyncExternalStore(listen, get, get),
  };
}
