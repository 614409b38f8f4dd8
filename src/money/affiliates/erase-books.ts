import sql, { join, raw, type Sql } from 'sql-template-tag';
import { type Fields, namesOf, type TextErasure, type WritableField } from '../../contract/fields.ts';
import { maybeRow, rows, type Tx } from '../../db/database.ts';
import { linesOf, type Patterns, tellsOf, withoutAddress, withoutPerson } from '../../erasure/person.ts';
import type { AccountId } from '../../kernel/ids.ts';
import { COMMISSION_FIELDS } from '../commissions/fields.ts';
import { lockBooks } from '../ledger/books.ts';
import { REFUND_FIELDS } from '../refunds/fields.ts';

/** Whose traces are looked for, and how. */
export interface Sought {
  readonly account: AccountId;
  readonly affiliate: bigint;
  readonly patterns: Patterns;
}

/** The columns of a table that may name a person. */
interface Texts {
  /** Ids of the merchant's: only an e-mail address in them is replaced, so that what refers to each other still does. */
  readonly ids?: readonly string[];
  readonly texts?: readonly string[];
  readonly jsons?: readonly string[];
}

/** The columns of these fields that may name a person. */
function textsOf(fields: Fields<WritableField & { readonly erasure: TextErasure }>): Required<Texts> {
  const named = (erasure: TextErasure) => namesOf(fields, (field) => field.erasure === erasure);
  return { ids: named('id'), texts: named('text'), jsons: named('json') };
}

const COMMISSION = textsOf(COMMISSION_FIELDS);
const COMMISSION_TEXTS: Texts = { ...COMMISSION, texts: [...COMMISSION.texts, 'void_reason'] };

/** Tables that are small compared with the commissions, and whether each row belongs to an affiliate. */
const OTHERS: Readonly<Record<string, Texts & { readonly isOf?: true }>> = {
  affiliates: { jsons: ['metadata'] },
  affiliate_programs: { jsons: ['metadata'] },
  payouts: { texts: ['search', 'decision_note'], jsons: ['filters', 'metadata'] },
  payout_line_totals: { texts: ['payment_reference'], isOf: true },
  payout_approvals: { texts: ['note'] },
  payout_returns: { ids: ['external_id'], texts: ['reason', 'reference'], isOf: true },
  refunds: { ...textsOf(REFUND_FIELDS), jsons: ['request'] },
  refund_lines: { ids: ['order_id', 'product_id', 'order_line_id', 'commission_external_id'] },
  imports: { texts: ['file_name'], jsons: ['mapping', 'guessed'] },
};

const SCHEDULE: Texts = { texts: ['name', 'search', 'last_reason'], jsons: ['filters'] };

const AT_ONCE = 5000;

/** Takes the person out of a slice of the commissions behind a UUID. Returns the last one's; null = there are no more. */
export async function eraseFromCommissions(tx: Tx, sought: Sought, cursor: string): Promise<string | null> {
  const { account, affiliate } = sought;
  const slice = sql`select id from commissions where account_id = ${account} and id > ${cursor}::uuid
    order by id limit ${AT_ONCE}::int`;
  const last = await maybeRow<{ id: string }>(tx, sql`select id from (${slice}) s order by id desc limit 1`);
  if (last === null) return null;
  await rewrite(tx, sought, {
    table: 'commissions',
    columns: COMMISSION_TEXTS,
    where: sql`t.id > ${cursor}::uuid and t.id <= ${last.id}::uuid`,
    isOf: sql`t.affiliate_id = ${affiliate}`,
  });
  return last.id;
}

/** Takes the person out of the other books of the account. */
export async function eraseFromBooks(tx: Tx, sought: Sought): Promise<void> {
  // before the books, as a schedule that runs locks them
  await rewrite(tx, sought, {
    table: 'payout_schedules',
    columns: SCHEDULE,
    where: sql`true`,
    isOf: sql`false`,
  });
  await lockBooks(tx, sought.account);
  for (const [table, { isOf, ...columns }] of Object.entries(OTHERS)) {
    await rewrite(tx, sought, {
      table,
      columns,
      where: sql`true`,
      isOf: isOf ? sql`t.affiliate_id = ${sought.affiliate}` : sql`false`,
    });
  }
}

interface Rewriting {
  readonly table: string;
  readonly columns: Texts;
  /** Which rows `t` are looked at. */
  readonly where: Sql;
  /** Whether a row is about the person even if it does not say so: one name in it is then enough. */
  readonly isOf: Sql;
}

/** Rewrites only the rows that name the person. */
async function rewrite(tx: Tx, { account, patterns }: Sought, wanted: Rewriting): Promise<void> {
  const { ids = [], texts = [], jsons = [] } = wanted.columns;
  // imports keep the text as it was given
  const jsonType = raw(wanted.table === 'imports' ? 'json' : 'jsonb');
  const column = (name: string) => raw(`t.${name}`);
  const text = linesOf([...ids, ...texts, ...jsons].map((name) => sql`${column(name)}::text`));
  const changes = [
    ...ids.map((name) => [name, withoutAddress(column(name), patterns)] as const),
    ...texts.map((name) => [name, withoutPerson(column(name), patterns)] as const),
    ...jsons.map((name) => {
      const rewritten = withoutPerson(sql`${column(name)}::text`, patterns);
      return [name, sql`(${rewritten})::${jsonType}`] as const;
    }),
  ];
  const assignments = changes.map(([name, value]) => sql`${raw(name)} = ${value}`);
  const differ = changes.map(([name, value]) => sql`${column(name)}::text is distinct from (${value})::text`);
  await rows(
    tx,
    sql`update ${raw(wanted.table)} t set ${join(assignments)}
        where t.account_id = ${account} and ${wanted.where} and (${wanted.isOf} or ${tellsOf(text, patterns)})
          and (${join(differ, ' or ')})`,
  );
}
