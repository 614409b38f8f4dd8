import { OPERATIONS, type Operations, type Page } from './api.ts';
import { downloadOf } from './download.ts';
import { ConnectionError, InvalidIdError } from './errors.ts';
import { type ListRequest, listRequest } from './list.ts';
import type { Answer, CallOptions, Transport } from './transport.ts';
import { sourceOf, type Upload } from './upload.ts';

export type OperationId = keyof Operations;

/** Options of POST, PUT and PATCH. */
export interface KeyedOptions extends CallOptions {
  /**
   * Up to 255 characters that name what is to be done once. The same call under the same key within 24 hours gives the
   * stored answer, with secrets as null; another call under it is refused. Without it each call has a random one, which
   * covers the repeats of that call; give one of your own to be able to make the call again after a crash.
   */
  readonly idempotencyKey?: string | undefined;
}

/** Options of what may be made to depend on a revision. */
export interface ConditionalOptions extends CallOptions {
  /** The `revision` the caller has seen: refused with `payout_changed` when it is another one by now. */
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

/** What an operation is called with: the parts of its path, its body, its query, and options. */
export type Arguments<Id extends OperationId> = [
  ...PathOf<Operations[Id]>,
  ...BodyOf<Operations[Id]>,
  ...QueryOf<Operations[Id]>,
  options?: OptionsOf<Operations[Id]>,
];

type Given<Result> = Result extends Page<infer Item> ? ListRequest<Item> : Promise<Result>;

/** The function of an operation. */
export interface Method<Id extends OperationId> {
  (...given: Arguments<Id>): Given<Operations[Id]['result']>;
  /** The `operationId` in the description of the API. */
  readonly operation: Id;
}

/** An operation as OPERATIONS describes it. */
interface Description {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly takes: readonly ('body' | 'file' | 'query')[];
  readonly gives: 'record' | 'page' | 'file' | 'nothing';
  readonly order?: string;
}

/** A call, its arguments sorted out. `json` is the text of the body. */
export interface Call {
  readonly path: readonly unknown[];
  readonly json?: string | undefined;
  readonly file?: Upload | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly options?: (KeyedOptions & ConditionalOptions) | undefined;
}

/** Makes the functions of operations over a transport. */
export interface Calls {
  /** The function of an operation, with the arguments the description says. */
  method<Id extends OperationId>(id: Id): Method<Id>;
  /** Sends an operation for a function whose arguments are its own. */
  send<Id extends OperationId>(id: Id, call: Call): Promise<Operations[Id]['result']>;
}

/** The calls of one transport. */
export function callsOver(transport: Transport): Calls {
  const send = async (description: Description, { path, json, file, query, options = {} }: Call) =>
    transport.send(
      {
        method: description.method,
        path: pathOf(description.path, path),
        json,
        query,
        file: file === undefined ? undefined : sourceOf(file),
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

/** Sorts the arguments of a call out: the parts of the path, then what the operation takes, then options. */
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

/** Fills the ids in. Throws InvalidIdError for what would lead to another path. */
function pathOf(pattern: string, parts: readonly unknown[]): string {
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
  const text = await body.text();
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ConnectionError('the answer is no JSON: is the address right?', { cause: error });
  }
}

async function readNothing({ body }: Answer): Promise<undefined> {
  if ((await body.text()) === '') return;
  const cause = new SyntaxError('a body where none was expected');
  throw new ConnectionError('the answer is not one of the API: is the address right?', { cause });
}
