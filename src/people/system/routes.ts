import { ok, readRoute } from '../../contract/route.ts';
import { system } from './record.ts';
import { describeSystem } from './service.ts';

export const get = readRoute({
  operation: 'getSystem',
  path: '/v2/system',
  needs: 'own',
  summary: 'Get the state of the installation',
  description:
    'For whoever runs the server: keys and owners of the account that was made first. Version, schema, database, disk, ' +
    'what waits to be delivered, when each chore was last done, the last backup, the replica, and the cells. The backlog and the ' +
    'alerts are sums of all cells that can be reached; without a note to the contrary, the rest is of cell 0.',
  returns: { 200: system },
  errors: ['installation_only'],
  handle: async ({ db, principal, env }) =>
    ok(
      await describeSystem(db, principal, {
        disk: await env.disk(),
        replica: env.replica?.state() ?? null,
        cells: env.cells(),
      }),
    ),
});
