import type { Logger } from 'pino';
import sql from 'sql-template-tag';
import { ALL_SCOPES } from '../../contract/scopes.ts';
import type { Database, Tx } from '../../db/database.ts';
import { rows } from '../../db/database.ts';
import { Failure } from '../../kernel/errors.ts';
import { idOf, type ScheduleId } from '../../kernel/ids.ts';
import { notify } from '../../notices/notices.ts';
import { note } from '../../people/audit/service.ts';
import { createPayout } from '../payouts/service.ts';
import { nextDay } from './days.ts';
import { type DueSchedule, lockDue, noteRun, type Outcome } from './store.ts';

/**
 * Runs every due schedule, each in its own transaction. The payout and the next due day are committed together, so a day
 * never runs twice on any number of servers, and if a server dies the schedule stays due.
 */
export async function runSchedules({ db, log }: { db: Database; log: Logger }): Promise<void> {
  const failed: ScheduleId[] = [];
  for (;;) {
    let due: DueSchedule | null = null;
    try {
      await db.transaction(
        async (tx) => {
          due = await lockDue(tx, failed);
          if (due !== null) await run(tx, due);
        },
        { takesLong: true },
      );
    } catch (error) {
      if (due === null) throw error;
      // it stays due, and the others continue
      failed.push((due as DueSchedule).id);
      log.error(
        { err: error, schedule: idOf('psc', (due as DueSchedule).id) },
        'a schedule could not be run',
      );
    }
    if (due === null) return;
  }
}

async function run(tx: Tx, due: DueSchedule): Promise<void> {
  const result = await prepare(tx, due);
  await noteRun(tx, due, result, nextDay(due, due.today));
  const { account, name } = due;
  const made = result.outcome === 'created' ? idOf('po', result.payout) : null;
  await notify(tx, [
    result.outcome === 'created'
      ? { account, kind: 'payout_prepared', subject: made, data: { name } }
      : {
          account,
          kind: 'schedule_skipped',
          subject: idOf('psc', due.id),
          data: { name, message: result.reason },
        },
  ]);
}

/** Creates the payout on behalf of the schedule's author, or returns why there is none. */
async function prepare(tx: Tx, due: DueSchedule): Promise<Outcome> {
  const { account, filters, search, ignore_minimum } = due;
  const maker = {
    account,
    id: due.maker_id,
    kind: due.maker_kind,
    scopes: ALL_SCOPES,
    role: 'owner',
  } as const;
  const selection = { filters: filters === null ? null : JSON.parse(filters), search, ignore_minimum };
  await rows(tx, sql`savepoint before_payout`);
  try {
    const { id } = await createPayout(tx, maker, { user: due.maker_user, schedule: due.id }, selection);
    await note(
      tx,
      { ...maker, ...(due.maker_user ? { user: due.maker_user } : {}) },
      {
        action: 'runPayoutSchedule',
        target: idOf('po', id),
        requestId: `${idOf('psc', due.id)}-${due.today}`,
      },
    );
    return { outcome: 'created', payout: id };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    await rows(tx, sql`rollback to savepoint before_payout`);
    return { outcome: error.reason === 'nothing_to_pay' ? 'empty' : 'refused', reason: error.message };
  }
}
