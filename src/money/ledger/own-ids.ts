import sql, { raw, type Sql } from 'sql-template-tag';

const OWN = 'payhook';

/**
 * The rule that a client's `external_id` breaks, to follow the name of the field, or null. Ids that start with `payhook:`
 * are reserved for commissions that Payhook creates.
 */
export const reservedIdRule = (externalId: string): string | null =>
  externalId.startsWith(`${OWN}:`)
    ? `must not begin with ${OWN}:, which is reserved for commissions that Payhook creates`
    : null;

/**
 * SQL for the `external_id` of a commission that Payhook creates: `payhook:<kind>:<of>:<id of the commission>`. The
 * commission's new id makes it unique, even among ids stored before the prefix was reserved. `idColumn` is the SQL name
 * of that id.
 */
export function ownExternalId(kind: 'clawback' | 'returned' | 'carried', of: Sql, idColumn: string): Sql {
  return sql`concat_ws(':', ${`${OWN}:${kind}`}::text, ${of}, public_id('com', ${raw(idColumn)}))`;
}
