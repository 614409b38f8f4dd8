import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ApiError } from '../../src/client/errors.ts';
import { call, type Input, type OperationId } from './api.ts';
import { writes } from './queries.ts';

/**
 * Runs a write operation many times, one after another, each for a key such as the id of a record. Finished writes are
 * not repeated: a second `run` sends the rest, and writes without a response keep their idempotency key. Displayed data
 * is refetched at the end. Unmounting stops it after the current write.
 */
export function useEach<Id extends OperationId>(id: Id) {
  const client = useQueryClient();
  const intentions = useRef(new Map<string, string>());
  const isGone = useRef(false);
  const [isBusy, setBusy] = useState(false);
  const [done, setDone] = useState<ReadonlySet<string>>(new Set());
  const [refused, setRefused] = useState<ReadonlyMap<string, Error>>(new Map());
  useEffect(
    () => () => {
      isGone.current = true;
    },
    [],
  );

  /** Resolves to whether all succeeded. */
  async function run(inputs: ReadonlyMap<string, Input<Id>>): Promise<boolean> {
    const [did, failed] = [new Set(done), new Map<string, Error>()];
    setBusy(true);
    setRefused(failed);
    for (const [key, input] of inputs) {
      if (did.has(key) || isGone.current) continue;
      const idempotencyKey = intentions.current.get(key) ?? crypto.randomUUID();
      intentions.current.set(key, idempotencyKey);
      try {
        await call(id, input, { idempotencyKey });
        did.add(key);
        setDone(new Set(did));
      } catch (error) {
        // a refusal changed nothing, and a retry may succeed
        if (error instanceof ApiError && error.status < 500) intentions.current.delete(key);
        failed.set(key, error instanceof Error ? error : new Error(String(error)));
      }
    }
    setRefused(failed);
    setBusy(false);
    writes.set(writes.get() + 1);
    void client.invalidateQueries();
    return failed.size === 0 && !isGone.current;
  }
  return { run, isBusy, done, refused };
}
