import { OPERATIONS, type Operations } from '../../src/client/api.ts';
import { ApiError, ConnectionError } from '../../src/client/errors.ts';
import { retryAfterSeconds } from '../../src/client/retry.ts';
import { connection } from './connection.ts';
import { credential } from './credential.ts';
import { sendFile } from './send-file.ts';
import { hearTime } from './server-time.ts';

export type OperationId = keyof Operations;
export type Result<Id extends OperationId> = Operations[Id]['result'];

type Given<Operation, Name extends string> = Name extends keyof Operation
  ? undefined extends Operation[Name]
    ? { readonly [Key in Name]?: Operation[Name] }
    : { readonly [Key in Name]: Operation[Name] }
  : unknown;

/** A body that is a file is sent as the chosen `File`. */
type Body<Operation> = Operation extends { readonly body: infer Sent }
  ? string extends Sent
    ? { readonly file: File }
    : { readonly body: Sent }
  : Given<Operation, 'body'>;

/** The input of an operation as in the API description; `If-Match` is the revision the user has seen. */
export type Input<Id extends OperationId> = Given<Operations[Id], 'path'> &
  Given<Operations[Id], 'query'> &
  Body<Operations[Id]> &
  ('header' extends keyof Operations[Id]
    ? 'If-Match' extends Operations[Id]['header']
      ? { readonly ifMatch?: number | undefined }
      : unknown
    : unknown);

/** The untyped input of an operation: to send, to show as a command, or to use as a cache key. */
export interface Call {
  readonly path?: readonly unknown[] | undefined;
  readonly query?: object | undefined;
  readonly body?: unknown;
  readonly file?: File | undefined;
  readonly ifMatch?: number | undefined;
}

interface Options {
  readonly signal?: AbortSignal | undefined;
  /** For a write: the same key for the same intention, so that it is done once. */
  readonly idempotencyKey?: string | undefined;
}

interface Description {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly gives: 'record' | 'page' | 'file' | 'nothing';
  readonly fileType?: string;
}

/** The method of an operation and its path on this server, with the query. */
export function requestOf(id: OperationId, { path = [], query }: Call): { method: string; address: string } {
  const operation: Description = OPERATIONS[id];
  const parts = path.values();
  const filled = operation.path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(String(parts.next().value)));
  const parameters = Object.entries(query ?? {})
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]): [string, string] => [name, String(value)]);
  const text = new URLSearchParams(parameters).toString();
  return { method: operation.method, address: text === '' ? filled : `${filled}?${text}` };
}

/** A chosen file that cannot be read: it was changed since, moved, or is a folder. */
export class UnreadableFile extends Error {
  override name = 'UnreadableFile';
}

/**
 * Sends an operation with the credential of this page. While the server cannot be reached, or the user signs in again, it
 * waits and then continues. Throws ApiError if the operation is refused.
 */
export async function call<Id extends OperationId>(
  id: Id,
  input: Input<Id>,
  options: Options = {},
): Promise<Result<Id>> {
  const response = await send(id, input as Call, options);
  const { gives }: Description = OPERATIONS[id];
  if (gives === 'nothing') return undefined as Result<Id>;
  return (gives === 'file' ? response.blob() : response.json()) as Promise<Result<Id>>;
}

/** Like `call` for a record, but returns the text that the server sent. */
export async function callText<Id extends OperationId>(
  id: Id,
  input: Input<Id>,
  options: Options = {},
): Promise<string> {
  return (await send(id, input as Call, options)).text();
}

/** A file of the API with its name and headers. The API types say `Download`, which does not exist in browsers. */
export async function download<Id extends OperationId>(
  id: Id,
  input: Input<Id>,
): Promise<{ readonly blob: Blob; readonly name: string; readonly headers: Headers }> {
  const response = await send(id, input as Call, {});
  const name = /filename="?([^";]+)/.exec(response.headers.get('content-disposition') ?? '')?.[1];
  return { blob: await response.blob(), name: name ?? id, headers: response.headers };
}

async function send(id: OperationId, input: Call, { signal, idempotencyKey }: Options): Promise<Response> {
  const { method, address } = requestOf(id, input);
  const { fileType }: Description = OPERATIONS[id];
  const isWrite = method !== 'GET';
  const key = idempotencyKey ?? crypto.randomUUID();
  let wasRepeated = false;
  for (;;) {
    const headers = {
      ...credential().headers(isWrite),
      ...(isWrite ? { 'idempotency-key': key } : {}),
      ...(input.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(input.file === undefined ? {} : { 'content-type': String(fileType) }),
      ...(input.ifMatch === undefined ? {} : { 'if-match': `"${input.ifMatch}"` }),
    };
    if (input.file) await refuseUnreadable(input.file);
    const sent = { method, headers, signal: signal ?? null };
    const response = await (input.file
      ? sendFile(address, input.file, sent)
      : fetch(address, {
          ...sent,
          body: input.body === undefined ? null : JSON.stringify(input.body),
          credentials: credential().cookies,
        })
    ).catch((error: unknown) => lost(error, signal));
    hearTime(response?.headers.get('date') ?? null);
    if (response?.ok) {
      connection.found();
      return response;
    }
    if (response === null || isPassing(response)) {
      await connection.wait(signal);
      wasRepeated = true;
      continue;
    }
    connection.found();
    // the first attempt may have succeeded, and its answer was lost
    if (method === 'DELETE' && wasRepeated && response.status === 404) return response;
    const refusal = await refusalOf(response);
    const isAway = refusal.status === 401 || refusal.reason === 'cross_site_request';
    if (!isAway) throw refusal;
    await credential().renew(signal);
  }
}

// for an unreadable file, browsers only report that the request failed, as for an unreachable server
async function refuseUnreadable(file: File): Promise<void> {
  await file
    .slice(0, 1)
    .arrayBuffer()
    .catch((cause: unknown) => {
      throw new UnreadableFile(file.name, { cause });
    });
}

/** null if the server was not reached; throws if the request was aborted. */
function lost(error: unknown, signal: AbortSignal | undefined): null {
  signal?.throwIfAborted();
  if (error instanceof TypeError) return null;
  throw new ConnectionError('the request could not be sent', { cause: error, outcome: 'not_done' });
}

/** The response of a restarting server, or of a proxy in front of it. */
function isPassing({ status, headers }: Response): boolean {
  return status === 502 || status === 503 || status === 504 || (status === 429 && headers.has('retry-after'));
}

async function refusalOf(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => null)) as {
    error?: { code?: string; message?: string };
  } | null;
  return new ApiError({
    status: response.status,
    code: (body?.error?.code ?? 'internal_error') as ApiError['code'],
    reason: response.headers.get('payhook-reason') as ApiError['reason'],
    message: body?.error?.message ?? `the server answered ${response.status}`,
    requestId: response.headers.get('payhook-request-id'),
    retryAfter: retryAfterSeconds(response.headers.get('retry-after')),
  });
}
