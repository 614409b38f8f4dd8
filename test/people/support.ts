import type { Role } from '../../src/contract/roles.ts';
import { idOf, uuidOf } from '../../src/kernel/ids.ts';
import { newSecret } from '../../src/kernel/secrets.ts';
import { beginSession } from '../../src/people/users/credentials.ts';
import { hashPassword } from '../../src/people/users/passwords.ts';
import { findOrMakePerson, replacePassword } from '../../src/people/users/people.ts';
import { addUser } from '../../src/people/users/service.ts';
import { dump } from '../api/fixtures.ts';
import { type Answer, type Api, apiOf } from '../support/api.ts';
import type { World } from '../support/world.ts';

export const PASSWORD = 'seven unusual teapots';

/** The response of a page, without following redirects. */
export interface PageAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly location: string | null;
  readonly text: string;
}

/** A browser: it keeps its cookie and submits forms. */
export interface Browser {
  /** The value of the session's cookie. */
  cookie(): string | undefined;
  setCookie(value: string | undefined): void;
  get(path: string): Promise<PageAnswer>;
  /** Submits a form; with the token of the session when it has one and `fields` has none. */
  submit(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<PageAnswer>;
  /** The token of the session, which forms and writes carry. */
  token(): Promise<string>;
  /** A call of the API with the cookie, and with the token unless it is null. */
  call(method: string, path: string, body?: unknown, token?: string | null): Promise<Answer>;
  /** The same browser, with its cookie, at another server. */
  at(url: string): Browser;
}

export function browserAt(url: string, cookie?: string): Browser {
  let current = cookie;
  const send = async (method: string, path: string, init: RequestInit): Promise<PageAnswer> => {
    const response = await fetch(url + path, {
      ...init,
      method,
      redirect: 'manual',
      headers: { ...init.headers, ...(current ? { cookie: `theme=dark; payhook_session=${current}` } : {}) },
    });
    const set = /^payhook_session=([^;]*)/.exec(response.headers.get('set-cookie') ?? '')?.[1];
    if (set !== undefined) current = set || undefined;
    return {
      status: response.status,
      headers: response.headers,
      location: response.headers.get('location'),
      text: await response.text(),
    };
  };
  const token = async () => {
    const me = await send('GET', '/v2/me', {});
    return (me.status === 200 && JSON.parse(me.text).csrf_token) || '';
  };
  return {
    cookie: () => current,
    setCookie(value) {
      current = value;
    },
    get: (path) => send('GET', path, {}),
    submit: (path, fields, headers = {}) =>
      send('POST', path, { body: new URLSearchParams(fields), headers }),
    token,
    async call(method, path, body, given) {
      const csrf = given === undefined ? await token() : given;
      return apiOf(url, '').request(method, path, {
        ...(body === undefined ? {} : { body }),
        headers: {
          ...(current ? { cookie: `payhook_session=${current}` } : {}),
          ...(csrf === null ? {} : { 'payhook-csrf': csrf }),
        },
      });
    },
    at: (other) => browserAt(other, current),
  };
}

/** A browser at the sign-in page. */
export const signInAs = async (url: string, email: string, password = PASSWORD) => {
  const browser = browserAt(url);
  const answer = await browser.submit('/sign-in', { email, password });
  return { browser, answer };
};

let made = 0;

/** A user with this password, and a signed-in browser. */
export interface SignedIn {
  readonly id: string;
  readonly email: string;
  readonly browser: Browser;
}

/** A user who has chosen the password by an invitation, signed in. */
export async function makeUser(
  api: Api,
  role: Role,
  email = `${role}-${++made}@example.com`,
): Promise<SignedIn> {
  const { body } = await api.post('/v2/users', { email, name: `The ${role}`, role });
  const browser = browserAt(api.url);
  const token = tokenIn(body.invitation_url);
  const answer = await browser.submit('/password', { token, password: PASSWORD, again: PASSWORD });
  if (answer.status !== 303) throw new Error(`the invitation did not work: ${answer.text}`);
  return { id: body.id, email, browser };
}

let hashing: Promise<string> | undefined;

/**
 * The same for tests of something else, of the account of `api`: functions of the program write the user and the
 * session into the database, nobody follows an invitation, and a process hashes the password once.
 */
export async function signedIn(
  { db, url, api: first }: Pick<World, 'db' | 'url' | 'api'>,
  role: Role,
  api = first,
): Promise<SignedIn> {
  const account = uuidOf('acc', (await api.get('/v2/account')).body.id);
  if (account === null) throw new Error('the client has no account');
  hashing ??= hashPassword(PASSWORD);
  const passwordHash = await hashing;
  const email = `${role}-${++made}@example.com`;
  const visit = { userAgent: 'a browser', address: '127.0.0.1', requestId: `signed-in-${made}` };
  return db.transaction(async (tx) => {
    const person = await findOrMakePerson(tx, email);
    await replacePassword(tx, person, passwordHash, null);
    const { id } = await addUser(tx, account, { person, name: `The ${role}`, role, joined: true });
    const member = { account, user: id, role, person, passwordHash };
    const secret = await beginSession(tx, member, visit, 'signIn');
    if (secret === null) throw new Error(`${email} has another password already`);
    return { id: idOf('usr', id), email, browser: browserAt(url, secret) };
  });
}

/** The secret in a link. */
export const tokenIn = (url: string) => new URL(url).searchParams.get('token') ?? '';

/** A well-formed secret that nobody issued. */
export const unknownLink = () => newSecret('phl_', 0);

/** Makes everything that happened so far look as if it had been this long ago. */
export async function moveTimeBack(world: World, span: string): Promise<void> {
  await world.query(
    `update sessions set last_seen_at = last_seen_at - interval '${span}', expires_at = expires_at - interval '${span}'`,
  );
  await world.query(`update user_links set expires_at = expires_at - interval '${span}'`);
  await world.query(`update sign_in_failures set failed_at = failed_at - interval '${span}'`);
}

/** Every row of every table as text, without what workers and chores update now and then. */
export async function everything(world: Pick<World, 'query'>): Promise<string> {
  return (await dump(world)).join('\n');
}
