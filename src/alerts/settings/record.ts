import { type Static, Type } from 'typebox';
import { nullable, strict, timestamp } from '../../contract/schemas.ts';
import { ALERT_KINDS } from '../../notices/kinds.ts';

/** The name of a kind of alert. */
export const alertKind = Type.Enum([...ALERT_KINDS], { title: 'AlertKind' });

/** A user's choice of alerts by e-mail. */
export const alertSettings = strict(
  {
    object: Type.Literal('alert_settings'),
    user_id: Type.String({ examples: ['usr_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
    email: Type.String({ description: 'where alerts are sent' }),
    is_email_sent: Type.Boolean({ description: 'whether the server sends e-mail at all: SMTP_URL' }),
    is_default: Type.Boolean({ description: "true: the role's default alerts; nothing was chosen" }),
    alerts: Type.Array(
      strict({
        kind: alertKind,
        label: Type.String(),
        meaning: Type.String({ description: 'when it is sent' }),
        by_email: Type.Boolean({ description: 'whether the user gets it by e-mail' }),
      }),
      { description: 'every kind of alert' },
    ),
    last_sent_at: nullable({
      ...timestamp,
      description: 'when an e-mail was last sent, within the last week',
    }),
    last_error: nullable(Type.String({ description: 'why the last try failed; null if it succeeded' })),
  },
  { title: 'AlertSettings' },
);
export type AlertSettings = Static<typeof alertSettings>;

/** The body for choosing alerts. */
export const alertChoice = strict({
  kinds: nullable(
    Type.Array(alertKind, {
      uniqueItems: true,
      maxItems: ALERT_KINDS.length,
      description: "the alerts to get by e-mail; null = the role's default",
    }),
  ),
});
export type AlertChoice = Static<typeof alertChoice>;

/** The user whose alerts are meant. */
export const ofUser = strict({
  user_id: Type.Optional(
    Type.String({
      description: 'the user; default: the signed-in user. Only owners and API keys may name another user.',
      examples: ['usr_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'],
    }),
  ),
});

/** A test was recorded and is sent within seconds. */
export const alertTest = strict(
  { object: Type.Literal('alert_test'), requested_at: timestamp },
  { title: 'AlertTest' },
);
export type AlertTest = Static<typeof alertTest>;
