import sql from 'sql-template-tag';
import {
  idInstants,
  type ListDefinition,
  type ListQuery,
  listPage,
  oneOf,
  type Page,
} from '../../contract/lists.ts';
import { maybeRecord } from '../../contract/records.ts';
import { maybeRow, oneRow, type Reader, rows, type Tx } from '../../db/database.ts';
import type { AccountId, ImportId } from '../../kernel/ids.ts';
import type { Json } from '../../kernel/json.ts';
import type { Timestamp } from '../../kernel/time.ts';
import type { ImportOutcome } from '../files/csv-stage.ts';
import { IMPORT_KINDS, type ImportKind, type REFERENCES } from './fields.ts';
import type { Mapping } from './mapping.ts';
import { type ImportRecord, mappingRecord, record, type SavedMappingRecord } from './record.ts';
import type { ImportSettings } from './settings.ts';

export const importList: ListDefinition = {
  id: 'i.id',
  sort: { id: 'i.id', created_at: 'i.id' },
  filters: {
    kind: oneOf(IMPORT_KINDS, (kind) => sql`i.kind = ${kind}`),
    status: oneOf(['completed', 'undone'], (status) => sql`i.status = ${status}`),
    ...idInstants('created_at', 'i.id'),
  },
};

export function listImports(db: Reader, account: AccountId, list: ListQuery): Promise<Page<ImportRecord>> {
  return listPage(db, {
    list,
    name: 'imports',
    table: 'imports',
    alias: 'i',
    where: sql`i.account_id = ${account}`,
    record,
  });
}

export function readImport(db: Reader, account: AccountId, id: ImportId): Promise<Json<ImportRecord> | null> {
  return maybeRecord(db, record, sql`imports i where i.account_id = ${account} and i.id = ${id}`);
}

/** The file of an import, and how it is read. */
export interface NewImport {
  readonly kind: ImportKind;
  readonly fileName: string | null;
  readonly bytes: number;
  /** Keyed. */
  readonly digest: Buffer;
  readonly dialect: object;
  readonly mapping: Mapping;
  readonly guessed: readonly string[];
  readonly actor: string;
}

/** Inserts an import before its lines are written, so that they can reference it. */
export async function insertImport(tx: Tx, account: AccountId, made: NewImport): Promise<ImportId> {
  const { id } = await oneRow<{ id: ImportId }>(
    tx,
    sql`insert into imports (account_id, kind, file_name, file_bytes, file_digest, dialect, mapping, guessed, created_by)
        values (${account}, ${made.kind}, ${made.fileName}, ${made.bytes}, ${made.digest}, ${JSON.stringify(made.dialect)},
          ${JSON.stringify(made.mapping)}, ${JSON.stringify(made.guessed)}, ${made.actor})
        returning id`,
  );
  return id;
}

/** Runs `work` and rolls it back, returning its result. */
export async function takingBack<Result>(tx: Tx, work: () => Promise<Result>): Promise<Result> {
  await rows(tx, sql`savepoint before_import`);
  const result = await work();
  await rows(tx, sql`rollback to savepoint before_import`);
  return result;
}

/** The counts of lines of an import. */
export interface Counts {
  readonly lines: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly skipped: number;
  readonly failed: number;
  readonly payouts: number;
  readonly totals: ImportOutcome['totals'];
}

export async function noteCounts(tx: Tx, account: AccountId, id: ImportId, counts: Counts): Promise<void> {
  await rows(
    tx,
    sql`with last as materialized (select new_id() as id),
        noted as (
          update imports set lines = ${counts.lines}, created = ${counts.created}, updated = ${counts.updated},
          unchanged = ${counts.unchanged}, skipped = ${counts.skipped}, failed = ${counts.failed},
          payouts = ${counts.payouts}, totals = ${JSON.stringify(counts.totals)},
          last_id = last.id
          from last where account_id = ${account} and imports.id = ${id})
        select 1`,
  );
}

/** Locks an import to undo it; null when the account has no such import. */
export function lockImport(
  tx: Tx,
  account: AccountId,
  id: ImportId,
): Promise<{ kind: ImportKind; status: 'completed' | 'undone'; undo_ended_at: Timestamp | null } | null> {
  return maybeRow(
    tx,
    sql`select kind, status, iso(undo_ended_at) as undo_ended_at from imports where account_id = ${account} and id = ${id} for update`,
  );
}

