import sql from 'sql-template-tag';
import { maybeRow, type Reader, rows, type Tx } from './database.ts';

/** A value the database keeps about the installation as a whole, or null. */
export async function readSetting(db: Reader, key: string): Promise<string | null> {
  const row = await maybeRow<{ value: string }>(
    db,
    sql`select value from server_settings where key = ${key}`,
  );
  return row?.value ?? null;
}

/** Writes such a value. */
export async function writeSetting(tx: Tx, key: string, value: string): Promise<void> {
  await rows(
    tx,
    sql`insert into server_settings (key, value) values (${key}, ${value})
        on conflict (key) do update set value = excluded.value`,
  );
}

/** Writes such a value if there is none; false = there is. */
export async function writeNewSetting(tx: Tx, key: string, value: string): Promise<boolean> {
  const written = await rows(
    tx,
    sql`insert into server_settings (key, value) values (${key}, ${value}) on conflict do nothing returning 1`,
  );
  return written.length === 1;
}

/** Deletes such a value, if there is one. */
export async function deleteSetting(tx: Tx, key: string): Promise<void> {
  await rows(tx, sql`delete from server_settings where key = ${key}`);
}

/** Reads nothing, to see whether PostgreSQL answers. */
export async function probeReading(db: Reader): Promise<void> {
  await rows(db, sql`select`);
}

/** Writes something, to see whether anything can be written. */
export async function probeWriting(tx: Tx): Promise<void> {
  await rows(
    tx,
    sql`insert into server_settings (key, value) values ('probed_at', iso(clock_timestamp()))
        on conflict (key) do update set value = excluded.value`,
  );
}
