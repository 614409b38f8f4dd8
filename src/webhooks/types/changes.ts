import { Type } from 'typebox';
import { strict } from '../../contract/schemas.ts';

const fields = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });

/** How the record of an update differs from what it was before (outbox/changes). */
export const changes = strict(
  {
    added: fields('new values of fields that were null or missing'),
    updated: fields('previous values of fields that have another value now'),
    removed: fields('previous values of fields that are null or missing now'),
  },
  {
    title: 'Changes',
    description:
      'how the fields of `data` changed, without `updated_at`; null: the value is left out, because it was erased or is large',
  },
);
