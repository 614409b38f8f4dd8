import { Link } from '@tanstack/react-router';
import type { DeliveryStatus, WebhookAttempt, WebhookEventWithAttempts } from '../../../src/client/api.ts';
import { useMay, usePortal } from '../../data/me.ts';
import { useEventWithPayload } from '../../data/payload.ts';
import { useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { ChangedFields } from '../../parts/changed-fields.tsx';
import { Code } from '../../parts/code.tsx';
import { copyText, Id } from '../../parts/copy.tsx';
import { Notice, Problem, Skeleton } from '../../parts/feedback.tsx';
import { whole } from '../../parts/format.ts';
import { Drawer } from '../../parts/overlay.tsx';
import { Facts } from '../../parts/page.tsx';
import { plain } from '../../parts/plain.ts';
import { toast } from '../../parts/toast.tsx';
import { DELIVERY_TONES } from '../../parts/tones.ts';
import { Status, Time } from '../../parts/values.tsx';
import { events } from '../../texts/events.ts';
import { webhooks } from '../../texts/webhooks.ts';
import { curlOfAttempt } from './curl.ts';

const texts = webhooks.delivery;
/** The delivery of an event to an endpoint, in a drawer: request, response, error, and retry. */
export function Delivery({
  endpoint,
  event: id,
  onClose,
}: {
  endpoint: string;
  event: string;
  onClose: () => void;
}) {
  const reading = useEventWithPayload(
    'getEventOfWebhookEndpoint',
    { path: [endpoint, id] },
    { isLive: 'watched' },
  );
  const { event, payload, error, refetch } = reading;
  return (
    <Drawer title={event?.type ?? id} onClose={onClose}>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {event && payload !== undefined ? (
        <Inside event={event} body={payload} />
      ) : (
        !error && <Skeleton lines={6} />
      )}
    </Drawer>
  );
}

/** The status of a delivery. */
export function DeliveryState({ status }: { status: DeliveryStatus }) {
  return <Status tone={DELIVERY_TONES[status]} label={webhooks.log.statuses[status]} />;
}

function Inside({ event, body }: { event: WebhookEventWithAttempts; body: string }) {
  const may = useMay();
  const portal = usePortal();
  const retrying = useWrite('retryEventOfWebhookEndpoint');
  const { id, webhook_endpoint_id: endpoint, status, attempts } = event;
  const newest = [...attempts].sort((a, b) => b.number - a.number);
  const last = newest[0];
  const isWhole = attempts.every(({ request_body }) => request_body === null);
  const bodyTitle = isWhole ? texts.body : texts.whole;
  return (
    <div className="stack">
      <Facts
        rows={[
          [webhooks.status, <DeliveryState key="status" status={status} />],
          [webhooks.log.created, <Time key="created" at={event.created_at} isFocusable />],
          [webhooks.log.next, <Time key="next" at={event.next_attempt_at} isFocusable />],
          ...(event.waits_for
            ? [[webhooks.log.waitsFor, <Id key="waits">{event.waits_for}</Id>] as const]
            : []),
          [webhooks.log.event, <Id key="id">{id}</Id>],
        ]}
      />
      {retrying.error && <Problem error={retrying.error} />}
      <div className="buttons start">
        {may.webhooks && status !== 'held' && (
          <Button
            kind="primary"
            icon="refresh"
            isBusy={retrying.isPending}
            onPress={() =>
              retrying.mutate({ path: [endpoint, id] }, { onSuccess: () => toast(texts.retried) })
            }
          >
            {texts.retry}
          </Button>
        )}
        {last?.url && (
          <Button
            icon="copy"
            onPress={() => copyText(curlOfAttempt(last, last.request_body ?? body), texts.copiedCurl)}
          >
            {texts.copyCurl}
          </Button>
        )}
        <Link className="button plain" to="/webhooks/$id" params={{ id: endpoint }}>
          {texts.openEndpoint}
        </Link>
        {portal === null && (
          <Link className="button plain" to="/events/$id" params={{ id }}>
            {texts.openEvent}
          </Link>
        )}
      </div>
      {last?.error_code && (
        <Notice tone="bad">
          <p>
            <b>{plain(last.error_message ?? last.error_code)}</b>
          </p>
          <p>
            {webhooks.errors[last.error_code] ?? webhooks.errorUnknown}{' '}
            {webhooks.statusHelp[last.response_status ?? 0]}
          </p>
        </Notice>
      )}
      <section>
        <h3>{texts.timeline}</h3>
        {last === undefined && <p className="soft">{texts.notYet}</p>}
        <ol className="attempts">
          {newest.map((attempt, index) => (
            <li key={attempt.number}>
              <Attempt attempt={attempt} before={newest[index + 1]} isOpen={index === 0} />
            </li>
          ))}
        </ol>
      </section>
      <ChangedFields payload={event.payload} heading={<h3>{events.changes.title}</h3>} />
      <section>
        <h3>{bodyTitle}</h3>
        <Code label={bodyTitle} copyLabel={texts.copyPayload} fileName={`${id}.json`}>
          {body}
        </Code>
      </section>
    </div>
  );
}

function Attempt({
  attempt,
  before,
  isOpen,
}: {
  attempt: WebhookAttempt;
  before: WebhookAttempt | undefined;
  isOpen: boolean;
}) {
  const { number, status, response_status, error_code, trigger, started_at, duration_ms, claim } = attempt;
  const isGood = status === 'succeeded';
  return (
    <details className="attempt" open={isOpen}>
      <summary>
        <Status
          tone={isGood ? 'good' : 'bad'}
          label={String(response_status ?? error_code ?? texts.acknowledged)}
        />
        <span>
          {texts.attempt(number)} <span className="soft">{texts.triggers[trigger]}</span>
        </span>
        <span className="soft attempt-when">
          <Time at={started_at} /> · {texts.took(whole(duration_ms))}
          {before && ` · ${texts.waited(between(before.started_at, started_at))}`}
        </span>
      </summary>
      <div className="attempt-inside">
        {response_status === null && <p>{plain(attempt.error_message ?? '')}</p>}
        {claim === null ? (
          <>
            <h4>{texts.request}</h4>
            <p className="code-line">
              <code>POST {plain(attempt.url ?? '')}</code>
            </p>
          </>
        ) : (
          <p>{texts.claimedBy(claim.consumer, claim.claimed_by)}</p>
        )}
        {attempt.batch !== null && <p>{texts.batched(attempt.batch.event_count - 1)}</p>}
        <Headers label={texts.request} headers={attempt.request_headers} />
        {attempt.request_body !== null && (
          <Code label={texts.sentBody} copyLabel={texts.copySent}>
            {attempt.request_body}
          </Code>
        )}
        {claim === null && <h4>{texts.answer}</h4>}
        {response_status !== null && <Answer attempt={attempt} />}
        {response_status === null && claim === null && <p className="soft">{texts.noAnswer}</p>}
      </div>
    </details>
  );
}

function Answer({ attempt }: { attempt: WebhookAttempt }) {
  const { response_status, response_headers, response_body, response_truncated, batch } = attempt;
  const cut = (batch?.event_count ?? 1) > 1 ? texts.truncatedInBatch : texts.truncated;
  return (
    <>
      <p className="code-line">
        <code>HTTP {response_status}</code>
      </p>
      <Headers label={texts.answer} headers={response_headers} />
      {response_body ? (
        <Code label={texts.answer} copyLabel={texts.copyAnswer}>
          {response_body}
        </Code>
      ) : (
        <p className="soft">{texts.emptyAnswer}</p>
      )}
      {response_truncated && <p className="hint">{cut}</p>}
    </>
  );
}

function Headers({ label, headers }: { label: string; headers: WebhookAttempt['request_headers'] }) {
  if (headers === null) return <p className="hint">{texts.hiddenHeaders}</p>;
  return (
    <section className="headers" aria-label={`${label}: ${texts.headers}`}>
      {Object.entries(headers).map(([name, value]) => (
        <div key={name}>
          <code>{plain(name)}</code>: <code>{plain(value)}</code>
        </div>
      ))}
    </section>
  );
}

/** The time between two instants: `12 s`, `5 min`, `2 h`. */
function between(from: string, to: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}
