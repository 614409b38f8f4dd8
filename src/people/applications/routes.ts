import { created, noContent, ok, page, readRoute, writeRoute } from '../../contract/route.ts';
import { listOf } from '../../contract/schemas.ts';
import { application, applicationChange, applicationInput, newApplication } from './record.ts';
import {
  changeApplication,
  createApplication,
  deleteApplication,
  getApplication,
  rotateClientSecret,
} from './service.ts';
import { applicationList, listApplications } from './store.ts';

export const list = readRoute({
  operation: 'listOAuthApplications',
  path: '/v2/oauth-applications',
  needs: 'people',
  summary: 'List OAuth applications',
  list: applicationList,
  returns: { 200: listOf(application) },
  handle: async ({ db, account, list }) => page(await listApplications(db, account, list)),
});

export const create = writeRoute({
  operation: 'createOAuthApplication',
  method: 'POST',
  path: '/v2/oauth-applications',
  needs: 'people',
  summary: 'Register an OAuth application',
  description: 'Merchants of this server can then grant it access. Its secret is shown in this answer only.',
  body: applicationInput,
  returns: { 201: newApplication },
  creates: '/v2/oauth-applications/{application_id}',
  errors: ['invalid_redirect_uri'],
  secret: 'client_secret',
  handle: async ({ tx, account, body }) => created(await createApplication(tx, account, body)),
});

export const get = readRoute({
  operation: 'getOAuthApplication',
  path: '/v2/oauth-applications/{application_id}',
  needs: 'people',
  summary: 'Get an OAuth application',
  returns: { 200: application },
  errors: ['resource_missing'],
  handle: async ({ db, account, params }) => ok(await getApplication(db, account, params.application_id)),
});

export const change = writeRoute({
  operation: 'changeOAuthApplication',
  method: 'PATCH',
  path: '/v2/oauth-applications/{application_id}',
  needs: 'people',
  summary: 'Change an OAuth application',
  description:
    'The kind cannot be changed. Removed scopes can no longer be granted; existing grants keep them.',
  body: applicationChange,
  returns: { 200: application },
  errors: ['resource_missing', 'invalid_redirect_uri'],
  handle: async ({ tx, account, params, body }) =>
    ok(await changeApplication(tx, account, params.application_id, body)),
});

export const remove = writeRoute({
  operation: 'deleteOAuthApplication',
  method: 'DELETE',
  path: '/v2/oauth-applications/{application_id}',
  needs: 'people',
  summary: 'Delete an OAuth application',
  description: 'All grants to it end at once, in every account.',
  returns: { 204: null },
  errors: ['resource_missing'],
  handle: async ({ tx, account, params }) => {
    await deleteApplication(tx, account, params.application_id);
    return noContent();
  },
});

export const rotate = writeRoute({
  operation: 'rotateOAuthApplicationSecret',
  method: 'POST',
  path: '/v2/oauth-applications/{application_id}/rotate-secret',
  needs: 'people',
  summary: 'Make a new client secret',
  description: 'The old secret stops working at once; tokens stay valid.',
  returns: { 200: newApplication },
  errors: ['resource_missing', 'application_is_public'],
  secret: 'client_secret',
  handle: async ({ tx, account, params }) => ok(await rotateClientSecret(tx, account, params.application_id)),
});
