import { inject } from 'vitest';
import type { World } from './world.ts';

/** The URL of a PostgreSQL, as in a setting. */
export function urlOf({ host, port, user, password, database }: Address): string {
  const credentials = [user, ...(password ? [password] : [])].map(encodeURIComponent).join(':');
  return `postgres://${credentials}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
}

interface Address {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password?: string | undefined;
  readonly database: string;
}

/** The settings with which another process uses the database of a world. */
export async function settingsOf(
  world: Pick<World, 'query'>,
  pooler = inject('postgres').pooler,
): Promise<Record<string, string>> {
  const { secretKey, ...postgres } = inject('postgres');
  const [row] = await world.query<{ name: string }>('select current_database() as name');
  const direct = { ...postgres, database: row?.name ?? '' };
  return {
    DATABASE_URL: urlOf(pooler ? { ...direct, host: pooler.host, port: pooler.port } : direct),
    ...(pooler ? { DATABASE_LISTEN_URL: urlOf(direct) } : {}),
    SECRET_KEY: secretKey,
  };
}
