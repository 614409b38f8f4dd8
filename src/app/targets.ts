import type { EmbeddedDatabase } from '../db/embedded/open.ts';
import type { Config } from '../kernel/config.ts';
import { addressesOf } from '../kernel/database-url.ts';

/** The PostgreSQL servers of the settings. */
export function targetsOf(
  { databaseUrl, databaseListenUrl, databaseReplicaUrl }: Config,
  embedded: EmbeddedDatabase | undefined,
) {
  if (embedded) return { target: embedded.connection, replica: undefined };
  const at = (url: string) => (addressesOf(url) ?? []).map((connectionString) => ({ connectionString }));
  return {
    target: at(databaseUrl ?? ''),
    direct: databaseListenUrl === undefined ? undefined : at(databaseListenUrl),
    replica: databaseReplicaUrl === undefined ? undefined : at(databaseReplicaUrl)[0],
  };
}
