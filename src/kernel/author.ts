import type { UserId } from './ids.ts';

/** Who makes a change: the kind and public id of whoever asked for it, as the audit log has them. */
export interface Author {
  readonly kind: 'key' | 'user' | 'application' | 'operator' | 'portal' | 'endpoint';
  /** It is also written into `created_by` and `paid_by` of records. */
  readonly id: string;
  /** The user (UUID) who signed in, or on whose grant an application acts. */
  readonly user?: UserId;
}
