import sql, { raw, type Sql } from 'sql-template-tag';
import { defaults, namesOf } from '../../contract/fields.ts';
import { instants, type ListDefinition, type ListQuery, listPage, type Page } from '../../contract/lists.ts';
import { maybeRecord, oneRecord } from '../../contract/records.ts';
import type { Reader, Tx } from '../../db/database.ts';
import type { AccountId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import { PROGRAM_FIELDS } from './fields.ts';
import { type NewProgram, type Program, record } from './record.ts';

export const programList: ListDefinition = {
  id: 'g.id',
  sort: { id: 'g.id', created_at: 'g.created_at', name: 'g.name' },
  filters: instants('created_at', 'g.created_at'),
};

export function listPrograms(db: Reader, account: AccountId, list: ListQuery): Promise<Page<Program>> {
  return listPage(db, {
    list,
    name: 'programs',
    table: 'affiliate_programs',
    alias: 'g',
    where: sql`g.account_id = ${account}`,
    record,
  });
}

export function readProgram(db: Reader, account: AccountId, id: number): Promise<Json<Program> | null> {
  return maybeRecord(db, record, sql`affiliate_programs g where g.account_id = ${account} and g.id = ${id}`);
}

const DEFAULTS = defaults(PROGRAM_FIELDS);
const WRITABLE = raw(namesOf(PROGRAM_FIELDS).join(', '));

export function insertProgram(tx: Tx, account: AccountId, input: NewProgram): Promise<Json<Program>> {
  const given = JSON.stringify({ ...DEFAULTS, ...input });
  const made = sql`
    insert into affiliate_programs (account_id, ${WRITABLE})
    select ${account}, ${WRITABLE} from json_populate_record(null::affiliate_programs, ${given}) given
    returning *`;
  return oneRecord(tx, record, sql`made g`, { ctes: sql`made as (${made})` });
}

export function updateProgram(
  tx: Tx,
  account: AccountId,
  id: number,
  assignments: Sql,
): Promise<Json<Program> | null> {
  const changed = sql`update affiliate_programs set ${assignments}, updated_at = now()
                      where account_id = ${account} and id = ${id} returning *`;
  return maybeRecord(tx, record, sql`changed g`, { ctes: sql`changed as (${changed})` });
}
