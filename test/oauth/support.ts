import { createHash, randomBytes } from 'node:crypto';
import type { Role } from '../../src/contract/roles.ts';
import { hashSecret, newSecret } from '../../src/kernel/secrets.ts';
import type { Answer, Api } from '../support/api.ts';
import type { World } from '../support/world.ts';

/** A user with a session, as the sign-in page would have created it. */
export interface Person {
  readonly cookie: string;
  readonly csrf: string;
  /** `usr_…` */
  readonly id: string;
}

/** Creates a user of the account of `api`, by default the first one, and a session. */
export async function signedIn(
  world: World,
  { role = 'owner', api = world.api }: { role?: Role; api?: Api } = {},
): Promise<Person> {
  const cookie = newSecret('phi_', world.db.cell);
  const csrf = randomBytes(32).toString('base64url');
  const [made] = await world.query<{ id: string }>(
    `with owner as (select account_id from api_keys where hash = $1),
          p as (insert into people (email) values ($2) returning id),
          u as (insert into users (account_id, person_id, name, role, joined_at)
                select account_id, p.id, 'Ada Lovelace', $3, now() from owner, p returning account_id, id),
          s as (insert into sessions (hash, csrf_token, account_id, user_id, expires_at)
                select $4, $5, account_id, id, now() + interval '1 day' from u)
     select 'usr_' || replace(id::text, '-', '') as id from u`,
    [hashSecret(api.key), `${randomBytes(6).toString('hex')}@example.com`, role, hashSecret(cookie), csrf],
  );
  return { cookie, csrf, id: made?.id ?? '' };
}

/** The response in front of a browser. */
export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Its redirect target, resolved. */
  readonly location: URL | null;
  /** The hidden fields and checkboxes of its form. */
  readonly hidden: readonly (readonly [string, string])[];
  readonly boxes: readonly string[];
  readonly action: string;
}

/** A browser that follows no redirect by itself. The world serves every address, whatever its origin. */
export interface Browser {
  open(url: string | URL): Promise<Page>;
  /** Submits the form of a page. */
  send(page: Page, input: { granted?: readonly string[]; decision?: string }): Promise<Page>;
  post(path: string, form: readonly (readonly [string, string])[]): Promise<Page>;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
const plain = (html: string) => html.replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name) => ENTITIES[name] ?? '');

function attribute(tag: string, name: string): string {
  return plain(new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? '');
}

async function pageOf(response: Response): Promise<Page> {
  const text = await response.text();
  const inputs = text.match(/<input[^>]*>/g) ?? [];
  const ofType = (type: string) => inputs.filter((tag) => attribute(tag, 'type') === type);
  const location = response.headers.get('location');
  return {
    status: response.status,
    headers: response.headers,
    text,
    location: location === null ? null : new URL(location, response.url),
    hidden: ofType('hidden').map((tag) => [attribute(tag, 'name'), attribute(tag, 'value')]),
    boxes: ofType('checkbox').map((tag) => attribute(tag, 'value')),
    action: attribute(/<form[^>]*>/.exec(text)?.[0] ?? '', 'action'),
  };
}

/** The same request at the world's own address. */
function atWorld(world: World, url: string | URL): URL {
  const { pathname, search } = new URL(url, world.url);
  return new URL(pathname + search, world.url);
}

/** For the client libraries: the world answers for every origin. */
export const fetchAt =
  (world: World): typeof fetch =>
  (url, init) =>
    fetch(atWorld(world, String(url)), init);

/** A browser, with a user's session or without one; the cookie has another name where the pages have https. */
export function browserOf(world: World, person?: Person, cookie = 'payhook_session'): Browser {
  const ask = async (url: string | URL, init: RequestInit = {}) =>
    pageOf(
      await fetch(atWorld(world, url), {
        redirect: 'manual',
        ...init,
        headers: { ...(person ? { cookie: `${cookie}=${person.cookie}` } : {}) },
      }),
    );
  const post: Browser['post'] = (path, form) =>
    ask(path, {
      method: 'POST',
      body: new URLSearchParams(form.map(([name, value]): [string, string] => [name, value])),
    });
  return {
    open: (url) => ask(url),
    post,
    send: (page, { granted = page.boxes, decision = 'allow' }) =>
      post(page.action, [
        ...page.hidden,
        ...granted.map((scope) => ['granted', scope] as const),
        ['decision', decision],
      ]),
  };
}

