import sql, { raw, type Sql } from 'sql-template-tag';

const OWN = 'payhook';

/**
 * The rule that an `external_id` from a client breaks, or null: ids that start with `payhook:` are reserved for
 * commissions that Payhook creates itself.
 */
export function externalIdRule(externalId: string): string | null {
  return externalId.startsWith(`${OWN}:`)
    ? `external_id must not begin with ${OWN}:, which is reserved for what Payhook creates itself`
    : null;
}

/**
 * SQL: the `external_id` of a commission that Payhook creates itself, `payhook:<kind>:<of>:<id of the commission>`. The
 * commission's new id makes it unique, even among ids stored before the prefix was reserved. `idColumn` is the SQL name
 * of that id.
 */
export function ownExternalId(kind: 'clawback' | 'returned' | 'carried', of: Sql, idColumn: string): Sql {
  return sql`concat_ws(':', ${`${OWN}:${kind}`}::text, ${of}, public_id('com', ${raw(idColumn)}))`;
}
