import sql, { raw, type Sql } from 'sql-template-tag';
import { type Reader, rows } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';

async function missingOf(
  db: Reader,
  table: 'affiliates' | 'affiliate_programs',
  account: AccountId,
  ids: readonly number[],
): Promise<bigint[]> {
  if (ids.length === 0) return [];
  const missing = await rows<{ id: bigint }>(
    db,
    sql`select id from unnest(${ids}::int8[]) with ordinality as given (id, position)
        where not exists (select from ${raw(table)} t where t.account_id = ${account} and t.id = given.id)
        order by position`,
  );
  return missing.map((row) => row.id);
}

/** The ids that are not affiliates of the account, in the given order. */
export function missingAffiliates(db: Reader, account: AccountId, ids: readonly number[]): Promise<bigint[]> {
  return missingOf(db, 'affiliates', account, ids);
}

/** The ids that are not programs of the account, in the given order. */
export function missingPrograms(db: Reader, account: AccountId, ids: readonly number[]): Promise<bigint[]> {
  return missingOf(db, 'affiliate_programs', account, ids);
}

/**
 * The fields by which an input can reference its affiliate, each with a condition over `affiliates a` for a given text.
 */
export const AFFILIATE_NAMES = {
  affiliate_id: (given: Sql) => sql`a.id = ${given}::bigint`,
  affiliate_email: (given: Sql) => sql`lower(a.email) = lower(normalize(${given}))`,
  affiliate_external_id: (given: Sql) => sql`a.external_id = ${given}`,
} as const;
export type AffiliateName = keyof typeof AFFILIATE_NAMES;

const NAMES = Object.keys(AFFILIATE_NAMES) as AffiliateName[];

/** A reference to an affiliate in a body: exactly one of these. */
export interface AffiliateReference {
  readonly affiliate_id?: number;
  readonly affiliate_email?: string;
  readonly affiliate_external_id?: string;
}

/** The reference fields that are present. */
export function namesGiven(reference: AffiliateReference): AffiliateName[] {
  return NAMES.filter((name) => reference[name] !== undefined);
}

/** The rule that a reference breaks, or null: exactly one must be given. */
export function referenceRule(reference: AffiliateReference): string | null {
  const given = namesGiven(reference);
  if (given.length === 1) return null;
  const found = given.length === 0 ? 'none of them' : given.join(' and ');
  return `exactly one of ${NAMES.join(', ')} must name the affiliate, but the input has ${found}`;
}

/** Resolves each line's reference to an `affiliate_id`, which is undefined if there is no such affiliate. */
export async function withAffiliateIds<Line extends AffiliateReference>(
  db: Reader,
  account: AccountId,
  lines: readonly Line[],
): Promise<Line[]> {
  let named = [...lines];
  for (const name of ['affiliate_email', 'affiliate_external_id'] as const) {
    const texts = lines.flatMap((line) => line[name] ?? []);
    if (texts.length === 0) continue;
    const ids = await idsOf(db, account, name, texts);
    named = named.map((line) => {
      const text = line[name];
      return text === undefined ? line : { ...line, affiliate_id: ids.get(text) };
    });
  }
  return named;
}

async function idsOf(db: Reader, account: AccountId, name: AffiliateName, texts: readonly string[]) {
  const found = await rows<{ text: string; id: bigint }>(
    db,
    sql`select given.text, a.id from unnest(${[...new Set(texts)]}::text[]) as given (text)
        join affiliates a on a.account_id = ${account} and ${AFFILIATE_NAMES[name](sql`given.text`)}`,
  );
  return new Map(found.map(({ text, id }) => [text, Number(id)]));
}
