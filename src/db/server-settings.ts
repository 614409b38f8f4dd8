import sql from 'sql-template-tag';
import { type Reader, rows } from './database.ts';

/** Settings of a PostgreSQL server, as they are for a new session of ours before it sets its own: values by name. */
export type ServerSettings = Readonly<Record<string, string>>;

/** A setting that harms Payhook with some values. */
interface Harm {
  readonly name: string;
  /** Null = the value does no harm. In: the value, and how many connections one process may open. */
  readonly why: (value: string, connections: number) => string | null;
}

const unless = (wanted: string, why: string) => (value: string) => (value === wanted ? null : why);
/** What is left for superusers, and for what an operator does. */
const RESERVED = 10;

const HARMS: readonly Harm[] = [
  {
    name: 'synchronous_commit',
    why: (value) => (value === 'off' ? 'a crash of PostgreSQL loses acknowledged changes: set it on' : null),
  },
  { name: 'full_page_writes', why: unless('on', 'a power cut can destroy tables: set it on') },
  { name: 'autovacuum', why: unless('on', 'tables grow without end, and plans get worse: set it on') },
  {
    name: 'default_transaction_isolation',
    why: unless(
      'read committed',
      'requests that happen at once fail: set it to read committed for the role of Payhook',
    ),
  },
  {
    name: 'transaction_timeout',
    why: unless('0', 'cuts off long imports and downloads: leave it 0 for the role of Payhook'),
  },
  {
    name: 'max_connections',
    why: (value, connections) =>
      Number(value) < connections + RESERVED
        ? `one server opens up to ${connections} connections: set it to ${connections + RESERVED} or more, or DATABASE_POOL_SIZE lower`
        : null,
  },
];

/** The settings that `harmfulSettings` judges, and `jit`; one that the server does not have is absent. */
export async function readServerSettings(db: Reader): Promise<ServerSettings> {
  const names = [...HARMS.map(({ name }) => name), 'jit'];
  const found = await rows<{ name: string; value: string }>(
    db,
    sql`select name, reset_val as value from pg_settings where name = any(${names}::text[])`,
  );
  return Object.fromEntries(found.map(({ name, value }) => [name, value]));
}

/** The settings that harm Payhook, each with its value, the reason and the remedy. `connections` = of one process, at most. */
export function harmfulSettings(settings: ServerSettings, connections: number): string[] {
  return HARMS.flatMap(({ name, why }) => {
    const value = settings[name];
    const harm = value === undefined ? null : why(value, connections);
    return harm === null ? [] : [`${name} = ${value}: ${harm}`];
  });
}
