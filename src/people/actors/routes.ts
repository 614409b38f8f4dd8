import { ok, readRoute } from '../../contract/route.ts';
import { fail } from '../../kernel/errors.ts';
import { toJson } from '../../kernel/json.ts';
import { actors, actorsQuery, MOST_ACTORS } from './record.ts';
import { findActors } from './store.ts';

export const get = readRoute({
  operation: 'getActors',
  path: '/v2/actors',
  scope: 'account',
  needs: 'read',
  summary: 'Get the names of who did something',
  description:
    'Records say with an id who made, approved or paid them. This returns whose ids these are: people, also those who were ' +
    'removed, API keys, applications and portal links. An id of nobody in the account is left out.',
  query: actorsQuery,
  returns: { 200: actors },
  errors: ['invalid_query'],
  handle: async ({ db, account, query }) => {
    const ids = [...new Set(query.ids.split(','))];
    if (ids.length > MOST_ACTORS) throw fail('invalid_query', `ids must name at most ${MOST_ACTORS}`);
    return ok(toJson({ object: 'actors', actors: await findActors(db, account, ids) }));
  },
});
