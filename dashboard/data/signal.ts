import { useSyncExternalStore } from 'react';

/** A value outside of the tree that parts of it follow. */
export interface Signal<Value> {
  get(): Value;
  set(value: Value): void;
  /** Calls back at every change; returns what ends it. */
  listen(listener: () => void): () => void;
  /** Resolves once the value is this one; rejects when the signal aborts. */
  until(wanted: Value, abort?: AbortSignal): Promise<void>;
  /** A hook: the value, followed. */
  use(): Value;
}

/** A signal that begins with a value. */
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
