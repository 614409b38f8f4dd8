import type { Logger } from 'pino';
import { alertChores } from '../alerts/sender/chores.ts';
import { markingOf } from '../cells/people.ts';
import { type Chore, type ChoreName, type Slice, untilDone } from '../db/chores.ts';
import { noteLatestTime, readLatestTime } from '../db/clock.ts';
import type { Database, Tx } from '../db/database.ts';
import { makePartitions, needsPartitions } from '../db/partitions.ts';
import { forgetOldReplies, keyPlainDigests, redateReplies } from '../http/idempotency.ts';
import { endUndo } from '../money/imports/retention.ts';
import { foldArrivals } from '../money/ledger/arrivals.ts';
import { BALANCES_CHORE, foldingOf } from '../money/ledger/balance-folding.ts';
import { foldSeries } from '../money/ledger/series.ts';
import { deleteOldNachaDays } from '../money/payment-files/file-sets.ts';
import { notifyOfApprovals } from '../money/payouts/approval-alerts.ts';
import { runSchedules } from '../money/schedules/run.ts';
import { notifyOfAgreements } from '../money/tax-profiles/agreement-alerts.ts';
import { notifyOfForms } from '../money/tax-profiles/form-alerts.ts';
import { repairTokenTimes } from '../oauth/service.ts';
import { deleteExpiredCodes, deleteExpiredTokens, deleteUnusedGrants } from '../oauth/store.ts';
import { foldCounts } from '../outbox/counts.ts';
import { deleteOldEntries } from '../people/audit/retention.ts';
import { deleteOldSessions, repairSessionTimes } from '../people/sessions/store.ts';
import { deleteOldFailures, deleteOldLinks, repairLinkTimes } from '../people/users/store.ts';
import type { Threads } from '../threads/pool.ts';
import { repairEndpointTimes, repairQueueTimes } from '../webhooks/engine/clock-repair.ts';
import { dropOldWeeks } from '../webhooks/engine/retention.ts';
import { speedUpFilters } from '../webhooks/filters/columns.ts';
import { deleteOldPortalLinks, repairPortalLinkTimes } from '../webhooks/portal/store.ts';
import { addressOf } from './address.ts';
import { backupChores } from './backup/schedule.ts';
import { diskChores } from './disk-alerts.ts';
import { eraseSlice } from './erasures.ts';
import { noticePapers } from './notice-papers.ts';
import type { Platform } from './platform.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** Clocks drift and are corrected; a larger change within a second is a jump. */
const STEP_MS = 1000;

type Place = Pick<Platform, 'db' | 'cells' | 'log' | 'config' | 'vault' | 'embedded'> & {
  /** Without threads, no notices are sent to affiliates: their documents are made there. */
  readonly threads?: Threads | undefined;
};

