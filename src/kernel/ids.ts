/** The prefixes of opaque ids, one per resource. */
export type IdPrefix =
  | 'acc'
  | 'key'
  | 'po'
  | 'com'
  | 'evt'
  | 'we'
  | 'usr'
  | 'ses'
  | 'app'
  | 'grant'
  | 'aud'
  | 'rec'
  | 'ref'
  | 'ret'
  | 'imp'
  | 'pl'
  | 'dst'
  | 'cor'
  | 'tax'
  | 'res'
  | 'psc'
  | 'inv'
  | 'itx'
  | 'alc'
  | 'pfs'
  | 'ntc'
  | 'lease';
export type Id<P extends IdPrefix> = `${P}_${string}`;

declare const noun: unique symbol;

/**
 * The UUID of a row of one resource, as stored in PostgreSQL. It comes from parsing an id (`uuidOf`) or reading a row,
 * and is assignable neither to the UUID of another resource nor to an opaque id.
 */
export type Uuid<P extends IdPrefix> = string & { readonly [noun]: P };

export type AccountId = Uuid<'acc'>;
export type PayoutId = Uuid<'po'>;
export type CommissionId = Uuid<'com'>;
export type RefundId = Uuid<'ref'>;
export type EndpointId = Uuid<'we'>;
export type EventId = Uuid<'evt'>;
export type ReturnId = Uuid<'ret'>;
export type ImportId = Uuid<'imp'>;
export type RecoveryId = Uuid<'rec'>;
export type KeyId = Uuid<'key'>;
export type UserId = Uuid<'usr'>;
export type SessionId = Uuid<'ses'>;
export type ApplicationId = Uuid<'app'>;
export type GrantId = Uuid<'grant'>;
export type PortalLinkId = Uuid<'pl'>;
export type DestinationId = Uuid<'dst'>;
export type CorrectionId = Uuid<'cor'>;
export type InvoiceId = Uuid<'inv'>;
export type InvoiceTaxId = Uuid<'itx'>;
export type TaxProfileId = Uuid<'tax'>;
export type ResultId = Uuid<'res'>;
export type ScheduleId = Uuid<'psc'>;
export type AlertChannelId = Uuid<'alc'>;
export type FileSetId = Uuid<'pfs'>;

/** The lowest UUID: where iteration over rows starts. */
export const nil = <P extends IdPrefix>() => '00000000-0000-0000-0000-000000000000' as Uuid<P>;

const HEX = /^[0-9a-f]{32}$/;

/**
 * The UUID of an opaque id: `po_` + 32 hex digits -> `xxxxxxxx-xxxx-…`. null for anything malformed, so that a bad id
 * is handled exactly like a missing row.
 */
export function uuidOf<P extends IdPrefix>(prefix: P, id: string): Uuid<P> | null {
  if (!id.startsWith(`${prefix}_`)) return null;
  const hex = id.slice(prefix.length + 1);
  if (!HEX.test(hex)) return null;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}` as Uuid<P>;
}

/** The opaque id of a UUID: the prefix and its 32 hex digits. Sortable by time, because the UUIDs are version 7. */
export function idOf<P extends IdPrefix>(prefix: P, uuid: Uuid<NoInfer<P>>): Id<P> {
  return `${prefix}_${uuid.replaceAll('-', '')}`;
}

/** A positive integer id from a path (`affiliate_id`, `program_id`), or null when it is not one. */
export function numberIdOf(text: string): number | null {
  if (!/^[1-9][0-9]{0,15}$/.test(text)) return null;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : null;
}

/**
 * The number of the cell that an id of an application or a portal link names. Outside cell 0 these are UUIDs of version 8 (RFC
 * 9562 section 5.8): as version 7, but the last two bytes are the cell. Any other id is of cell 0.
 */
export function cellOfId(id: string): number {
  const hex = id.slice(id.indexOf('_') + 1);
  return HEX.test(hex) && hex[12] === '8' ? Number.parseInt(hex.slice(28), 16) : 0;
}

/** Milliseconds since 1970 in a UUID of version 7 (RFC 9562 section 5.7). */
export const timeIn = (uuid: string): number => Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
