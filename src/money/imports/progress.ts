import sql, { join } from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { nullable, strict } from '../../contract/schemas.ts';
import { oneRow, type Reader, type Tx } from '../../db/database.ts';
import { LOCKS, shareLock } from '../../db/locks.ts';
import type { AccountId } from '../../kernel/ids.ts';
import type { Stage } from '../files/csv-stage.ts';

const STAGES = ['looking', 'reading', 'writing'] as const satisfies readonly Stage[];

export const progressKey = Type.String({
  pattern: '^[A-Za-z0-9_-]{8,64}$',
  description: 'a new name for this request: getImportProgress uses it to report the progress of the request',
  examples: ['september-commissions'],
});

export const importProgress = strict(
  {
    object: Type.Literal('import_progress'),
    stage: nullable(
      Type.Enum([...STAGES], {
        description:
          'looking: how the file is to be read; reading: its lines; writing: comparing them with what is there, and ' +
          'writing. null: no request with this key is being worked on: the file has not arrived as a whole, or it is done',
      }),
    ),
    lines_read: nullable(Type.Integer({ minimum: 0, description: 'good lines so far, while they are read' })),
  },
  { title: 'ImportProgress' },
);
type ImportProgress = Static<typeof importProgress>;

/**
 * Shows other transactions the progress of this one. It shares a lock for each stage it enters, which every process on the database
 * sees at once, and which is gone with the transaction, whatever ends it. Without a key nobody can ask.
 */
export const stagesOf =
  (tx: Tx, account: AccountId, key: string | undefined): ((stage: Stage) => Promise<void>) =>
  async (stage) => {
    if (key !== undefined) await shareLock(tx, LOCKS.importStage(account, key, stage));
  };

/** How far the request with this key is. PostgreSQL itself counts the lines that are read. */
export async function readProgress(
  db: Reader,
  account: AccountId,
  key: string,
): Promise<Pick<ImportProgress, 'stage' | 'lines_read'>> {
  const stages = STAGES.map(
    (stage, place) => sql`(${place}::int, ${LOCKS.importStage(account, key, stage)(db.cell)})`,
  );
  const { stage, lines_read } = await oneRow<{ stage: Stage | null; lines_read: bigint | null }>(
    db,
    sql`with entered as (
          select s.place, l.pid from (values ${join(stages)}) s (place, key)
          join pg_locks l on l.locktype = 'advisory' and l.granted and l.objsubid = 1
            and l.database = (select oid from pg_database where datname = current_database())
            and (l.classid::int8 << 32) | l.objid::int8 = s.key
          order by s.place desc limit 1)
        select (${[...STAGES]}::text[])[(select place from entered) + 1] as stage,
               (select c.tuples_processed from pg_stat_progress_copy c join entered e on e.pid = c.pid
                where e.place = ${STAGES.indexOf('reading')}::int) as lines_read`,
  );
  return { stage, lines_read: lines_read === null ? null : Number(lines_read) };
}