/** The chores of a database. Every server and every worker runs all of them. */
export function choresOf({ cells, db, log, config, vault, embedded, threads }: Place): readonly Chore[] {
  const papers = threads === undefined ? null : noticePapers({ vault, threads });
  return [
    { name: 'clock', everyMs: SECOND_MS, run: watchClock(db, log) },
    // sums stored with the rows they count
    { name: 'delivery counts', everyMs: 2 * SECOND_MS, run: () => foldCounts(db) },
    { name: BALANCES_CHORE, everyMs: 5 * SECOND_MS, run: foldingOf(db) },
    { name: 'commission series', everyMs: 5 * SECOND_MS, slice: foldSeries },
    { name: 'commission arrivals', everyMs: HOUR_MS, slice: foldArrivals },
    // the webhook log: partitions for future weeks, and the removal of weeks past their retention
    {
      name: 'partitions',
      everyMs: 10 * SECOND_MS,
      run: async () => (await needsPartitions(db.reader)) && db.transaction((tx) => makePartitions(tx)),
    },
    {
      name: 'webhook log',
      everyMs: HOUR_MS,
      run: () => dropOldWeeks({ db, log, days: config.delivery.retentionDays }),
    },
    // filters from before they had a fast form
    { name: 'filters', everyMs: HOUR_MS, slice: speedUpFilters },
    // the erasure of people
    { name: 'erasures', everyMs: 5 * SECOND_MS, slice: eraseSlice },
    // schedules of payouts, and payouts that wait for a second person
    { name: 'payout schedules', everyMs: MINUTE_MS, run: () => runSchedules({ db, log }) },
    { name: 'approval alerts', everyMs: 30 * SECOND_MS, slice: notifyOfApprovals },
    { name: 'tax form alerts', everyMs: HOUR_MS, slice: (tx) => notifyOfForms(tx) },
    { name: 'agreement alerts', everyMs: HOUR_MS, slice: (tx) => notifyOfAgreements(tx) },
    // expired data
    { name: 'idempotency keys', everyMs: 10 * MINUTE_MS, forget: forgetOldReplies },
    { name: 'request digests', everyMs: 10 * MINUTE_MS, run: keyPlainDigests(db, vault) },
    { name: 'sign-in attempts', everyMs: HOUR_MS, forget: deleteOldFailures },
    { name: 'links', everyMs: HOUR_MS, forget: deleteOldLinks },
    { name: 'portal links', everyMs: HOUR_MS, forget: deleteOldPortalLinks },
    { name: 'sessions', everyMs: HOUR_MS, forget: deleteOldSessions },
    { name: 'tokens', everyMs: HOUR_MS, forget: deleteExpiredTokens },
    { name: 'codes', everyMs: HOUR_MS, forget: deleteExpiredCodes },
    { name: 'unused grants', everyMs: HOUR_MS, forget: deleteUnusedGrants },
    { name: 'NACHA days', everyMs: HOUR_MS, forget: deleteOldNachaDays },
    ...retentionChores(config),
    ...alertChores({ db, log, config, vault, papers, base: config.authorizeUrl ?? addressOf(config) }),
    // of the installation, and the e-mail addresses of the other cells
    ...(db.cell === 0
      ? [...backupChores({ cells, log, config }), ...diskChores({ db, config, embedded })]
      : [
          {
            name: 'addresses of cells',
            everyMs: 5 * SECOND_MS,
            slice: markingOf(cells.first, vault),
          } as const,
        ]),
  ];
}

/** The chores for data whose retention is a setting. None for data that is kept forever. */
function retentionChores({
  retention: { auditDays, importUndoDays },
}: Pick<Platform, 'config'>['config']): Chore[] {
  const chore = (
    name: ChoreName,
    days: number | null,
    remove: (tx: Tx, at: string, days: number) => Promise<number>,
  ) =>
    days === null ? [] : [{ name, everyMs: HOUR_MS, forget: (tx: Tx, at: string) => remove(tx, at, days) }];
  return [
    ...chore('audit log', auditDays, deleteOldEntries),
    ...chore('undo of imports', importUndoDays, endUndo),
  ];
}

/**
 * Records the database's time periodically, and whenever it has jumped ahead. Corrects what was written while the clock
 * was ahead: at the first run, when any process notices that the clock was set back, and every hour.
 */
function watchClock(db: Database, log: Logger): () => Promise<void> {
  /** How far the database's clock was ahead of this process's monotonic clock. */
  let ahead: number | null = null;
  let notedAt = Number.NEGATIVE_INFINITY;
  let repairedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const { nowMs, latest, wasSetBack } = await readLatestTime(db.reader);
    const here = performance.now();
    const step = ahead === null ? 0 : nowMs - here - ahead;
    ahead = nowMs - here;
    // ids generated on a connection never go back, so an old connection would keep generating ids of the old time
    if (step < -STEP_MS) db.renew();
    if (wasSetBack || here - repairedAt > HOUR_MS) {
      if (wasSetBack) log.warn({ latest }, "the database's clock was set back: times are being corrected");
      await repairTimes(db, wasSetBack);
      repairedAt = here;
    }
    if (!wasSetBack && step < STEP_MS && here - notedAt < MINUTE_MS) return;
    await db.transaction((tx) => noteLatestTime(tx, wasSetBack ? latest : null));
    notedAt = here;
  };
}

async function repairTimes(db: Database, wasSetBack: boolean): Promise<void> {
  const slices: Readonly<Record<string, Slice>> = {
    queue: repairQueueTimes,
    endpoints: (tx) => repairEndpointTimes(tx, wasSetBack),
    'idempotency keys': redateReplies,
    sessions: repairSessionTimes,
    links: repairLinkTimes,
    'portal links': repairPortalLinkTimes,
    tokens: repairTokenTimes,
  };
  for (const [name, slice] of Object.entries(slices)) await untilDone(db, `repair ${name}`, slice);
}
