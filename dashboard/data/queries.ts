import {
  hashKey,
  QueryClient,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useRef } from 'react';
import { ApiError } from '../../src/client/errors.ts';
import { type Call, call, type Input, type OperationId, type Result } from './api.ts';
import { createSignal } from './signal.ts';

/** How often a list or record that one looks at is asked for again, in milliseconds. */
export const REFRESH_MS = 15_000;
/** The same of what one watches: a log, a recovery on its way. */
const WATCH_MS = 3000;

/** The cache of what was read. `call` waits for the server by itself, so nothing here tries again. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: 2000, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
});

/** How many writes of this page were answered: what they changed is shown at once. */
export const writes = createSignal(0);

/** What is read by an operation: for `useRead`, or to load before a screen opens. */
export function read<Id extends OperationId>(id: Id, input: Input<Id>) {
  const { path, query, body } = input as Call;
  return queryOptions<Result<Id>, ApiError>({
    queryKey: [id, path ?? [], query ?? {}, body ?? null],
    queryFn: ({ signal }) => call(id, input, { signal }),
  });
}

interface ReadOptions {
  /** Asks again from time to time while the tab is seen; what one watches more often. */
  readonly isLive?: boolean | 'watched';
  readonly isEnabled?: boolean;
  /** Shows what was there while another page, order or filter comes. */
  readonly keepsPrevious?: boolean;
}

/** Reads by an operation, and follows it; `place` says what was asked, to know another page or filter by. */
export function useRead<Id extends OperationId>(id: Id, input: Input<Id>, options: ReadOptions = {}) {
  const { isLive = false, isEnabled = true, keepsPrevious = false } = options;
  const asked = read(id, input);
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...asked,
    enabled: isEnabled,
    refetchInterval: isLive === 'watched' ? WATCH_MS : isLive ? REFRESH_MS : false,
    ...(keepsPrevious ? { placeholderData: (previous: Result<Id> | undefined) => previous as never } : {}),
  });
  return { data, error, isPlaceholderData, refetch, place: hashKey(asked.queryKey) };
}

/**
 * Writes by an operation. The same input again has the same idempotency key until it was answered, so that it is done
 * once. What is shown is read anew afterwards.
 */
export function useWrite<Id extends OperationId>(id: Id) {
  const client = useQueryClient();
  const intention = useRef({ text: '', key: '' });
  return useMutation<Result<Id>, ApiError, Input<Id>>({
    mutationFn: async (input) => {
      const text = JSON.stringify(input, nameFile);
      if (intention.current.text !== text) intention.current = { text, key: crypto.randomUUID() };
      const forget = () => {
        intention.current = { text: '', key: '' };
      };
      try {
        const result = await call(id, input, { idempotencyKey: intention.current.key });
        forget();
        return result;
      } catch (error) {
        // a refusal changed nothing; after anything else it may have been done
        if (error instanceof ApiError && error.status < 500) forget();
        throw error;
      }
    },
    onSettled: () => {
      writes.set(writes.get() + 1);
      void client.invalidateQueries();
    },
  });
}

/** A file is told apart by what the browser knows of it: nothing of it is in JSON. */
const nameFile = (_: string, value: unknown): unknown =>
  value instanceof File ? [value.name, value.size, value.lastModified] : value;
