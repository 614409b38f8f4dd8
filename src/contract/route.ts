import type { Readable } from 'node:stream';
import type { Static, TObject, TSchema } from 'typebox';
import type { Database, Reader, Tx } from '../db/database.ts';
import type { Author } from '../kernel/author.ts';
import type { Failure, ReasonName } from '../kernel/errors.ts';
import type { AccountId, EndpointId, SessionId } from '../kernel/ids.ts';
import type { Json } from '../kernel/json.ts';
import type { StrictJson } from '../kernel/strict-json.ts';
import type { Timestamp } from '../kernel/time.ts';
import type { TraceContext } from '../kernel/trace.ts';
import type { Env } from './env.ts';
import type { HeaderName } from './headers.ts';
import type { ListDefinition, ListQuery, Page } from './lists.ts';
import type { Capability, Role } from './roles.ts';
import type { List } from './schemas.ts';
import type { OPENINGS, OpeningScope, Scope } from './scopes.ts';
import type { Upload, UploadType } from './uploads.ts';

/** What a portal is open for: nothing else of the account can be reached with it. */
export interface Portal {
  /** The endpoint (UUID) that its link was made at. */
  readonly endpoint: EndpointId;
  /** The owner that its endpoints must have; null = none. */
  readonly owner: string | null;
  /** Whether it is of all endpoints of the owner, or of `endpoint` alone. */
  readonly isOfOwner: boolean;
  /** What its user may subscribe to; null = everything. */
  readonly eventTypes: readonly string[] | null;
  /** The filter, as JSON, that goes with these types; null = none. */
  readonly filter: string | null;
  readonly endsAt: Timestamp;
}

/**
 * Who makes a request: an API key, a signed-in user, an application that a merchant granted scopes, the operator,
 * whoever opened a portal by its link, or a consumer with the token of a pull endpoint.
 */
export interface Principal extends Author {
  /** The account (UUID) of everything the request can see. */
  readonly account: AccountId;
  readonly scopes: ReadonlySet<Scope>;
  /** What a user may do; every other principal acts as an owner, within its scopes. */
  readonly role: Role;
  /** The session (UUID) of a user. */
  readonly session?: SessionId;
  /** The redirect URIs of a public application: pages of their origins may read the response. Empty for others. */
  readonly redirectUris?: readonly string[];
  // as in LiveKey; undefined = not known
  readonly searches?: number | null;
  readonly eventChecks?: string | null;
  /** What a portal may reach; undefined for every other principal. */
  readonly portal?: Portal;
  /** The pull endpoint (UUID) whose token it is; undefined for every other principal. */
  readonly endpoint?: EndpointId;
}

/** What a scope gives an application, of a route that names the scope. */
type ScopedAccess = {
  readonly [Name in OpeningScope]: {
    readonly scope: Name;
    readonly needs: (typeof OPENINGS)[Name]['gives'][number];
  };
}[OpeningScope];

/**
 * Who may use an operation: callers with the capability it needs. An application also needs the scope, `any` of its
 * scopes, or cannot use it at all where none is named.
 */
export type Access =
  | ScopedAccess
  | { readonly scope: 'any'; readonly needs: 'read' }
  | { readonly scope?: undefined; readonly needs: Exclude<Capability, ScopedAccess['needs']> };

type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never;
export type Params<Path extends string> = { readonly [Name in ParamNames<Path>]: string };

type Headers = Readonly<Record<string, string>>;

/** An answer with a JSON body. */
interface JsonReply<Status extends number, T> {
  readonly kind: 'json';
  readonly status: Status;
  readonly json: Json<T>;
  readonly headers: Headers;
  /** The exact total of a list, for the Link header. */
  readonly total?: bigint;
}
interface EmptyReply<Status extends number> {
  readonly kind: 'empty';
  readonly status: Status;
  readonly headers: Headers;
}
export interface FileReply {
  readonly kind: 'file';
  readonly status: 200;
  readonly stream: Readable;
  readonly headers: Headers;
  /** Notes the SHA-256 of all bytes before the last of them is sent; if that fails, the file is cut off. */
  readonly noteDigest?: ((tx: Tx, sha256: Buffer) => Promise<void>) | undefined;
}

/** What a handler returns, as the server sees it. */
export type Reply =
  | (Omit<JsonReply<number, unknown>, 'json'> & { readonly json: string })
  | EmptyReply<number>
  | FileReply;

export type FileType = 'text/csv' | 'application/pdf' | 'application/zip';
/** Status -> schema of the JSON body; null = no body; a type = a file. */
type Returns = Readonly<Record<number, TSchema | FileType | null>>;

/** The replies that a route declares: another status, or the record of another noun, does not compile. */
type ReplyOf<Declared extends Returns> = number extends keyof Declared
  ? Reply
  : {
      [Status in keyof Declared & number]: Declared[Status] extends FileType
        ? FileReply
        : Declared[Status] extends TSchema
          ? JsonReply<Status, Static<Declared[Status]>>
          : EmptyReply<Status>;
    }[keyof Declared & number];

