import { OPERATIONS, type Operations, type Page } from './api.ts';
import { textOf } from './connections.ts';
import { downloadOf } from './download.ts';
import { ConnectionError, InvalidIdError } from './errors.ts';
import { type ListRequest, listRequest } from './list.ts';
import type { Answer, CallOptions, Transport, WithResponse } from './transport.ts';
import type { Upload } from './upload.ts';

export type OperationId = keyof Operations;

/** Options of POST, PUT and PATCH. */
export interface KeyedOptions extends CallOptions {
  /**
   * Up to 255 characters that identify the call. The same call with the same key within 24 hours returns the stored
   * response, with secrets as null; a different call with that key is refused. By default each call gets a random key,
   * which covers its retries; set your own to be able to repeat the call after a crash.
   */
  readonly idempotencyKey?: string | undefined;
}

/** Options of `commissions.createMany`. */
export interface BatchOptions extends KeyedOptions {
  /** Creates each commission on its own; by default all or none. */
  readonly partial?: boolean | undefined;
}

/** Options of calls that can be made conditional on a revision. */
export interface ConditionalOptions extends CallOptions {
  /** The `revision` you have seen. The call is refused with `payout_changed` if it is no longer current. */
  readonly ifMatch?: number | undefined;
}

type Member<Operation, Name> = Name extends keyof Operation ? Operation[Name] : never;
type OptionsOf<Operation> = CallOptions &
  ('Idempotency-Key' extends Member<Operation, 'header'> ? KeyedOptions : CallOptions) &
  ('If-Match' extends Member<Operation, 'header'> ? ConditionalOptions : CallOptions);
type PathOf<Operation> = Operation extends { readonly path: infer Path extends string[] | unknown[] }
  ? Path
  : [];
type BodyOf<Operation> = Operation extends { readonly body: infer Body }
  ? [body: Body]
  : 'body' extends keyof Operation
    ? [body?: Member<Operation, 'body'>]
    : [];
type QueryOf<Operation> = Operation extends { readonly query: infer Query }
  ? [query: Query]
  : 'query' extends keyof Operation
    ? [query?: Member<Operation, 'query'>]
    : [];

/** The arguments of an operation: path parameters, body, query, and options. */
export type Arguments<Id extends OperationId> = [
  ...PathOf<Operations[Id]>,
  ...BodyOf<Operations[Id]>,
  ...QueryOf<Operations[Id]>,
  options?: OptionsOf<Operations[Id]>,
];

/** The result of a call. `.withResponse()` adds the request id and whether the response is a replay. */
export interface CallResult<Result> extends Promise<Result> {
  withResponse(): Promise<WithResponse<Result>>;
}

type Given<Result> = Result extends Page<infer Item> ? ListRequest<Item> : CallResult<Result>;

/** The function of an operation. */
export interface Method<Id extends OperationId> {
  (...given: Arguments<Id>): Given<Operations[Id]['result']>;
  /** The `operationId` in the OpenAPI description. */
  readonly operation: Id;
}

/** An operation as listed in OPERATIONS. */
interface Description {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly takes: readonly ('body' | 'file' | 'query')[];
  readonly gives: 'record' | 'page' | 'file' | 'nothing';
  /** The media type of the file it takes. */
  readonly fileType?: string;
  readonly order?: string;
}

/** A call with its arguments by role. `json` is the text of the body. */
export interface Call {
  readonly path: readonly unknown[];
  readonly json?: string | undefined;
  readonly file?: Upload | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly options?: (KeyedOptions & ConditionalOptions) | undefined;
}

/** Creates the functions of operations over a transport. */
export interface Calls {
  /** The function of an operation, with the arguments of its description. */
  method<Id extends OperationId>(id: Id): Method<Id>;
  /** Sends an operation, for functions with their own arguments. */
  send<Id extends OperationId>(id: Id, call: Call): CallResult<Operations[Id]['result']>;
}

/** The calls over one transport. */
export function callsOver(transport: Transport): Calls {
  const send = (description: Description, call: Call) => resultOf(sendNow(description, call));
  const sendNow = async (description: Description, { path, json, file, query, options = {} }: Call) =>
    transport.send(
      {
        method: description.method,
        path: pathOf(description.path, path),
        json,
        query,
        file,
        fileType: description.fileType,
        idempotencyKey: options.idempotencyKey,
        ifMatch: options.ifMatch,
        options,
      },
      READERS[description.gives],
    );
  return {
    method<Id extends OperationId>(id: Id) {
      const description: Description = OPERATIONS[id];
      const call = (...given: unknown[]) => {
        const one = callOf(description, given);
        const { order } = description;
        if (order === undefined) return send(description, one);
        return listRequest({
          query: one.query ?? {},
          order,
          load: (query) => send(description, { ...one, query: { ...query } }) as Promise<Page<unknown>>,
        });
      };
      return Object.assign(call, { operation: id }) as unknown as Method<Id>;
    },
    send: (id, call) => send(OPERATIONS[id], call) as never,
  };
}

/** The result of an answered call, from which the details of its response can be read too. */
function resultOf<Result>(answered: Promise<WithResponse<Result>>): CallResult<Result> {
  const result = answered.then(({ data }) => data);
  const withResponse = () => {
    // the caller handles the failure of `answered`
    result.catch(() => undefined);
    return answered;
  };
  return Object.assign(result, { withResponse });
}

/** Sorts the arguments of a call: path parameters, then what the operation takes, then options. */
function callOf({ path, takes }: Description, given: readonly unknown[]): Call {
  const parts = path.split('{').length - 1;
  const rest = given.slice(parts);
  const at = (name: Description['takes'][number]) =>
    takes.includes(name) ? rest[takes.indexOf(name)] : undefined;
  const body = at('body');
  return {
    path: given.slice(0, parts),
    json: body === undefined ? undefined : JSON.stringify(body),
    file: at('file') as Upload | undefined,
    query: at('query') as Call['query'],
    options: rest[takes.length] as Call['options'],
  };
}

/** Fills in the path parameters. Throws InvalidIdError for ids that would lead to another path. */
export function pathOf(pattern: string, parts: readonly unknown[]): string {
  const rest = parts.values();
  return pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const part = rest.next().value;
    const isId = typeof part === 'number' || (typeof part === 'string' && !/^\.{0,2}$/.test(part));
    if (!isId) throw new InvalidIdError(`${name} must be an id, not ${JSON.stringify(part)}`);
    return encodeURIComponent(part);
  });
}

const READERS = {
  record: readJson,
  page: readJson,
  file: downloadOf,
  nothing: readNothing,
} satisfies Record<Description['gives'], (answer: Answer) => unknown>;

async function readJson({ body }: Answer): Promise<unknown> {
  const json = await textOf(body);
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new ConnectionError('the answer is not JSON: is the address right?', { cause: error });
  }
}

async function readNothing({ body }: Answer): Promise<undefined> {
  if ((await textOf(body)) === '') return;
  const cause = new SyntaxError('a body where none was expected');
  throw new ConnectionError('the answer is not from the API: is the address right?', { cause });
}
