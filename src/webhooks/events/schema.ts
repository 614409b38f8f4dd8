import { Type } from 'typebox';
import { strict, timestamp } from '../../contract/schemas.ts';

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