export async function markUndone(tx: Tx, account: AccountId, id: ImportId, actor: string): Promise<void> {
  await rows(
    tx,
    sql`update imports set status = 'undone', undone_by = ${actor}, undone_at = clock_time()
        where account_id = ${account} and id = ${id}`,
  );
}

/** How many of the texts are ids, external ids or e-mail addresses of affiliates of the account. */
export async function affiliatesAmong(
  db: Reader,
  account: AccountId,
  texts: readonly string[],
): Promise<Record<(typeof REFERENCES)[number], number>> {
  const ids = texts.filter((text) => /^[1-9]\d{0,15}$/.test(text));
  return oneRow(
    db,
    sql`select
          (select count(*)::int from affiliates where account_id = ${account} and id = any(${ids}::int8[])) as affiliate_id,
          (select count(*)::int from affiliates where account_id = ${account} and external_id = any(${texts}::text[]))
            as affiliate_external_id,
          (select count(*)::int from affiliates where account_id = ${account}
             and lower(email) = any(select lower(t) from unnest(${texts}::text[]) t)) as affiliate_email`,
  );
}

/** A saved mapping, with the other settings of its files. */
export interface SavedMapping {
  readonly name: string;
  readonly mapping: Mapping;
  readonly dialect: Partial<ImportSettings>;
}

const saved = sql`name, mapping::text as mapping, dialect::text as dialect`;

function asSaved(row: { name: string; mapping: string; dialect: string } | null): SavedMapping | null {
  if (row === null) return null;
  const { header_row, ...dialect } = JSON.parse(row.dialect);
  return {
    name: row.name,
    mapping: JSON.parse(row.mapping),
    dialect: header_row === undefined ? dialect : { ...dialect, header_row: Number(header_row) },
  };
}

/** The mapping of this name, or null. */
export async function mappingOf(
  db: Reader,
  account: AccountId,
  kind: ImportKind,
  name: string,
): Promise<SavedMapping | null> {
  return asSaved(
    await maybeRow(
      db,
      sql`select ${saved} from import_mappings where account_id = ${account} and kind = ${kind} and name = ${name}`,
    ),
  );
}

/** The mapping that was last saved for files with this header, or null. */
export async function findMapping(
  db: Reader,
  account: AccountId,
  kind: ImportKind,
  header: readonly string[],
): Promise<SavedMapping | null> {
  return asSaved(
    await maybeRow(
      db,
      sql`select ${saved} from import_mappings
          where account_id = ${account} and kind = ${kind} and header = ${header}::text[]
          order by updated_at desc, name limit 1`,
    ),
  );
}

/** Saves a mapping under its name, replacing an existing one. */
export async function saveMapping(
  tx: Tx,
  account: AccountId,
  kind: ImportKind,
  header: readonly string[],
  { name, mapping, dialect }: SavedMapping,
): Promise<void> {
  // its record shows every setting as a text
  const settings = { ...dialect, header_row: dialect.header_row?.toString() };
  await rows(
    tx,
    sql`insert into import_mappings (account_id, name, kind, header, mapping, dialect)
        values (${account}, ${name}, ${kind}, ${header}::text[], ${JSON.stringify(mapping)}, ${JSON.stringify(settings)})
        on conflict (account_id, name) do update set kind = excluded.kind, header = excluded.header,
          mapping = excluded.mapping, dialect = excluded.dialect, updated_at = excluded.updated_at`,
  );
}

export const mappingList: ListDefinition = {
  id: 'm.name',
  sort: { name: 'm.name', updated_at: 'm.updated_at' },
  defaultSort: 'name',
  filters: { kind: oneOf(IMPORT_KINDS, (kind) => sql`m.kind = ${kind}`) },
};

export function listMappings(
  db: Reader,
  account: AccountId,
  list: ListQuery,
): Promise<Page<SavedMappingRecord>> {
  return listPage(db, {
    list,
    name: 'import_mappings',
    table: 'import_mappings',
    alias: 'm',
    where: sql`m.account_id = ${account}`,
    record: mappingRecord,
  });
}
