/** The prefixes of opaque ids, one a resource (product.md section 1). */
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
  | 'ret';
export type Id<P extends IdPrefix> = `${P}_${string}`;

const HEX = /^[0-9a-f]{32}$/;

/**
 * The UUID behind an opaque id: `po_` + 32 hex digits -> `xxxxxxxx-xxxx-…`.
 * null for anything ill-formed, so that a bad id reads exactly like a missing row.
 */
export function uuidOf(prefix: IdPrefix, id: string): string | null {
  if (!id.startsWith(`${prefix}_`)) return null;
  const hex = id.slice(prefix.length + 1);
  if (!HEX.test(hex)) return null;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The opaque id of a UUID: the prefix and its 32 hex digits. Time-sortable because the UUIDs are version 7. */
export function idOf<P extends IdPrefix>(prefix: P, uuid: string): Id<P> {
  return `${prefix}_${uuid.replaceAll('-', '')}`;
}

/** A positive integer id in a path (`affiliate_id`, `program_id`), or null when it is not one. */
export function numberIdOf(text: string): number | null {
  if (!/^[1-9][0-9]{0,15}$/.test(text)) return null;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : null;
}
