import { type Static, Type } from 'typebox';
import type { StoredForm } from '../../outbox/hand-over.ts';

/** The form in which an endpoint gets payloads. */
export const payloadForm = Type.Enum(['full', 'thin', 'cloudevents'], {
  title: 'PayloadForm',
  description:
    'full: the whole event. thin: the event without its `data`, but with the id of its subject and the path to read ' +
    'it. cloudevents: a CloudEvent 1.0 in structured mode. Applies to future attempts',
});
type PayloadForm = Static<typeof payloadForm>;

/** The stored value of a form: null for `full`. */
export const storedForm = (form: PayloadForm): StoredForm => (form === 'full' ? null : form);

/** The column of the record, over `webhook_endpoints e`. */
export const formColumn = "coalesce(e.payload_form, 'full')";
