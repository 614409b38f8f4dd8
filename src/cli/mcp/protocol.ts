import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

// The part of the Model Context Protocol that a server with tools needs: JSON-RPC 2.0, a message per line.

/** A tool as the protocol lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: boolean };
}

/** The result of a call: a text, which is an error for the assistant to read if `isError`. */
export interface ToolResult {
  readonly text: string;
  readonly isError: boolean;
}

/** The server behind the protocol. Errors that it throws become errors of JSON-RPC. */
export interface ToolServer {
  readonly version: string;
  readonly instructions: string;
  list(signal: AbortSignal): Promise<readonly ListedTool[]>;
  call(name: string, given: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolResult>;
}

/** Versions of the protocol, newest first. */
const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const [PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL] = [
  -32700, -32600, -32601, -32602, -32603,
];

class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

type Json = Readonly<Record<string, unknown>>;
type Id = string | number;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Serves the protocol until the input ends; then calls in progress are cancelled. */
export async function serveLines(input: Readable, output: Writable, server: ToolServer): Promise<void> {
  const running = new Map<Id, AbortController>();
  const write = (message: Json) => void output.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

  const answer = async (id: Id, method: string, params: Json): Promise<void> => {
    const control = new AbortController();
    running.set(id, control);
    try {
      const result = await resultOf(server, method, params, control.signal);
      // a cancelled request gets no response
      if (!control.signal.aborted) write({ id, result });
    } catch (error) {
      if (control.signal.aborted) return;
      const code = error instanceof RpcError ? error.code : INTERNAL;
      write({ id, error: { code, message: (error as Error).message } });
    } finally {
      running.delete(id);
    }
  };

  const take = async (line: string): Promise<void> => {
    const message = parsed(line);
    if (message === undefined) return write({ id: null, error: { code: PARSE_ERROR, message: 'not JSON' } });
    const { id, method, params = {} } = isObject(message) ? message : {};
    if (typeof method !== 'string' || !isObject(params)) {
      // a response to something that this server never asks
      if (isObject(message) && ('result' in message || 'error' in message)) return;
      return write({ id: null, error: { code: INVALID_REQUEST, message: 'not a request of JSON-RPC 2.0' } });
    }
    if (typeof id === 'string' || typeof id === 'number') return answer(id, method, params);
    if (method === 'notifications/cancelled') running.get(params.requestId as Id)?.abort();
  };

  const open = new Set<Promise<void>>();
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '') continue;
    const taken = take(line).finally(() => open.delete(taken));
    open.add(taken);
  }
  for (const control of running.values()) control.abort();
  await Promise.all(open);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

async function resultOf(
  server: ToolServer,
  method: string,
  params: Json,
  signal: AbortSignal,
): Promise<Json> {
  switch (method) {
    case 'initialize': {
      const asked = VERSIONS.find((version) => version === params.protocolVersion);
      return {
        protocolVersion: asked ?? VERSIONS[0],
        capabilities: { tools: {} },
        serverInfo: { name: 'payhook', version: server.version },
        instructions: server.instructions,
      };
    }
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: await server.list(signal) };
    case 'tools/call': {
      const { name, arguments: given = {} } = params;
      if (typeof name !== 'string' || !isObject(given)) {
        throw new RpcError(INVALID_PARAMS, 'a call needs the name of a tool, and an object of arguments');
      }
      const { text, isError } = await server.call(name, given, signal);
      return { content: [{ type: 'text', text }], isError };
    }
    default:
      throw new RpcError(NO_METHOD, `no method ${method}`);
  }
}