/** 200 with a record. */
export const ok = <T>(json: Json<T>, headers: Headers = {}): JsonReply<200, T> => ({
  kind: 'json',
  status: 200,
  json,
  headers,
});
/** 200 with a page of a list. */
export const page = <T>({ json, total }: Page<T>): JsonReply<200, List<T>> => ({
  kind: 'json',
  status: 200,
  json,
  total,
  headers: {},
});
/** 201 with the record made. */
export const created = <T>(json: Json<T>, headers: Headers = {}): JsonReply<201, T> => ({
  kind: 'json',
  status: 201,
  json,
  headers,
});
/** 200 without a body. */
export const done = (): EmptyReply<200> => ({ kind: 'empty', status: 200, headers: {} });
/** 204 without a body. */
export const noContent = (): EmptyReply<204> => ({ kind: 'empty', status: 204, headers: {} });
/** 200 with a streamed file. */
export const file = (
  stream: Readable,
  headers: Headers,
  noteDigest?: FileReply['noteDigest'],
): FileReply => ({ kind: 'file', status: 200, stream, headers, noteDigest });

interface Common<Path extends string, Query extends TObject, Answers extends Returns, Listing> {
  /** The name of the operation in the description and of the client's function. */
  readonly operation: string;
  readonly path: Path;
  readonly summary: string;
  readonly description?: string;
  readonly query?: Query;
  /** Status -> schema of the JSON body; null = no body; a type = a file of it, or of a type in `alsoSends`. */
  readonly returns: Answers;
  readonly alsoSends?: readonly string[];
  /**
   * Portals may use it too, about an endpoint of theirs, which is checked before the handler runs: the one that the path
   * names (`id`) or the query (`webhook_endpoint_id`). With `own` the handler keeps to `principal.portal` itself.
   */
  readonly portal?: 'path' | 'query' | 'own';
  /** The token of a pull endpoint may use it too, about that endpoint, which the path names (`id`). */
  readonly consumers?: true;
  /**
   * Its answer contains a secret, as a whole or in this field. It is neither cached nor compressed, assistants do not get it, and the
   * stored answer of an Idempotency-Key has null in the field.
   */
  readonly secret?: true | string;
  /** Makes it a list: page, per_page, sort and the filters named here. */
  readonly list?: Listing;
  /** Headers of its successes, besides those that every answer, list or file has. */
  readonly sends?: readonly HeaderName[];
  /** The path of the GET for a record that its 201 created: the last parameter is the id of the record. */
  readonly creates?: string;
  /** When it refuses because a record exists already, it says where that record is. */
  readonly locatesDuplicates?: true;
  /** What its path parameters are, where their names do not say so. */
  readonly inPath?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** Reasons besides those of every operation. */
  readonly errors?: readonly ReasonName[];
}

/** What the handler of a list is given. */
interface Listed {
  readonly list: ListQuery;
}
/** What the handler of a route that takes a file is given. */
interface Uploaded {
  readonly upload: Upload;
}
/** What a handler gets because its route declares it. */
type If<Declared, Part> = Declared extends undefined ? unknown : Part;

/** How a write waits until it has something to answer. It holds no transaction meanwhile. */
export interface Waiting {
  /** How long a request waits at most. */
  seconds(body: unknown): number;
  /** Whether the answer is worth waiting for another one. */
  isEmpty(reply: Reply): boolean;
  /** Resolves when there may be another answer, or `signal` says that nobody waits any more. */
  news(
    db: Database,
    input: { readonly account: AccountId; readonly params: Readonly<Record<string, string>> },
    signal: AbortSignal,
  ): Promise<void>;
}

/** Records something in a transaction of its own. */
export type Recorder = <Result>(work: (tx: Tx) => Promise<Result>) => Promise<Result | null>;

/** What the handlers of all routes get. */
interface Input<Path extends string, Query extends TObject> {
  readonly requestId: string;
  readonly account: AccountId;
  readonly principal: Principal;
  readonly params: Params<Path>;
  readonly query: Static<Query>;
  readonly env: Env;
}

interface ReadInput<Path extends string, Query extends TObject> extends Input<Path, Query> {
  readonly db: Reader;
  /** For what a replica does not know: the locks of the primary. */
  readonly primary: Reader;
  /** For responses of more than one statement: all see the same snapshot. */
  readonly snapshot: Database['snapshot'];
  /** For routes that declare `records`; returns null, and does nothing, for a HEAD. */
  readonly record: Recorder;
}

interface WriteInput<Path extends string, Query extends TObject, Body extends TSchema>
  extends Input<Path, Query> {
  readonly tx: Tx;
  readonly body: Static<Body>;
  /** The parsed body with its text, for values that are passed on unchanged. */
  readonly json: StrictJson;
  /** The If-Match header. */
  readonly ifMatch: string | undefined;
}

interface ReadSpec<
  Path extends string,
  Query extends TObject,
  Answers extends Returns,
  Listing extends ListDefinition | undefined,
