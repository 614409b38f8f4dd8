import sql from 'sql-template-tag';
import { type Reader, rows } from '../../db/database.ts';
import { type AccountId, idOf } from '../../kernel/ids.ts';
import { fromJson, type Json } from '../../kernel/json.ts';
import { isWithdrawn } from './debtor.ts';
import { isPayroll } from './originator.ts';
import type { Payer } from './record.ts';

/** An account whose bank files banks may refuse. */
export interface RefusedSetting {
  /** The public id. */
  readonly account: string;
  readonly setting: 'originator.person_entry_description' | 'debtor.message';
  /** What banks take. */
  readonly wanted: string;
}

/** The settings of all accounts by which banks may refuse files; at most 100. */
export async function findRefusedSettings(db: Reader): Promise<RefusedSetting[]> {
  const payers = await rows<{ readonly id: AccountId; readonly json: Json<Payer> }>(
    db,
    sql`select id, json_build_object('debtor', debtor, 'originator', originator)::text as json
        from accounts where debtor is not null or originator is not null order by id`,
  );
  const found = payers.flatMap(({ id, json }): RefusedSetting[] => {
    const { debtor, originator } = fromJson(json);
    const account = idOf('acc', id);
    return [
      ...(originator === null || isPayroll(originator)
        ? []
        : [{ account, setting: 'originator.person_entry_description', wanted: 'PAYROLL' } as const]),
      ...(debtor === null || !isWithdrawn(debtor)
        ? []
        : [{ account, setting: 'debtor.message', wanted: 'pain.001.001.09' } as const]),
    ];
  });
  return found.slice(0, 100);
}
