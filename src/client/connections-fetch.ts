import {
  type Chunks,
  type Connections,
  closed,
  silence,
  type Target,
  type WireRequest,
} from './connections.ts';

// Connections over `fetch`, for every runtime but Node.

/** Prepares connections; the runtime keeps them. Throws TypeError for an invalid URL or a unix socket. */
export function connectionsTo(target: Target): Connections {
  if (!('url' in target)) throw new TypeError('socketPath works in Node only');
  const base = new URL(target.url);
  const closing = new AbortController();
  return {
    base,
    get isClosed() {
      return closing.signal.aborted;
    },
    async exchange(request) {
      closing.signal.throwIfAborted();
      const watch = watchFor(request.timeoutMs);
      const given = request.signal ? [request.signal] : [];
      const signal = AbortSignal.any([closing.signal, watch.signal, ...given]);
      watch.start();
      try {
        const { status, headers, body } = await fetch(new URL(request.path, base.origin), {
          method: request.method,
          headers: request.headers,
          body: streamed(request.body, watch.start),
          // for a body that is streamed
          duplex: 'half',
          // the API sends no redirects, and another host must not get the credentials
          redirect: 'manual',
          signal,
        });
        return { status, header: (name) => headers.get(name), body: watched(body, watch) };
      } catch (error) {
        throw causeOf(error);
      } finally {
        watch.stop();
      }
    },
    close: () => closing.abort(closed()),
  };
}

/** The error of the network, which `fetch` of Node wraps. */
const causeOf = (error: unknown) => (error as Error).cause ?? error;

/** A timer that aborts a request when it has run for the given time without being started again. */
interface Watch {
  readonly signal: AbortSignal;
  readonly start: () => void;
  readonly stop: () => void;
}

function watchFor(ms: number): Watch {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => clearTimeout(timer);
  const start = () => {
    stop();
    timer = setTimeout(() => controller.abort(silence(ms)), ms);
  };
  return { signal: controller.signal, start, stop };
}

function streamed(body: WireRequest['body'], onChunk: () => void) {
  const isStreamed = typeof body === 'object' && body !== null && 'chunks' in body;
  return isStreamed ? streamOf(body, onChunk) : body;
}

function streamOf({ chunks }: Chunks, onChunk: () => void): ReadableStream<Uint8Array> {
  const source = chunks[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await source.next();
      onChunk();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await source.return?.();
    },
  });
}

/** A body of which each read may take as long as the server may be silent. */
function watched(body: ReadableStream<Uint8Array> | null, watch: Watch): ReadableStream<Uint8Array> {
  const reader = body?.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        watch.start();
        try {
          const { done, value } = (await reader?.read()) ?? { done: true };
          if (value === undefined || done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          controller.error(causeOf(error));
        } finally {
          watch.stop();
        }
      },
      cancel: (reason) => reader?.cancel(reason),
    },
    // read ahead nothing: a reader that pauses is not waiting for the server
    { highWaterMark: 0 },
  );
}
