import { created, noContent, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import { eraseUser } from './erase.ts';
import { invitation, newUser, passwordReset, user, userChange } from './record.ts';
import { changeUser, getUser, inviteUser, removeUser, resetPassword } from './service.ts';
import { listUsers, userList } from './store.ts';

export const list = readRoute({
  operation: 'listUsers',
  path: '/v2/users',
  needs: 'people',
  summary: 'List users',
  description: 'Removed users are listed only with `status=removed`.',
  list: userList,
  returns: { 200: listOf(user) },
  handle: async ({ db, account, list }) => page(await listUsers(db, account, list)),
});

export const create = writeRoute({
  operation: 'createUser',
  method: 'POST',
  path: '/v2/users',
  needs: 'people',
  summary: 'Invite a user',
  description:
    'Pass on `invitation_url`, which works once, for 7 days; where the server sends e-mail (`is_emailed`), the user gets it ' +
    'too. There the user joins with the password they already have on this server from another account, or chooses a new ' +
    'one. The answer does not reveal which.',
  body: invitation,
  returns: { 201: newUser },
  creates: '/v2/users/{user_id}',
  errors: ['duplicate_email', 'owner_required'],
  secret: 'invitation_url',
  handle: async ({ tx, principal, env, body }) =>
    created(await inviteUser(tx, { principal, vault: env.vault, pages: env.authorizeUrl() }, body)),
});

export const get = readRoute({
  operation: 'getUser',
  path: '/v2/users/{user_id}',
  needs: 'people',
  summary: 'Get a user',
  description: 'Removed users can be read too.',
  returns: { 200: user },
  errors: ['resource_missing'],
  handle: async ({ db, account, params }) => ok(await getUser(db, account, params.user_id)),
});

export const change = writeRoute({
  operation: 'changeUser',
  method: 'PATCH',
  path: '/v2/users/{user_id}',
  needs: 'people',
  summary: 'Change the name or the role of a user',
  description:
    'A new role applies from the next request. What an owner granted to applications ends when they become a member ' +
    'or a viewer, and does not come back with the role.',
  body: userChange,
  returns: { 200: user },
  errors: ['resource_missing', 'last_owner', 'owner_required'],
  handle: async ({ tx, principal, requestId, params, body }) =>
    ok(await changeUser(tx, { principal, requestId }, params.user_id, body)),
});

export const remove = writeRoute({
  operation: 'deleteUser',
  method: 'DELETE',
  path: '/v2/users/{user_id}',
  needs: 'people',
  summary: 'Delete a user',
  description:
    'Sessions in this account, links and grants end at once; other accounts of the same person are not affected. What ' +
    'the user did stays attributed to them: `getUser` still answers.',
  returns: { 204: null },
  errors: ['resource_missing', 'last_owner'],
  handle: async ({ tx, account, params }) => {
    await removeUser(tx, account, params.user_id);
    return noContent();
  },
});

export const erase = writeRoute({
  operation: 'eraseUser',
  method: 'POST',
  path: '/v2/users/{user_id}/erase',
  needs: 'people',
  summary: 'Erase the person behind a user',
  description:
    'Name, e-mail address, and the browsers and addresses they signed in from are removed permanently. A ' +
    'user who is still there is removed first. The record and its id stay, so what they did stays attributed to it. Other ' +
    'accounts of the same person are not affected.',
  returns: { 200: user },
  errors: ['resource_missing', 'last_owner'],
  handle: async ({ tx, account, params }) => ok(await eraseUser(tx, account, params.user_id)),
});

export const reset = writeRoute({
  operation: 'resetUserPassword',
  method: 'POST',
  path: '/v2/users/{user_id}/reset-password',
  needs: 'people',
  summary: 'Make a link to choose a new password',
  description:
    'The link works once, for a day. For a user who has not accepted the invitation it is a new one, for 7 days. The ' +
    'old password works until the link is used; then all sessions end. Somebody who is also a member of another ' +
    'account must change the password themselves or use a link from the operator, because it opens both accounts.',
  returns: { 200: passwordReset },
  errors: ['resource_missing', 'member_elsewhere', 'owner_required'],
  secret: 'reset_url',
  handle: async ({ tx, principal, env, params }) =>
    ok(await resetPassword(tx, { principal, vault: env.vault, pages: env.authorizeUrl() }, params.user_id)),
});
