import { randomBytes } from 'node:crypto';
import { serve } from '../../src/app/serve.ts';
import type { Role } from '../../src/contract/roles.ts';
import { uuidOf } from '../../src/kernel/ids.ts';
import { type Person, register, signedIn, tokensFor } from '../oauth/support.ts';
import { browserAt, PASSWORD, tokenIn } from '../people/support.ts';
import { type Api, apiOf } from '../support/api.ts';
import type { World } from '../support/world.ts';
import { type Json, PAYOUTS, unique } from './fixtures.ts';

/** A way to make requests: a session, a key, a token, or the command line. */
export type SendRequest = Api['request'];

/** The API as a signed-in person calls it. */
export function as({ cookie, csrf }: Pick<Person, 'cookie' | 'csrf'>, { url }: { url: string }): SendRequest {
  const browser = apiOf(url, '');
  return (method, path, { body, headers = {} } = {}) =>
    browser.request(method, path, {
      ...(body === undefined ? {} : { body }),
      headers: { cookie: `payhook_session=${cookie}`, 'payhook-csrf': csrf, ...headers },
    });
}

/** A user with a session, and the API as they call it. */
export interface SignedInUser extends Person {
  readonly send: SendRequest;
}

/** Creates a signed-in user without an invitation. */
export async function signInUser(world: World, api: Api, role: Role = 'owner'): Promise<SignedInUser> {
  const made = await signedIn(world, { role, api });
  return { ...made, send: as(made, world) };
}

/** A key that an actor creates. */
async function keyBy(send: SendRequest, name: string): Promise<string> {
  const made = await send('POST', '/v2/api-keys', { body: { name } });
  if (made.status !== 201) throw new Error(made.text);
  return made.body.key;
}

/** Every way in which a known person acts, by name. */
export async function sendersOf(world: World, api: Api, { send, ...person }: SignedInUser) {
  const own = await keyBy(send, unique('own'));
  const further = await keyBy(apiOf(world.url, own).request, unique('made with own'));
  const { access_token } = await tokensFor(world, person, await register(api));
  return {
    'signed in': send,
    'with their key': apiOf(world.url, own).request,
    'with a key that their key made': apiOf(world.url, further).request,
    'by an application they gave access to': apiOf(world.url, access_token).request,
  } satisfies Record<string, SendRequest>;
}

/** Every way in which an unknown person acts, by name. */
export async function anonymousSenders(world: World, api: Api, operator: SendRequest) {
  const further = await keyBy(api.request, 'made with a key');
  return {
    'with an ownerless key': api.request,
    'with a key created by an ownerless key': apiOf(world.url, further).request,
    'on the command line': operator,
  } satisfies Record<string, SendRequest>;
}

/** Runs `work` with the command line of the server's machine, which calls the API of an account. */
export async function withOperator<Result>(
  world: World,
  api: Api,
  work: (operator: SendRequest) => Promise<Result>,
): Promise<Result> {
  const account = uuidOf('acc', (await api.get('/v2/account')).body.id);
  if (account === null) throw new Error('the account has no id');
  const token = randomBytes(32).toString('base64url');
  const commands = await serve(world.platform, {
    listen: { host: '127.0.0.1', port: 0 },
    operator: { token, account, cell: world.db.cell },
  });
  try {
    return await work(apiOf(commands.address, token).request);
  } finally {
    await commands.close();
  }
}

/** Follows a link to set a password; returns the signed-in user. */
export async function follow(world: World, id: string, url: string): Promise<SignedInUser> {
  const browser = browserAt(world.url);
  const answer = await browser.submit('/password', {
    token: tokenIn(url),
    password: PASSWORD,
    again: PASSWORD,
  });
  if (answer.status !== 303) throw new Error(`the link did not work: ${answer.text}`);
  const session = { id, cookie: browser.cookie() ?? '', csrf: await browser.token() };
  return { ...session, send: as(session, world) };
}

let invited = 0;
/** Invites a user, who accepts. */
export async function invite(world: World, send: SendRequest, role: Role = 'member'): Promise<SignedInUser> {
  const email = `invited-${++invited}@example.com`;
  const made = await send('POST', '/v2/users', { body: { email, name: 'Eve', role } });
  if (made.status !== 201) throw new Error(made.text);
  return follow(world, made.body.id, made.body.invitation_url);
}

/** Approves a payout. */
export const approve = ({ send }: Pick<SignedInUser, 'send'>, { id, revision }: Json) =>
  send('POST', `${PAYOUTS}/${id}/approve`, { body: { revision } });
