import { createSignal } from './signal.ts';

/** The file that is being sent, and the bytes sent so far; null if none is. */
export const sending = createSignal<{ readonly file: File; readonly sent: number } | null>(null);

interface Sent {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | null;
}

/**
 * Sends a file like `fetch`, and reports its progress in `sending`, which `fetch` cannot. Throws TypeError if the server was
 * not reached, and the reason of the signal if it aborts.
 */
export function sendFile(address: string, file: File, { method, headers, signal }: Sent): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const request = new XMLHttpRequest();
    const giveUp = () => request.abort();
    const end = () => {
      signal?.removeEventListener('abort', giveUp);
      if (sending.get()?.file === file) sending.set(null);
    };
    request.upload.onprogress = ({ loaded }) => sending.set({ file, sent: loaded });
    request.onload = () => {
      end();
      resolve(new Response(request.response, { status: request.status, headers: headersOf(request) }));
    };
    request.onerror = () => {
      end();
      reject(new TypeError('the file could not be sent'));
    };
    request.onabort = () => {
      end();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', giveUp);
    request.open(method, address);
    request.responseType = 'blob';
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    sending.set({ file, sent: 0 });
    request.send(file);
  });
}

const headersOf = (request: XMLHttpRequest): Headers =>
  new Headers(
    request
      .getAllResponseHeaders()
      .trim()
      .split('\r\n')
      .map((line): [string, string] => {
        const [name = '', ...value] = line.split(': ');
        return [name, value.join(': ')];
      }),
  );
