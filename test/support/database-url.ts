import { inject } from 'vitest';
import type { World } from './world.ts';

/** Settings with which another process works on the database of a world. */
export async function settingsOf(
  world: Pick<World, 'query'>,
  pooler = inject('postgres').pooler,
): Promise<Record<string, string>> {
  const { host, port, user, password, secretKey } = inject('postgres');
  const [row] = await world.query<{ name: string }>('select current_database() as name');
  const credentials = [user, ...(password ? [password] : [])].map(encodeURIComponent).join(':');
  const urlOf = (at: { host: string; port: number }) =>
    `postgres://${credentials}@localhost:${at.port}/${row?.name}?host=${encodeURIComponent(at.host)}`;
  return {
    DATABASE_URL: urlOf(pooler ?? { host, port }),
    ...(pooler ? { DATABASE_LISTEN_URL: urlOf({ host, port }) } : {}),
    SECRET_KEY: secretKey,
  };
}
