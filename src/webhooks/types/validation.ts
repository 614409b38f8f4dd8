import type { Principal } from '../../contract/route.ts';
import type { Database } from '../../db/database.ts';
import { fail, failItems } from '../../kernel/errors.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { nameOfPath } from '../../kernel/strict-json.ts';
import type { Violation } from './keywords.ts';
import { type CompiledSchema, compileSchema, MOST_STEPS, violationOf } from './schema.ts';
import { checksOf, noteViolation, schemasOf } from './store.ts';

/** An event that is about to be published. */
interface NewEvent {
  readonly type: string;
  readonly data: unknown;
}

/** What a process knows of a type: its schema under these checks. */
interface Known {
  readonly checks: string;
  /** null = it has no schema. */
  readonly compiled: CompiledSchema | null;
  readonly bytes: number;
}

/** The maximum size of all schemas that a process keeps. */
const MOST_KEPT_BYTES = 32 << 20;
/** The memory of an entry without a schema. */
const ENTRY_BYTES = 500;
/** A schema in memory, for each byte of its JSON. */
const TIMES_ITS_TEXT = 8;
const STEPS_OF_BATCH = 5 * MOST_STEPS;
const NOTED_EVERY_MS = 60_000;

interface Schemas {
  readonly known: Map<string, Known>;
  /** By `performance.now()`: when a violation was last noted, by account and type. */
  readonly noted: Map<string, number>;
  bytes: number;
}
const schemasByDatabase = new WeakMap<Database, Schemas>();

/**
 * Checks the data of events against the schemas of their types, if the account wants that. Returns what to report to the publisher
 * of events that are accepted all the same, or null. Throws `event_violates_schema` if the account refuses them; `isBatch` says how
 * to name them.
 */
export async function checkEvents(
  db: Database,
  { account, eventChecks }: Pick<Principal, 'account' | 'eventChecks'>,
  events: readonly NewEvent[],
  isBatch: boolean,
): Promise<string | null> {
  const checks = eventChecks === undefined ? await checksOf(db.reader, account) : eventChecks;
  if (checks === null) return null;
  const compiled = await schemasFor(db, { account, checks }, [...new Set(events.map(({ type }) => type))]);
  const budget = { steps: STEPS_OF_BATCH };
  const found = events.flatMap((event, index) => {
    const violation = violationBy(compiled.get(event.type) ?? null, event.data, budget);
    return violation ? [{ event, index, violation }] : [];
  });
  if (found.length === 0) return null;
  for (const { event, violation } of found) {
    await note(db, account, {
      type: event.type,
      message: messageOf(['data', ...violation.named], violation),
    });
  }
  const messages = found.map(({ index, violation }) =>
    messageOf([...(isBatch ? ['events', index] : []), 'data', ...violation.path], violation),
  );
  if (!checks.startsWith('refuse')) return warningOf(messages);
  throw isBatch
    ? failItems(messages, events.length, 'event_violates_schema')
    : fail('event_violates_schema', `${messages[0]}, by the schema of ${events[0]?.type}`);
}

function violationBy(
  compiled: CompiledSchema | null,
  data: unknown,
  budget: { steps: number },
): Violation | null {
  if (compiled === null) return null;
  const own = { steps: Math.min(budget.steps, MOST_STEPS) };
  const before = own.steps;
  const found = violationOf(compiled, data, own);
  budget.steps -= before - own.steps;
  return found;
}

const messageOf = (path: readonly (string | number)[], { rule }: Violation) => `${nameOfPath(path)} ${rule}`;

/** Text of a header: ASCII, and not too long. */
function warningOf(messages: readonly string[]): string {
  const first = (messages[0] ?? '').slice(0, 300).replaceAll(/[^\x20-\x7e]/g, '?');
  return messages.length === 1 ? first : `${first}; and ${messages.length - 1} more`;
}

/** The schemas of types, by name. Those that this process does not know under these checks are read. */
async function schemasFor(
  db: Database,
  { account, checks }: { readonly account: AccountId; readonly checks: string },
  types: readonly string[],
): Promise<Map<string, CompiledSchema | null>> {
  const schemas = schemasByDatabase.get(db) ?? { known: new Map(), noted: new Map(), bytes: 0 };
  schemasByDatabase.set(db, schemas);
  const result = new Map<string, CompiledSchema | null>();
  for (const type of types) {
    const one = schemas.known.get(`${account} ${type}`);
    if (one?.checks === checks) result.set(type, one.compiled);
  }
  const unknown = types.filter((type) => !result.has(type));
  if (unknown.length === 0) return result;
  const read = await schemasOf(db.reader, account, unknown);
  for (const type of unknown) {
    const text = read.schemas.get(type);
    const compiled = text === undefined ? null : compileSchema(JSON.parse(text), 'data_schema');
    result.set(type, compiled);
    const bytes = ENTRY_BYTES + TIMES_ITS_TEXT * (text?.length ?? 0);
    if (read.checks !== null) keep(schemas, `${account} ${type}`, { checks: read.checks, compiled, bytes });
  }
  return result;
}

/** Keeps a schema, and drops the oldest that there is no room for. */
function keep(schemas: Schemas, name: string, known: Known): void {
  const { known: all } = schemas;
  schemas.bytes += known.bytes - (all.get(name)?.bytes ?? 0);
  all.delete(name);
  all.set(name, known);
  for (const [oldest, { bytes }] of all) {
    if (schemas.bytes <= MOST_KEPT_BYTES) break;
    all.delete(oldest);
    schemas.noted.delete(oldest);
    schemas.bytes -= bytes;
  }
}

/** Stores a violation for people to see, at most once a minute for each type. */
async function note(
  db: Database,
  account: AccountId,
  violation: { readonly type: string; readonly message: string },
): Promise<void> {
  const noted = schemasByDatabase.get(db)?.noted ?? new Map<string, number>();
  const name = `${account} ${violation.type}`;
  const last = noted.get(name);
  if (last !== undefined && performance.now() - last < NOTED_EVERY_MS) return;
  noted.set(name, performance.now());
  await db.transaction((tx) => noteViolation(tx, account, violation));
}
