/**
 * The server with one more route, which publishes an event in a transaction of its own: what POST /v2/events would be
 * if requests did not share one. Run as a separate process with DATA_DIR, where a server runs already, and PORT.
 */
import { Type } from 'typebox';
import { openPlatform } from '../src/app/platform.ts';
import { serve } from '../src/app/serve.ts';
import { created, type Route, writeRoute } from '../src/contract/route.ts';
import { ROUTES } from '../src/http/routes.ts';
import { readConfig } from '../src/kernel/config.ts';
import { Failure } from '../src/kernel/errors.ts';
import { MAX_PAYLOAD_BYTES } from '../src/outbox/event.ts';
import { publishForeign } from '../src/outbox/queue.ts';
import { event } from '../src/webhooks/events/record.ts';

(ROUTES as Route[]).push(
  writeRoute({
    operation: 'publishOneByOne',
    method: 'POST',
    path: '/v2/events/one-by-one',
    needs: 'own',
    summary: '',
    bodyLimit: 2 * MAX_PAYLOAD_BYTES,
    body: Type.Object({ type: Type.String(), data: Type.Record(Type.String(), Type.Unknown()) }),
    returns: { 201: event },
    unaudited: true,
    handle: async ({ tx, account, body: { type }, json }) => {
      const [made] = await publishForeign(tx, [
        {
          account,
          type,
          id: null,
          body: json.text,
          orderingKey: null,
          owner: null,
          tags: [],
          trace: null,
          at: '',
        },
      ]);
      if (made === undefined || made instanceof Failure) throw made ?? new Error('nothing was published');
      return created(made);
    },
  }),
);

const config = readConfig(process.env);
const platform = await openPlatform(config, { purpose: 'command' });
const server = await serve(platform, { listen: { host: config.host, port: config.port } });
process.once('SIGTERM', async () => {
  await server.close();
  await platform.close();
});
