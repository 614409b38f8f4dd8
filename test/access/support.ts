import { createHash } from 'node:crypto';
import type { Role } from '../../src/contract/roles.ts';
import { browserAt, makeUser } from '../people/support.ts';
import type { Answer, Api, RequestOptions } from '../support/api.ts';
import { apiOf } from '../support/api.ts';
import type { World } from '../support/world.ts';
import { nobodys, type Operation, pathOf } from '../tenants/support.ts';

/** The credentials of a request. */
export type Credentials = Readonly<Record<string, string>>;

export const bearer = (secret: string): Credentials => ({ authorization: `Bearer ${secret}` });

/** A signed-in user. */
export interface Member {
  readonly id: string;
  readonly cookie: string;
  readonly csrf: string;
  /** The cookie alone: what another site can make a browser send. */
  readonly cookieOnly: Credentials;
  /** What our own pages send. */
  readonly credentials: Credentials;
}

/** Invites a user, who chooses a password and is signed in by that. */
export async function memberOf(api: Api, role: Role): Promise<Member> {
  const { id, browser } = await makeUser(api, role);
  return signedInAs(api.url, id, browser.cookie() ?? '');
}

/** The user of a live session. */
export async function signedInAs(url: string, id: string, cookie: string): Promise<Member> {
  const csrf = await browserAt(url, cookie).token();
  const cookieOnly = { cookie: `payhook_session=${cookie}` };
  return { id, cookie, csrf, cookieOnly, credentials: { ...cookieOnly, 'payhook-csrf': csrf } };
}

/** Sends a request with credentials instead of a key. */
export function send(
  world: Pick<World, 'url'>,
  credentials: Credentials,
  [method, path, { body, headers = {} } = {}]: readonly [string, string, RequestOptions?],
): Promise<Answer> {
  return apiOf(world.url, '').request(method, path, { body, headers: { ...headers, ...credentials } });
}

/** How an operation is called: with the key of `api`, or as a signed-in user where only people may call it. */
export const askerOf = (api: Api, member: Member, isForPeople: boolean): Api['request'] =>
  isForPeople
    ? (method, path, options = {}) => send(api, member.credentials, [method, path, options])
    : api.request;

/** A hash in its stored form, for a query. */
export const hashOf = (secret: string) => createHash('sha256').update(secret).digest();

/** Whether the body of an operation is a file. */
export const isUpload = ({ mediaType }: Pick<Operation, 'mediaType'>): boolean =>
  mediaType === 'text/csv' || mediaType === 'application/octet-stream';

/** A request that no operation carries out: nobody has its ids, and its body is invalid. */
export function nonsense(
  operation: Pick<Operation, 'method' | 'path' | 'query' | 'mediaType'>,
): readonly [string, string, RequestOptions] {
  const { method, mediaType } = operation;
  const path = pathOf(operation, nobodys);
  if (method === 'GET') return [method, path, {}];
  if (mediaType === undefined || !isUpload(operation)) return [method, path, { body: { nonsense: true } }];
  return [method, path, { body: '"a cell without an end', headers: { 'content-type': mediaType } }];
}
