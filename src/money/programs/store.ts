import sql, { type Sql } from 'sql-template-tag';
import { instants, type ListDefinition, type ListQuery, listPage, type Page } from '../../contract/lists.ts';
import { maybeRow, oneRow, type Reader, type Tx } from '../../db/connect.ts';
import type { AccountId } from '../../kernel/ids.ts';

const record = sql`g.id, 'affiliate_program' as object, g.name, g.hold_days, g.metadata, iso(g.created_at) as created_at,
  iso(g.updated_at) as updated_at`;

const asJson = (source: Sql) =>
  sql`select row_to_json(r)::text as json from (select ${record} from ${source} g) r`;

export const programList: ListDefinition = {
  id: 'g.id',
  sort: { id: 'g.id', created_at: 'g.created_at', name: 'g.name' },
  filters: instants('created_at', 'g.created_at'),
};

export function listPrograms(db: Reader, account: AccountId, list: ListQuery): Promise<Page> {
  return listPage(db, {
    list,
    name: 'programs',
    table: 'affiliate_programs',
    alias: 'g',
    where: sql`g.account_id = ${account}`,
    record,
  });
}

export async function readProgram(db: Reader, account: AccountId, id: number): Promise<string | null> {
  const source = sql`(select * from affiliate_programs where account_id = ${account} and id = ${id})`;
  return (await maybeRow<{ json: string }>(db, asJson(source)))?.json ?? null;
}

export async function insertProgram(
  tx: Tx,
  account: AccountId,
  program: { name: string; holdDays: number | null; metadata: object },
): Promise<string> {
  const inserted = sql`insert into affiliate_programs (account_id, name, hold_days, metadata)
                       values (${account}, ${program.name}, ${program.holdDays}, ${JSON.stringify(program.metadata)}) returning *`;
  return (await oneRow<{ json: string }>(tx, sql`with made as (${inserted}) ${asJson(sql`made`)}`)).json;
}

export async function updateProgram(
  tx: Tx,
  account: AccountId,
  id: number,
  assignments: Sql,
): Promise<string | null> {
  const updated = sql`update affiliate_programs set ${assignments}, updated_at = now()
                      where account_id = ${account} and id = ${id} returning *`;
  return (
    (await maybeRow<{ json: string }>(tx, sql`with changed as (${updated}) ${asJson(sql`changed`)}`))?.json ??
    null
  );
}