export const CALLBACK = 'https://app.example/callback';

export interface Registered {
  readonly id: string;
  readonly client_secret: string;
}

/** Registers an application of the first account. */
export async function register(api: Api, input: Record<string, unknown> = {}): Promise<Registered> {
  const made = await api.post('/v2/oauth-applications', {
    name: 'Till & Co',
    kind: 'confidential',
    redirect_uris: [CALLBACK],
    scopes: ['affiliates', 'webhooks', 'account'],
    ...input,
  });
  if (made.status !== 201) throw new Error(made.text);
  return made.body;
}

/** A verifier and its S256 challenge (RFC 7636). */
export function pkce(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

type Pairs = Readonly<Record<string, string | undefined>>;

const pairsOf = (params: Pairs) =>
  Object.entries(params).filter((pair): pair is [string, string] => pair[1] !== undefined);

/** The authorization request of an application, with these parameters changed or, by undefined, removed. */
export function authorizePath(application: Registered, params: Pairs = {}): string {
  const all = { response_type: 'code', client_id: application.id, redirect_uri: CALLBACK, ...params };
  return `/oauth/authorize?${new URLSearchParams(pairsOf(all))}`;
}

/** Allows everything that is requested; returns the code. */
export async function codeFor(
  world: World,
  person: Person,
  application: Registered,
  params: Pairs = {},
): Promise<string> {
  const browser = browserOf(world, person);
  const done = await browser.send(await browser.open(authorizePath(application, params)), {});
  const code = done.location?.searchParams.get('code');
  if (!code) throw new Error(`${done.status} ${done.location ?? done.text}`);
  return code;
}

/** A response of the token or revocation endpoint. */
export type TokenAnswer = Pick<Answer, 'status' | 'headers' | 'text' | 'body'>;

/** Posts a form to an OAuth endpoint; null as the secret means none. */
export async function postForm(
  url: string,
  path: string,
  form: Pairs | URLSearchParams,
  headers: Readonly<Record<string, string>> = {},
): Promise<TokenAnswer> {
  const body = form instanceof URLSearchParams ? form : new URLSearchParams(pairsOf(form));
  const response = await fetch(url + path, { method: 'POST', body, headers });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === '' ? undefined : JSON.parse(text),
  };
}

/** Calls the token endpoint as the application. */
export function askTokens(
  world: { readonly url: string },
  application: Registered,
  params: Pairs,
): Promise<TokenAnswer> {
  return postForm(world.url, '/oauth/token', {
    client_id: application.id,
    client_secret: application.client_secret ?? undefined,
    ...params,
  });
}

/** Exchanges a code. */
export function exchange(
  world: { readonly url: string },
  application: Registered,
  code: string,
  params: Pairs = {},
): Promise<TokenAnswer> {
  return askTokens(world, application, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: CALLBACK,
    ...params,
  });
}

/** Refreshes. */
export function refresh(
  world: { readonly url: string },
  application: Registered,
  token: string,
  params: Pairs = {},
): Promise<TokenAnswer> {
  return askTokens(world, application, { grant_type: 'refresh_token', refresh_token: token, ...params });
}

/** Tokens of a new grant, the shortest way. */
export async function tokensFor(
  world: World,
  person: Person,
  application: Registered,
  params: Pairs = {},
): Promise<{ access_token: string; refresh_token: string; scope: string }> {
  const { verifier, challenge } = pkce();
  const code = await codeFor(world, person, application, {
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...params,
  });
  const { redirect_uri = CALLBACK } = params;
  const answer = await exchange(world, application, code, { code_verifier: verifier, redirect_uri });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body;
}
