import { type Static, Type } from 'typebox';
import { nullable, strict } from '../contract/schemas.ts';
import { event } from '../webhooks/events/record.ts';
import { ownTypeFields, typeFields } from '../webhooks/types/record.ts';

/** A type of event, with its schema and an example. */
export const eventType = strict(
  {
    ...typeFields,
    schema: Type.Record(Type.String(), Type.Unknown(), { description: 'the JSON schema of the whole event' }),
    example: nullable(event),
    ...ownTypeFields,
  },
  { title: 'EventType' },
);
export type EventTypeRecord = Static<typeof eventType>;
