import { type Static, Type } from 'typebox';
import { strict } from '../../contract/schemas.ts';

const LIMITS = {
  max_events: { minimum: 2, maximum: 1000, default: 100 },
  max_bytes: { minimum: 16_384, maximum: 4_194_304, default: 1_048_576 },
  max_wait_ms: { minimum: 0, maximum: 60_000, default: 1000 },
} as const;

const about = {
  max_events: 'the maximum number of events in a request',
  max_bytes: 'the maximum bytes of its body; a larger event is sent alone',
  max_wait_ms:
    'the maximum milliseconds that an event waits for others; 0 = it is sent with what is already due',
};

/** How many events an endpoint takes in one request. */
export const batch = strict(
  {
    max_events: Type.Integer({ description: about.max_events }),
    max_bytes: Type.Integer({ description: about.max_bytes }),
    max_wait_ms: Type.Integer({ description: about.max_wait_ms }),
  },
  {
    title: 'Batch',
    description: 'several events are sent in one request, as an array; null = one event per request',
  },
);

/** The same in a request. */
export const batchInput = strict(
  {
    max_events: Type.Optional(Type.Integer({ ...LIMITS.max_events, description: about.max_events })),
    max_bytes: Type.Optional(Type.Integer({ ...LIMITS.max_bytes, description: about.max_bytes })),
    max_wait_ms: Type.Optional(Type.Integer({ ...LIMITS.max_wait_ms, description: about.max_wait_ms })),
  },
  {
    title: 'BatchInput',
    description:
      'several events are sent in one request, as an array; omitted fields have their default. null = one event in ' +
      'each request',
  },
);
type BatchInput = Static<typeof batchInput>;

/** The column of the record, over `webhook_endpoints e`. */
export const batchColumn = `case when e.batch_events is not null then json_build_object(
    'max_events', e.batch_events, 'max_bytes', e.batch_bytes, 'max_wait_ms', e.batch_wait_ms) end`;

/** The stored columns for it. */
export const batchColumns = (input: BatchInput | null): Readonly<Record<string, number | null>> => ({
  batch_events: input && (input.max_events ?? LIMITS.max_events.default),
  batch_bytes: input && (input.max_bytes ?? LIMITS.max_bytes.default),
  batch_wait_ms: input && (input.max_wait_ms ?? LIMITS.max_wait_ms.default),
});
