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

/** The refresh interval of a list or record on screen, in milliseconds. */
export const REFRESH_MS = 15_000;
/** The same for what is watched live: a log, a running recovery. */
const WATCH_MS = 3000;

/** The query cache. `call` itself waits for the server, so queries are not retried here. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: 2000, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
});

/** The number of completed writes of this page, so that their effects are shown at once. */
export const writes = createSignal(0);

/** The query of a read operation, for `useRead` or to load before a screen opens. */
export function read<Id extends OperationId>(id: Id, input: Input<Id>) {
  const { path, query, body } = input as Call;
  return queryOptions<Result<Id>, ApiError>({
    queryKey: [id, path ?? [], query ?? {}, body ?? null],
    queryFn: ({ signal }) => call(id, input, { signal }),
  });
}

/** Whether it is refetched while the tab is visible; more often when watched. */
export type Live = boolean | 'watched';

/** For `useQuery`, in milliseconds. */
export const refetchInterval = (isLive: Live): number | false =>
  isLive === 'watched' ? WATCH_MS : isLive ? REFRESH_MS : false;

export interface ReadOptions {
  readonly isLive?: Live;
  readonly isEnabled?: boolean;
  /** Shows the previous data while another page, order or filter loads. */
  readonly keepsPrevious?: boolean;
}

/** Reads by an operation and keeps the data fresh; `place` identifies the page, order and filters. */
export function useRead<Id extends OperationId>(id: Id, input: Input<Id>, options: ReadOptions = {}) {
  const { isLive = false, isEnabled = true, keepsPrevious = false } = options;
  const query = read(id, input);
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...query,
    enabled: isEnabled,
    refetchInterval: refetchInterval(isLive),
    ...(keepsPrevious ? { placeholderData: (previous: Result<Id> | undefined) => previous as never } : {}),
  });
  return { data, error, isPlaceholderData, refetch, place: hashKey(query.queryKey) };
}

/**
 * Writes by an operation. The same input keeps its idempotency key until there is a response, so that it is done once.
 * Displayed data is refetched afterwards.
 */
export function useWrite<Id extends OperationId>(id: Id) {
  const client = useQueryClient();
  const intention = useRef({ text: '', key: '' });
  return useMutation<Result<Id>, ApiError, Input<Id>>({
    mutationFn: async (input) => {
      const text = textOf(input as Call);
      if (intention.current.text !== text) intention.current = { text, key: crypto.randomUUID() };
      const forget = () => {
        intention.current = { text: '', key: '' };
      };
      try {
        const result = await call(id, input, { idempotencyKey: intention.current.key });
        forget();
        return result;
      } catch (error) {
        // a refusal changed nothing; after any other error the write may have been done
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

/** The input as text. A file is identified by its metadata, because it serialises to an empty JSON object. */
const textOf = ({ file, ...rest }: Call): string =>
  JSON.stringify({ ...rest, file: file && [file.name, file.size, file.lastModified] });
