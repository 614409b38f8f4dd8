import sql from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';
import type { SessionId } from '../../kernel/ids.ts';

/** How long a session lasts unused. */
export const IDLE = sql`interval '7 days'`;

const fields = {
  id: Type.String({ examples: ['ses_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
  object: Type.Literal('session'),
  user_id: Type.String(),
  user_agent: nullable(Type.String({ description: 'the User-Agent header of the browser' })),
  address: nullable(Type.String({ description: 'the network address that opened it' })),
  created_at: timestamp,
  last_seen_at: timestamp,
  expires_at: Type.String({ format: 'date-time', description: 'when it ends unless it is used before' }),
};

/** A session in a browser. */
export const session = strict(fields, { title: 'Session' });
export type Session = Static<typeof session>;

/** A session of the caller, who may be a user of several accounts. */
export const ownSession = strict(
  {
    ...fields,
    account_id: Type.String({ description: 'the account it works in' }),
    account_name: Type.String(),
    is_current: Type.Boolean({ description: 'whether it is the session of this request' }),
  },
  { title: 'OwnSession' },
);
export type OwnSession = Static<typeof ownSession>;

const columns = {
  id: "public_id('ses', s.id)",
  object: "'session'",
  user_id: "public_id('usr', s.user_id)",
  user_agent: 's.user_agent',
  address: 's.address',
  created_at: 'iso(id_time(s.id))',
  last_seen_at: 'iso(s.last_seen_at)',
  expires_at: sql`iso(least(s.expires_at, s.last_seen_at + ${IDLE}))`,
};
/** The columns of a session, over `sessions s`; never the hash. */
export const record = columnsOf(session, columns);

/** The same for the session (UUID) of the caller and their others. */
export const ownRecord = (current: SessionId) =>
  columnsOf(ownSession, {
    ...columns,
    account_id: "public_id('acc', s.account_id)",
    account_name: '(select a.name from accounts a where a.id = s.account_id)',
    is_current: sql`s.id = ${current}`,
  });
