import type { IncomingHttpHeaders } from 'node:http';
import type { Logger } from 'pino';
import type { Cells } from '../db/cells.ts';
import type { Database } from '../db/database.ts';
import type { AccountId } from '../kernel/ids.ts';
import type { Vault } from '../kernel/vault.ts';
import type { Principal } from './route.ts';

/** A signed-in user, and the token in forms that protects against requests from other sites. */
export interface SignedIn {
  readonly principal: Principal;
  /** The person (UUID), across all accounts. */
  readonly person: string;
  readonly csrfToken: string;
}

/** Demo accounts: example data to look around in. */
export interface Demos {
  /** Creates an account with example data, of which the person (UUID) becomes the owner under this name. Returns its public id. */
  create(owner: { readonly db: Database; readonly person: string; readonly name: string }): Promise<string>;
  /** Deletes a demo account. Returns null, or why nothing was done. */
  remove(account: AccountId): Promise<string | null>;
}

/** The input of a route outside `/v2`: pages for people, and the OAuth endpoints. */
export interface PageInput {
  /** The database of the cell that the request names, or of cell 0; `anonymous` of it, unless a user is signed in. */
  readonly db: Database;
  readonly cells: Cells;
  readonly vault: Vault;
  /** null = this program cannot fill one. */
  readonly demos: Demos | null;
  readonly log: Logger;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** A parameter may occur several times. */
  readonly query: URLSearchParams;
  /** The form of a POST; empty for a GET. */
  readonly form: URLSearchParams;
  readonly signedIn: SignedIn | null;
  /** The address that the request came from. */
  readonly address: string;
  readonly requestId: string;
  /** Public addresses without a trailing slash. */
  readonly baseUrl: string;
  readonly authorizeUrl: string;
}

export interface PageReply {
  readonly status: number;
  readonly body: string | Buffer;
  /** The media type; null = no body. */
  readonly type: string | null;
  /** An array for Set-Cookie. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Origins besides our own to which a form of this page may lead. */
  readonly formTargets?: readonly string[];
  /** Its policy names pages that may frame it, so it has no X-Frame-Options, which cannot name any. */
  readonly isFramed?: boolean;
}

/**
 * A route outside `/v2`. It opens its own transactions, because an attempt to sign in must be counted even if it fails.
 */
export interface PageRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** How unexpected errors and unreadable bodies are reported: to people, or as defined by RFC 6749 section 5.2. */
  readonly errors: 'page' | 'oauth';
  /** The same for everybody, so the session is not looked up: `signedIn` is null. */
  readonly isPublic?: boolean;
  /** It is shown also while the cell of the session cannot be reached, as to somebody who is not signed in. */
  readonly withoutCell?: boolean;
  /** A form in any encoding is accepted, and not read. */
  readonly ignoresBody?: boolean;
  /** It reads nothing from the database, so it does not count as a request without an identity. */
  readonly isStatic?: boolean;
  handle(input: PageInput): Promise<PageReply>;
}

type Headers = PageReply['headers'];

/** A page for people. */
export const html = (status: number, body: string, headers: Headers = {}): PageReply => ({
  status,
  body,
  type: 'text/html; charset=utf-8',
  headers,
});

/** A JSON body. */
export const json = (status: number, value: unknown, headers: Headers = {}): PageReply => ({
  status,
  body: JSON.stringify(value),
  type: 'application/json; charset=utf-8',
  headers,
});

/** 303: the browser continues with a GET. */
export const redirect = (location: string, headers: Headers = {}): PageReply => ({
  status: 303,
  body: '',
  type: null,
  headers: { ...headers, location },
});
