import sql, { type Sql } from 'sql-template-tag';
import { SURELY_FITS_BYTES } from './event.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * How the record of an update differs from what it was before, field by field of its first level. A field that is null counts as
 * missing, so a value is null only if it is left out: it was erased, or the event would be too large.
 */
export interface Changes {
  /** New values of fields that were missing. */
  readonly added: Fields;
  /** Previous values of fields that have another value now. */
  readonly updated: Fields;
  /** Previous values of fields that are missing now. */
  readonly removed: Fields;
}

const present = (record: Sql): Sql =>
  sql`(select key, value from jsonb_each(${record}::jsonb) where value <> 'null')`;

/** SQL (jsonb): the changes between two records, which are JSON texts. If they do not fit into a payload, they name the fields only. */
export const changesBetween = (before: Sql, after: Sql): Sql => sql`(
  select case when octet_length(made::text) + octet_length(${after}) > ${SURELY_FITS_BYTES}::int then erased_changes(made) else made end
  from (
    select jsonb_build_object(
      'added', coalesce(jsonb_object_agg(key, n.value) filter (where o.value is null), '{}'),
      'updated', coalesce(jsonb_object_agg(key, o.value) filter (where o.value is not null and n.value is not null), '{}'),
      'removed', coalesce(jsonb_object_agg(key, o.value) filter (where n.value is null), '{}')) as made
    from ${present(before)} o full join ${present(after)} n using (key)
    where o.value is distinct from n.value and key <> 'updated_at') m)`;

/** The changes (SQL, jsonb or null) as a member of the envelope. The text of jsonb has a blank after each colon: `,"data":` is nowhere in it. */
export const changesMember = (changes: Sql): Sql => sql`'"changes":' || ${changes}::text || ',', `;
