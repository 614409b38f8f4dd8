import { type Static, Type } from 'typebox';
import { columnsOf } from '../../contract/records.ts';
import { nullable, strict, text, timestamp } from '../../contract/schemas.ts';
import { extended, type Json, toJson } from '../../kernel/json.ts';
import { ALERT_KINDS } from '../../notices/kinds.ts';
import { lastMessageColumns } from '../../notices/notices.ts';
import { alertKind } from '../settings/record.ts';

const name = { ...text(100), description: 'your name for it' };
const format = Type.Enum(['webhook', 'slack'], {
  title: 'AlertFormat',
  description:
    'webhook: a JSON object, signed as Standard Webhooks; slack: the format of incoming webhooks of Slack and Mattermost',
});
const url = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'receives messages by POST; stored encrypted and not shown again',
  examples: ['https://hooks.slack.com/services/T000/B000/NotASecret'],
});
const kinds = Type.Array(alertKind, {
  uniqueItems: true,
  maxItems: ALERT_KINDS.length,
  description: 'the alerts it receives',
});

const fields = {
  id: Type.String({ examples: ['alc_0192f8e5c7a7b3e9d0192f8e5c7a7b3e'] }),
  object: Type.Literal('alert_channel'),
  name: Type.String(),
  format,
  host: Type.String({ description: 'the host of the URL', examples: ['hooks.slack.com'] }),
  kinds,
  last_sent_at: nullable({
    ...timestamp,
    description: 'when a message was last accepted, within the last week',
  }),
  last_error: nullable(Type.String({ description: 'why the last try failed; null if it succeeded' })),
  created_at: timestamp,
  updated_at: timestamp,
};

/** The record of a channel. */
export const alertChannel = strict(fields, { title: 'AlertChannel' });
export type AlertChannel = Static<typeof alertChannel>;

/** Its columns, over `alert_channels c`. */
export const record = columnsOf(alertChannel, {
  id: "public_id('alc', c.id)",
  object: "'alert_channel'",
  name: 'c.name',
  format: 'c.format',
  host: 'c.host',
  kinds: 'c.kinds',
  ...lastMessageColumns('c.account_id', 'c.id'),
  created_at: 'iso(id_time(c.id))',
  updated_at: 'iso(greatest(c.updated_at, id_time(c.id)))',
});

/** The record with the secret of a webhook. */
export const newAlertChannel = strict(
  {
    ...fields,
    secret: nullable(
      Type.String({
        description:
          'signs the messages of a webhook; shown once; null for Slack, and when a stored response is replayed',
        examples: ['whsec_NotASecretNotASecretNotASecretNotASecret0='],
      }),
    ),
  },
  { title: 'NewAlertChannel' },
);
export type NewAlertChannel = Static<typeof newAlertChannel>;

/** The record with its new secret, or null for none. */
export const withSecret = (json: Json<AlertChannel>, secret: string | null): Json<NewAlertChannel> =>
  extended(json, { secret: toJson(secret) });

/** The input of a channel. */
export const alertChannelInput = strict({
  name,
  format,
  url,
  kinds: Type.Optional({ ...kinds, description: 'the alerts it receives; default: all' }),
});
export type AlertChannelInput = Static<typeof alertChannelInput>;

/** The changeable fields of a channel. */
export const alertChannelChange = strict({
  name: Type.Optional(name),
  url: Type.Optional(url),
  kinds: Type.Optional(kinds),
});
export type AlertChannelChange = Static<typeof alertChannelChange>;
