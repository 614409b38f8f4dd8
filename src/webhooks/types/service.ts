import type { Reader, Tx } from '../../db/database.ts';
import { type Failure, fail } from '../../kernel/errors.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { toJson } from '../../kernel/json.ts';
import { nameOfPath } from '../../kernel/strict-json.ts';
import { MOST_OWN_TYPES, type OwnTypeInput } from './record.ts';
import { compileSchema, MOST_STEPS, violationOf } from './schema.ts';
import { changeTypes, type OwnTypeRow, ownTypeNames, ownTypes, removeType, storeType } from './store.ts';
import { isEventType, ownPrefixOf } from './types.ts';

export { type OwnTypeRow, ownTypeNames, ownTypes };

/** Why nobody but Payhook has an event of this type: `invalid_event_type`, `reserved_event_type`, or null. `at` precedes `type`. */
export function typeProblem(type: string, at = ''): Failure | null {
  if (!isEventType(type))
    return fail('invalid_event_type', `${at}type must be a dotted name such as order.created`);
  const reserved = ownPrefixOf(type);
  return reserved === undefined
    ? null
    : fail('reserved_event_type', `${at}type: events under ${reserved} are reserved for Payhook`);
}

/** An own type. Throws `resource_missing`. */
export async function ownType(db: Reader, account: AccountId, type: string): Promise<OwnTypeRow> {
  const [row] = isEventType(type) ? await ownTypes(db, account, [type]) : [];
  if (row === undefined) throw fail('resource_missing', 'no such event type');
  return row;
}

/**
 * Creates or replaces an own event type. Throws `invalid_event_type`, `reserved_event_type`, `too_many_event_types`, and
 * `invalid_schema` for a schema that breaks a rule or an example that violates it.
 */
export async function putOwnType(
  tx: Tx,
  account: AccountId,
  type: string,
  {
    description,
    group = null,
    deprecation = null,
    data_schema: schema = null,
    data_example: example = null,
  }: OwnTypeInput,
): Promise<OwnTypeRow> {
  const problem = typeProblem(type);
  if (problem) throw problem;
  checkExample(schema, example);
  await changeTypes(tx, account);
  const others = (await ownTypeNames(tx, account)).filter((each) => each !== type);
  if (others.length >= MOST_OWN_TYPES)
    throw fail(
      'too_many_event_types',
      `the account has ${others.length} event types of its own, the maximum: delete one first`,
    );
  await storeType(tx, account, {
    type,
    description,
    group,
    deprecation,
    schema: schema && toJson(schema),
    example: example && toJson(example),
  });
  return ownType(tx, account, type);
}

function checkExample(schema: OwnTypeInput['data_schema'], example: OwnTypeInput['data_example']): void {
  const compiled = schema ? compileSchema(schema, 'data_schema') : null;
  const found = compiled && example ? violationOf(compiled, example, { steps: MOST_STEPS }) : null;
  if (found)
    throw fail(
      'invalid_schema',
      `${nameOfPath(['data_example', ...found.path])} ${found.rule}, by data_schema`,
    );
}

/** Deletes an own event type: its events are not checked any more. Throws `resource_missing`. */
export async function deleteOwnType(tx: Tx, account: AccountId, type: string): Promise<void> {
  await changeTypes(tx, account);
  if (!isEventType(type) || !(await removeType(tx, account, type)))
    throw fail('resource_missing', 'no such event type');
}
