import type { WebhookEndpoint } from '../../../src/client/api.ts';
import { TextField } from '../../parts/field.tsx';
import { webhooks } from '../../texts/webhooks.ts';

const texts = webhooks.batch;

/** The batch settings of an endpoint, as typed. */
export interface BatchText {
  /** Empty = one event in each request. */
  readonly events: string;
  readonly waitMs: string;
  readonly bytes: string;
}

/** The batch settings of an endpoint as texts, or the defaults if it has no batches. */
export function batchText(batch: WebhookEndpoint['batch']): BatchText {
  return {
    events: batch === null ? '' : String(batch.max_events),
    waitMs: String(batch?.max_wait_ms ?? 1000),
    bytes: String(batch?.max_bytes ?? 1_048_576),
  };
}

const within = (text: string, least: number, most: number) =>
  /^\d{1,7}$/.test(text) && Number(text) >= least && Number(text) <= most;
const goodEvents = ({ events }: BatchText) => events === '' || within(events, 2, 1000);
const goodWait = ({ waitMs }: BatchText) => within(waitMs, 0, 60_000);
const goodBytes = ({ bytes }: BatchText) => within(bytes, 16_384, 4_194_304);

/** Whether all numbers are valid. */
export const isBatchGood = (text: BatchText): boolean =>
  goodEvents(text) && (text.events === '' || (goodWait(text) && goodBytes(text)));

/** The batch settings for the API. */
export function batchOf({ events, waitMs, bytes }: BatchText): WebhookEndpoint['batch'] {
  return events === ''
    ? null
    : { max_events: Number(events), max_bytes: Number(bytes), max_wait_ms: Number(waitMs) };
}

/** The batch fields. The limits appear once the number of events is set. */
export function BatchFields({ text, onChange }: { text: BatchText; onChange: (text: BatchText) => void }) {
  return (
    <>
      <TextField
        label={texts.events}
        hint={texts.eventsHint}
        value={text.events}
        onChange={(events) => onChange({ ...text, events: events.trim() })}
        problem={goodEvents(text) ? null : texts.badEvents}
        isOptional
      />
      {text.events !== '' && (
        <>
          <TextField
            label={texts.wait}
            hint={texts.waitHint}
            value={text.waitMs}
            onChange={(waitMs) => onChange({ ...text, waitMs: waitMs.trim() })}
            problem={goodWait(text) ? null : texts.badWait}
          />
          <TextField
            label={texts.bytes}
            hint={texts.bytesHint}
            value={text.bytes}
            onChange={(bytes) => onChange({ ...text, bytes: bytes.trim() })}
            problem={goodBytes(text) ? null : texts.badBytes}
          />
        </>
      )}
    </>
  );
}
