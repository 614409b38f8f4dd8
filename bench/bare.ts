/**
 * The floor under a GET: Fastify, a pool and one statement; no authentication, no schema, no log. Run as a separate
 * process with PORT, and BARE = {connection, routes: {path: {text, values}}}; a row's `body` is the answer.
 */
import Fastify from 'fastify';
import pg from 'pg';

interface Settings {
  readonly connection: pg.PoolConfig;
  readonly routes: Readonly<Record<string, { text: string; values: unknown[] }>>;
}

const { connection, routes } = JSON.parse(process.env.BARE ?? '{}') as Settings;
const pool = new pg.Pool({ ...connection, max: 10 });
const app = Fastify();
for (const [path, { text, values }] of Object.entries(routes)) {
  app.get(path, async (_, reply) => {
    const { rows } = await pool.query<Record<string, unknown>>({ text, values });
    const body = rows[0]?.json ?? `{"data":${rows[0]?.data},"pagination":{"total":${rows[0]?.total}}}`;
    return reply.type('application/json').send(body);
  });
}
app.get('/readyz', async () => ({ status: 'ready' }));
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
process.once('SIGTERM', async () => {
  await app.close();
  await pool.end();
});
