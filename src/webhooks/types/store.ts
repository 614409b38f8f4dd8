import sql, { raw } from 'sql-template-tag';
import { type Reader, rows, type Tx } from '../../db/database.ts';
import { EVENT_CHECKS } from '../../db/event-checks.ts';
import type { AccountId } from '../../kernel/ids.ts';

/** An own event type as stored; schema and example are JSON text. */
export interface OwnTypeRow {
  readonly type: string;
  readonly description: string;
  readonly group: string | null;
  readonly deprecation: string | null;
  readonly schema: string | null;
  readonly example: string | null;
  readonly violatedAt: string | null;
  readonly violation: string | null;
}

const columns = sql`type, description, group_name as "group", deprecation, data_schema as schema, data_example as example,
  iso(violated_at) as "violatedAt", violation`;

/** The names of an account's own types. */
export async function ownTypeNames(db: Reader, account: AccountId): Promise<string[]> {
  const found = await rows<{ type: string }>(
    db,
    sql`select type from event_types where account_id = ${account}`,
  );
  return found.map(({ type }) => type);
}

/** The own types with these names. */
export function ownTypes(db: Reader, account: AccountId, types: readonly string[]): Promise<OwnTypeRow[]> {
  return rows(
    db,
    sql`select ${columns} from event_types where account_id = ${account} and type = any(${[...types]}::text[])`,
  );
}

/** Notes that a type of the account changes. Nobody else can change one until the transaction ends. */
export async function changeTypes(tx: Tx, account: AccountId): Promise<void> {
  await rows(
    tx,
    sql`update accounts set event_types_revision = event_types_revision + 1 where id = ${account}`,
  );
}

/** Stores a type, in place of the one with its name. */
export async function storeType(
  tx: Tx,
  account: AccountId,
  { type, description, group, deprecation, schema, example }: Omit<OwnTypeRow, 'violatedAt' | 'violation'>,
): Promise<void> {
  await rows(
    tx,
    sql`insert into event_types (account_id, type, description, group_name, deprecation, data_schema, data_example)
        values (${account}, ${type}, ${description}, ${group}, ${deprecation}, ${schema}::json, ${example}::json)
        on conflict (account_id, type) do update
          set description = excluded.description, group_name = excluded.group_name, deprecation = excluded.deprecation,
              data_schema = excluded.data_schema, data_example = excluded.data_example, violated_at = null, violation = null`,
  );
}

/** Deletes a type; false when there is none. */
export async function removeType(tx: Tx, account: AccountId, type: string): Promise<boolean> {
  const done = await rows(
    tx,
    sql`delete from event_types where account_id = ${account} and type = ${type} returning 1`,
  );
  return done.length === 1;
}

/** How the events of an account are checked now; null = they are not. */
export async function checksOf(db: Reader, account: AccountId): Promise<string | null> {
  const [found] = await rows<{ checks: string | null }>(
    db,
    sql`select ${raw(EVENT_CHECKS)} as checks from accounts a where a.id = ${account}`,
    'event_checks',
  );
  return found?.checks ?? null;
}

/** The schemas of those of the types that have one, and the checks that they belong to. */
export async function schemasOf(
  db: Reader,
  account: AccountId,
  types: readonly string[],
): Promise<{ readonly checks: string | null; readonly schemas: ReadonlyMap<string, string> }> {
  const found = await rows<{ checks: string | null; type: string | null; schema: string | null }>(
    db,
    sql`select ${raw(EVENT_CHECKS)} as checks, t.type, t.data_schema as schema
        from accounts a left join event_types t
          on t.account_id = a.id and t.type = any(${[...types]}::text[]) and t.data_schema is not null
        where a.id = ${account}`,
  );
  const schemas = found.flatMap(({ type, schema }) =>
    type === null || schema === null ? [] : [[type, schema] as const],
  );
  return { checks: found[0]?.checks ?? null, schemas: new Map(schemas) };
}

/** Notes the violation of a type, unless another was noted within a minute, or is being noted. */
export async function noteViolation(
  tx: Tx,
  account: AccountId,
  { type, message }: { readonly type: string; readonly message: string },
): Promise<void> {
  await rows(
    tx,
    sql`update event_types set violated_at = now_ms(), violation = ${message}
        where account_id = ${account} and type = (
          select type from event_types
          where account_id = ${account} and type = ${type}
            and (violated_at is null or violated_at < now() - interval '1 minute')
          for no key update skip locked)`,
  );
}
