import sql from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';

/** How long a session lasts unused. */
export const IDLE = sql`interval '7 days'`;

/** A session in a browser. */
export const session = strict(
  {
    id: Type.String({ examples: ['ses_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    object: Type.Literal('session'),
    user_id: Type.String(),
    user_agent: nullable(Type.String({ description: 'what the browser called itself' })),
    address: nullable(Type.String({ description: 'where it was opened from' })),
    created_at: timestamp,
    last_seen_at: timestamp,
    expires_at: Type.String({ format: 'date-time', description: 'when it ends if it is not used before' }),
  },
  { title: 'Session' },
);
export type Session = Static<typeof session>;

/** Its columns, over `sessions s`; never the hash. */
export const record = columnsOf(session, {
  id: "public_id('ses', s.id)",
  object: "'session'",
  user_id: "public_id('usr', s.user_id)",
  user_agent: 's.user_agent',
  address: 's.address',
  created_at: 'iso(id_time(s.id))',
  last_seen_at: 'iso(s.last_seen_at)',
  expires_at: sql`iso(least(s.expires_at, s.last_seen_at + ${IDLE}))`,
});
