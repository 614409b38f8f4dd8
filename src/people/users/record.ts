import sql from 'sql-template-tag';
import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { email, nullable, role, strict, text, timestamp } from '../../contract/schemas.ts';
import { extended, type Json, toJson } from '../../kernel/json.ts';

const fields = {
  id: Type.String({ examples: ['usr_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
  object: Type.Literal('user'),
  email: Type.String(),
  name: Type.String(),
  role,
  status: Type.Enum(['invited', 'active', 'removed'], {
    title: 'UserStatus',
    description: 'invited: has not accepted the invitation yet',
  }),
  removed_at: nullable(timestamp),
  created_at: timestamp,
  updated_at: timestamp,
};

/** The user record. */
export const user = strict(fields, { title: 'User' });
export type User = Static<typeof user>;

/** Its columns, over `users u` and `withPerson`. */
export const record = columnsOf(user, {
  id: "public_id('usr', u.id)",
  object: "'user'",
  email: 'p.email',
  name: 'u.name',
  role: 'u.role',
  status: `case when u.removed_at is not null then 'removed' when u.joined_at is null then 'invited'
    else 'active' end`,
  removed_at: 'iso(u.removed_at)',
  created_at: 'iso(id_time(u.id))',
  updated_at: 'iso(greatest(u.updated_at, id_time(u.id)))',
});
export const withPerson = sql`join people p on p.id = u.person_id`;

/** What a user is made of. */
export const invitation = strict({ email, name: text(200), role });
export type Invitation = Static<typeof invitation>;
/** What may be changed of one. */
export const userChange = strict({ name: Type.Optional(text(200)), role: Type.Optional(role) });
export type UserChange = Static<typeof userChange>;

const link = nullable(
  Type.String({
    description: 'a link that works once; shown once, and null when a stored answer is replayed',
  }),
);

const isEmailed = Type.Boolean({
  description:
    'whether the link is also sent to the user by e-mail: not where the server sends none, nor when the user has had 5 letters, or ' +
    'the account has sent 50, within an hour',
});

/** The record with the link of the invitation. */
export const newUser = strict(
  { ...fields, invitation_url: link, is_emailed: isEmailed },
  { title: 'NewUser' },
);
export type InvitedUser = Static<typeof newUser>;

/** The record with the link that was just made. */
export const withInvitation = (
  json: Json<User>,
  { url, isEmailed: sent }: { url: string; isEmailed: boolean },
): Json<InvitedUser> => extended(json, { invitation_url: toJson(url), is_emailed: toJson(sent) });

/** A link that chooses a new password. */
export const passwordReset = strict(
  {
    object: Type.Literal('password_reset'),
    user_id: Type.String(),
    reset_url: link,
    is_emailed: isEmailed,
    expires_at: timestamp,
  },
  { title: 'PasswordReset' },
);
export type PasswordReset = Static<typeof passwordReset>;
