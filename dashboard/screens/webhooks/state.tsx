import type { WebhookEndpoint } from '../../../src/client/api.ts';
import { Status } from '../../parts/values.tsx';
import { webhooks as texts } from '../../texts/webhooks.ts';

/** The status of an endpoint, and why it is disabled. */
export function EndpointState({
  endpoint: { status, disabled_reason, first_failure_at },
}: {
  endpoint: WebhookEndpoint;
}) {
  if (status === 'disabled') {
    return (
      <>
        <Status tone={disabled_reason === 'manual' ? 'neutral' : 'bad'} label={texts.statuses.disabled} />
        {disabled_reason && <span className="second">{texts.because[disabled_reason]}</span>}
      </>
    );
  }
  if (first_failure_at !== null) return <Status tone="warn" label={texts.failing} />;
  return <Status tone="good" label={texts.statuses.enabled} />;
}