> extends Common<Path, Query, Answers, Listing> {
  readonly records?: true; // it records what the caller did, so no page of another site may make a browser send it
  readonly replicable?: true; // a replica may answer it, as all lists: it reads many rows, and decides nothing
  handle(input: ReadInput<Path, Query> & If<Listing, Listed>): Promise<ReplyOf<Answers>>;
}

interface WriteCommon<
  Path extends string,
  Query extends TObject,
  Body extends TSchema,
  Answers extends Returns,
  Listing,
  Uploading,
> extends Common<Path, Query, Answers, Listing> {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly body?: Body;
  /** A field that is passed on unchanged, such as `data` or `items.*.data`: its numbers are not checked. */
  readonly passesOn?: string;
  readonly bodyOptional?: true; // it may be left out, and is then `{}`
  readonly upload?: Uploading; // the type of the file that it reads instead of JSON
  readonly bodyLimit?: number; // bytes, default 1 MiB; 64 KiB in a portal
  /** Members of objects and items of lists in it, default 5,000, without a limit where it `passesOn`; 1,000 in a portal. */
  readonly mostParts?: number;
  /** The events of the caller that a body publishes (http/filtered, webhooks/types/validation). */
  readonly publishes?: (body: never) => readonly { readonly type: string; readonly data: unknown }[];
  readonly takesLong?: true; // its statements may, as those of an upload may
  /** It is asked again until it has something to answer. Its answers are not stored: Idempotency-Key has no effect. */
  readonly waits?: Waiting;
  /** Left out of the audit log: it changes nothing, or comes in streams that have their own records. */
  readonly unaudited?: true;
  readonly ifMatch?: true;
}

interface WriteSpec<
  Path extends string,
  Query extends TObject,
  Body extends TSchema,
  Answers extends Returns,
  Listing extends ListDefinition | undefined,
  Uploading extends UploadType | undefined,
> extends WriteCommon<Path, Query, Body, Answers, Listing, Uploading> {
  readonly batch?: undefined;
  handle(
    input: WriteInput<Path, Query, Body> & If<Listing, Listed> & If<Uploading, Uploaded>,
  ): Promise<ReplyOf<Answers>>;
}

/** One of the requests that are answered together. */
type BatchInput<Body extends TSchema> = Pick<
  WriteInput<string, TObject, Body>,
  'account' | 'body' | 'json'
> & {
  /** null = it belongs to no trace. */
  readonly trace: TraceContext | null;
};

interface BatchSpec<Path extends string, Body extends TSchema, Answers extends Returns>
  extends WriteCommon<Path, TObject, Body, Answers, undefined, undefined> {
  readonly unaudited: true;
  readonly batch: {
    /** A larger body is answered by itself. */
    readonly aloneAbove: number;
    /**
     * A name within the account that requests wait for each other about: no two requests of a batch may share it.
     */
    locks(body: Static<Body>): string | null;
    /** Whether such a request may wait for transactions of others besides. Several of a batch may do so. */
    mayWait(body: Static<Body>): boolean;
    /**
     * Answers or refuses each request, in order. Whatever it throws must also fail that request when it is alone.
     */
    handle(tx: Tx, inputs: readonly BatchInput<Body>[]): Promise<(ReplyOf<Answers> | Failure)[]>;
  };
}

/** A write that is answered in a transaction of its own. */
export type SingleRoute = WriteSpec<string, TObject, TSchema, Returns, ListDefinition, UploadType>;
/** A write whose requests, when many come at once, are answered in one transaction for many. */
export type BatchRoute = BatchSpec<string, TSchema, Returns>;
type SomeRead = ReadSpec<string, TObject, Returns, ListDefinition>;

/** One endpoint, as the server and the description see it. */
export type Route =
  | ({ readonly kind: 'read'; readonly method: 'GET' } & SomeRead & Access)
  | ({ readonly kind: 'write' } & (SingleRoute | BatchRoute) & Access);

/** A GET: its handler gets a Reader and cannot write. */
export function readRoute<
  const Path extends string,
  Query extends TObject,
  Answers extends Returns,
  Listing extends ListDefinition | undefined = undefined,
>(spec: ReadSpec<Path, Query, Answers, Listing> & Access): Route {
  return { kind: 'read', method: 'GET', ...(spec as unknown as SomeRead & Access) };
}

/** Everything else: its handler runs inside the one transaction of the request. */
export function writeRoute<
  const Path extends string,
  Query extends TObject,
  Body extends TSchema,
  Answers extends Returns,
  Listing extends ListDefinition | undefined = undefined,
  Uploading extends UploadType | undefined = undefined,
>(spec: WriteSpec<Path, Query, Body, Answers, Listing, Uploading> & Access): Route {
  return { kind: 'write', ...(spec as unknown as SingleRoute & Access) };
}

/** A write that shares its transaction with requests that arrive meanwhile. */
export function batchRoute<const Path extends string, Body extends TSchema, Answers extends Returns>(
  spec: BatchSpec<Path, Body, Answers> & Access,
): Route {
  return { kind: 'write', ...(spec as unknown as BatchRoute & Access) };
}
