import { type Static, Type } from 'typebox';
import { nullable, strict, text, timestamp } from '../../contract/schemas.ts';

/** The maximum number of an account's own event types. */
export const MOST_OWN_TYPES = 200;

const object = Type.Record(Type.String(), Type.Unknown());
const group = text(100);
const deprecation = text(500);
const dataSchema = {
  ...object,
  description:
    'a JSON schema (2020-12) of `data`, at most 64 KiB; `$ref` only within it, `pattern` only without groups, and no `format`, ' +
    '`patternProperties` and `unevaluatedProperties` are checked',
};

/** The body that creates or replaces an own event type. */
export const ownTypeInput = strict(
  {
    description: { ...text(500), description: 'when it happens' },
    group: Type.Optional(nullable({ ...group, description: 'for showing types together; default null' })),
    deprecation: Type.Optional(
      nullable({
        ...deprecation,
        description:
          'why the type should not be used any more, and what to use instead; default null = it is not deprecated',
        examples: ['use order.updated'],
      }),
    ),
    data_schema: Type.Optional(nullable(dataSchema)),
    data_example: Type.Optional(
      nullable({
        ...object,
        description: 'an example of `data`, which matches the schema; test events have it',
      }),
    ),
  },
  { title: 'PutEventTypeBody' },
);
export type OwnTypeInput = Static<typeof ownTypeInput>;

/** What the record of an event type has besides its schema and example. */
export const typeFields = {
  object: Type.Literal('event_type'),
  type: Type.String({ examples: ['payout.paid'] }),
  origin: Type.Enum(['payhook', 'own'], {
    title: 'EventTypeOrigin',
    description: 'payhook: Payhook publishes it; own: you do',
  }),
  description: Type.String({ description: 'when it happens' }),
  group: nullable({ ...group, description: 'shown together with the others of the group' }),
  deprecation: nullable({ ...deprecation, description: 'null = it is not deprecated' }),
};
export const ownTypeFields = {
  data_schema: nullable({ ...object, description: 'the schema of `data` of an own type, as you set it' }),
  last_violation: nullable(
    strict(
      {
        at: { ...timestamp, description: 'when it was published' },
        message: Type.String({ description: 'field and rule', examples: ['data.amount must be integer'] }),
      },
      {
        title: 'SchemaViolation',
        description:
          'the last event that violated the schema, noted at most once a minute while `event_validation` is not off; null in a portal',
      },
    ),
  ),
};
