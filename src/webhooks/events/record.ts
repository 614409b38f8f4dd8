import { type Static, Type } from 'typebox';
import { identifier, strict, timestamp } from '../../contract/schemas.ts';

export const event = strict(
  {
    id: Type.String(),
    object: Type.Literal('event'),
    type: Type.String(),
    timestamp,
    account_id: Type.String(),
    api_version: Type.Literal('2.0.0'),
    data: Type.Record(Type.String(), Type.Unknown()),
  },
  { title: 'Event', description: 'a whole event, as it is sent' },
);
export type Event = Static<typeof event>;

/** What an event of a platform's own is made of. */
export const newEvent = strict({
  type: Type.String({ minLength: 1, maxLength: 100, examples: ['order.created'] }),
  data: Type.Record(Type.String(), Type.Unknown(), { description: 'passed on unchanged' }),
  external_id: Type.Optional(identifier),
});
export type NewEvent = Static<typeof newEvent>;
