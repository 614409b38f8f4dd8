/** The address of a server, or its unix socket on this machine, which only Node can use. */
export type Target = { readonly url: string } | { readonly socketPath: string };

/** A body that is sent as it is read. */
export interface Chunks {
  /** Its size, if known. */
  readonly bytes?: number | undefined;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** A request on the wire. */
export interface WireRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | Blob | Chunks | null;
  /** The longest time without data in either direction, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** A response, whose body must be read to the end or cancelled. Reading fails if it is cut off. */
export interface WireResponse {
  readonly status: number;
  header(name: string): string | null;
  readonly body: ReadableStream<Uint8Array>;
}

/** The connections to one server. They stay open between requests, and do not keep the process alive. */
export interface Connections {
  readonly base: URL;
  /** Sends a request. Throws the error of the network. */
  exchange(request: WireRequest): Promise<WireResponse>;
  /** Closes them. Exchanges in progress and later ones fail. */
  close(): void;
  readonly isClosed: boolean;
}

/** The text of a body. */
export async function textOf(body: ReadableStream<Uint8Array>): Promise<string> {
  const [reader, decoder] = [body.getReader(), new TextDecoder()];
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
  }
}

/** The error of a server from which nothing came for too long. */
export const silence = (ms: number) => new Error(`the server sent nothing for ${ms / 1000} seconds`);

/** The error of an exchange after `close`. */
export const closed = () => new Error('the client is closed');
