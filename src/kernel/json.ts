/**
 * JSON text of a value of type T. Records are built once, in SQL, and the same bytes serve the answer, the
 * stored idempotent reply and the event; the type says which schema they promise to meet.
 */
export type Json<T> = string & { readonly __json?: T };

/** The JSON text of a plain value. */
export function toJson<T>(value: T): Json<T> {
  return JSON.stringify(value);
}
