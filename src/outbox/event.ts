import type { AccountId } from '../kernel/ids.ts';
import type { Json, SomeJson } from '../kernel/json.ts';
import type { EventType, UpdateType } from './event-types.ts';
import type { Subject } from './owners.ts';

/** The maximum size of a payload in bytes. */
export const MAX_PAYLOAD_BYTES = 262_144;
// the maximum size of the envelope: ids, time, and a type of 100 characters
const ENVELOPE_BYTES = 400;
/** Data of at most this size never makes a payload too large. */
export const SURELY_FITS_BYTES = MAX_PAYLOAD_BYTES - ENVELOPE_BYTES;

interface Report<Type extends EventType, Data extends SomeJson> {
  /** UUID of the account. */
  readonly account: AccountId;
  readonly type: Type;
  /** The record that the event is about, as the REST GET shows it, without its long lists. */
  readonly data: Data;
  /** The endpoint that it is about, which does not get it. */
  readonly subject?: Subject;
}

/** An event of a type that reports a change of a record. */
export interface Update<Record> extends Report<UpdateType, Json<Record>> {
  /** The record just before the change, read under a lock that keeps other changes out. */
  readonly before: Json<Record>;
  /** The previous values are what was erased: `changes` names the fields only. */
  readonly isErasure?: boolean;
}

/** An event to publish. */
export type Event<Record> = Update<Record> | Report<Exclude<EventType, UpdateType>, SomeJson>;
