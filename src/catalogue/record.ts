import { type Static, Type } from 'typebox';
import { strict } from '../contract/schemas.ts';
import { event } from '../webhooks/events/record.ts';

/** A type of event, with its schema and an example. */
export const eventType = strict(
  {
    object: Type.Literal('event_type'),
    type: Type.String({ examples: ['payout.paid'] }),
    description: Type.String({ description: 'when it happens' }),
    schema: Type.Record(Type.String(), Type.Unknown(), { description: 'the JSON schema of the whole event' }),
    example: event,
  },
  { title: 'EventType' },
);
export type EventTypeRecord = Static<typeof eventType>;
