import { inject } from 'vitest';
import type { World } from './world.ts';

/** Settings with which another process works on the database of a world. */
export async function settingsOf(world: Pick<World, 'query'>): Promise<Record<string, string>> {
  const { host, port, user, password, secretKey } = inject('postgres');
  const [row] = await world.query<{ name: string }>('select current_database() as name');
  const credentials = [user, ...(password ? [password] : [])].map(encodeURIComponent).join(':');
  return {
    DATABASE_URL: `postgres://${credentials}@localhost:${port}/${row?.name}?host=${encodeURIComponent(host)}`,
    SECRET_KEY: secretKey,
  };
}
