import { Type } from 'typebox';
import { API_VERSIONS, CURRENT_VERSION } from '../../db/api-versions.ts';
import { formColumn, payloadForm, storedForm } from './record.ts';

/** The fields of a webhook endpoint that decide how its events are written. */
export const RENDERING_FIELDS = {
  payload: {
    schema: payloadForm,
    input: payloadForm,
    column: formColumn,
    type: 'word',
    default: 'full',
    label: 'Payload',
    help: 'the form of the events: a thin one has no data, which the receiver reads with an API key',
    example: 'thin',
    option: '--payload <form>',
    stored: (form: Parameters<typeof storedForm>[0]) => ({ payload_form: storedForm(form) }),
    isOfPortal: true,
  },
  api_version: {
    schema: Type.String({ examples: [CURRENT_VERSION] }),
    input: Type.Enum([...API_VERSIONS.names], { title: 'ApiVersion' }),
    column: 'e.api_version',
    type: 'word',
    default: CURRENT_VERSION,
    label: 'API version',
    help: 'the version of the API in which it receives events; by default the current one when the endpoint is created',
    example: CURRENT_VERSION,
    option: '--api-version <version>',
    stored: (api_version: string) => ({ api_version }),
    isOfPortal: true,
  },
} as const;
