import sql, { type Sql } from 'sql-template-tag';
import { oneRow, type Reader, type Tx } from '../../db/database.ts';
import { deleteSetting, writeSetting } from '../../db/settings.ts';

/** The settings that hold the results of backups, as JSON: every process sees them. */
const LAST_BACKUP = 'last_backup';
const LAST_BACKUP_FAILURE = 'last_backup_failure';

/** The last backup that was made; all instants are RFC 3339. */
export interface MadeBackup {
  /** The instant that it holds. */
  readonly made_at: string;
  readonly file: string;
  readonly size_bytes: number;
  readonly duration_ms: number;
}

/** The last backup that failed. */
export interface FailedBackup {
  readonly failed_at: string;
  readonly message: string;
}

/** The results of backups. `failure` is null if a later one succeeded. */
export interface BackupState {
  readonly last: MadeBackup | null;
  readonly failure: FailedBackup | null;
  /** Seconds since the last one, by the database's clock; null = there was none. */
  readonly age_s: number | null;
  /** Seconds since the failure. */
  readonly failure_age_s: number | null;
}

export const noteBackup = (tx: Tx, made: MadeBackup) => writeSetting(tx, LAST_BACKUP, JSON.stringify(made));

export async function noteFailedBackup(tx: Tx, message: string): Promise<void> {
  const { now } = await oneRow<{ now: string }>(tx, sql`select iso(now()) as now`);
  const failed: FailedBackup = { failed_at: now, message };
  await writeSetting(tx, LAST_BACKUP_FAILURE, JSON.stringify(failed));
}

/** Forgets the last failure: what failed has succeeded. */
export const forgetFailedBackup = (tx: Tx) => deleteSetting(tx, LAST_BACKUP_FAILURE);

/** `last` and `failure` of BackupState, as JSON. */
export const backupState: Sql = sql`(select json_build_object('last', made, 'failure', failed)
  from (select (select value::json from server_settings where key = ${LAST_BACKUP}) as made) done,
       lateral (select (select value::json from server_settings where key = ${LAST_BACKUP_FAILURE}
         and (made is null or (value::json ->> 'failed_at')::timestamptz > (made ->> 'made_at')::timestamptz))
         as failed) missed)`;

export async function readBackups(db: Reader): Promise<BackupState> {
  const { state } = await oneRow<{ state: string }>(
    db,
    sql`select json_build_object('last', state -> 'last', 'failure', state -> 'failure',
          'age_s', extract(epoch from now() - (state -> 'last' ->> 'made_at')::timestamptz)::int8,
          'failure_age_s', extract(epoch from now() - (state -> 'failure' ->> 'failed_at')::timestamptz)::int8)::text as state
        from (select ${backupState} as state) noted`,
  );
  return JSON.parse(state) as BackupState;
}
