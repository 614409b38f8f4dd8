import { type Static, Type } from 'typebox';
import { nullable, strict } from '../../contract/schemas.ts';

const example = { 'data.currency': 'usd', 'data.amount': { $gte: 10_000 } };

/** Conditions on the payload, as in an endpoint. */
export const filter = Type.Record(Type.String(), Type.Unknown(), {
  description:
    'conditions on the payload that must all hold: a path, and a value or operators ($eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, ' +
    '$exists, $startsWith, $contains); $and and $or take lists of filters. At most 4,096 bytes',
  examples: [example],
});

/** The input for testing a filter. */
export const filterTestInput = strict({
  filter: Type.Optional({ ...filter, description: 'default: the filter of the endpoint' }),
  payload: Type.Record(Type.String(), Type.Unknown(), {
    description: 'a whole event, as sent',
    examples: [{ type: 'order.created', data: { currency: 'usd', amount: 12_900 } }],
  }),
});
export type FilterTestInput = Static<typeof filterTestInput>;

const judged = strict(
  {
    path: Type.String(),
    operator: Type.String({ examples: ['$gte'] }),
    value: Type.Unknown({ description: 'the value in the filter' }),
    matches: Type.Boolean(),
    found_type: Type.Enum(['missing', 'null', 'boolean', 'number', 'string', 'array', 'object'], {
      title: 'FoundType',
      description: 'the type of the value in the payload',
    }),
    found: Type.Unknown({ description: 'the value in the payload; null for lists and objects' }),
  },
  { title: 'JudgedCondition' },
);

/** Whether a filter matches, and the result of each condition. */
export const filterTest = strict(
  {
    object: Type.Literal('filter_test'),
    matches: Type.Boolean({ description: 'whether the endpoint would get the event' }),
    filter: nullable(filter),
    conditions: Type.Array(judged, { description: 'each condition separately, in the order of the filter' }),
  },
  { title: 'FilterTest' },
);
export type FilterTest = Static<typeof filterTest>;
