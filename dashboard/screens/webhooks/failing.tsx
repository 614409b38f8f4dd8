import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { WebhookEndpoint } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { Card } from '../../parts/page.tsx';
import { toast } from '../../parts/toast.tsx';
import { Path, Time } from '../../parts/values.tsx';
import { webhooks } from '../../texts/webhooks.ts';

const texts = webhooks.resend;

/** The endpoints that fail now, the longest first, each with a button to resend what they missed. */
export function FailingEndpoints() {
  const { data } = useRead(
    'listWebhookEndpoints',
    { query: { status: 'enabled', per_page: 100 } },
    { isLive: true },
  );
  const failing = (data?.data ?? [])
    .filter(({ first_failure_at }) => first_failure_at !== null)
    .toSorted((one, other) => ((one.first_failure_at ?? '') < (other.first_failure_at ?? '') ? -1 : 1));
  if (failing.length === 0) return null;
  return (
    <Card title={texts.title(failing.length)}>
      <ul className="failing">
        {failing.map((endpoint) => (
          <li key={endpoint.id}>
            <div>
              <Link to="/webhooks/$id" params={{ id: endpoint.id }}>
                <Path>{webhooks.nameOf(endpoint)}</Path>
              </Link>
              <span className="second">
                {endpoint.description && `${endpoint.description} · `}
                {webhooks.failingSince} <Time at={endpoint.first_failure_at} />
              </span>
            </div>
            <div className="buttons">
              <Link
                className="button quiet"
                to="/webhooks/$id"
                params={{ id: endpoint.id }}
                search={{ view: 'recoveries' }}
              >
                {webhooks.one.recoveries}
              </Link>
              <ResendSinceFailing endpoint={endpoint} />
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Resends everything that was not delivered since the endpoint began to fail. Shows the recoveries afterwards. */
export function ResendSinceFailing({ endpoint }: { endpoint: WebhookEndpoint }) {
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  if (!may.webhooks) return null;
  return (
    <>
      <Button icon="refresh" onPress={() => setOpen(true)}>
        {texts.button}
      </Button>
      {isOpen && <Resend endpoint={endpoint} onClose={() => setOpen(false)} />}
    </>
  );
}

function Resend({ endpoint, onClose }: { endpoint: WebhookEndpoint; onClose: () => void }) {
  const { id, last_success_at, created_at } = endpoint;
  const navigate = useNavigate();
  const starting = useWrite('recoverWebhookEndpoint');
  // an event that failed first may be older than its first failure
  const since = last_success_at ?? created_at;
  const one = { per_page: 1, 'created_at[gte]': since };
  const [failed, pending] = [
    useRead('listEventsOfWebhookEndpoint', { path: [id], query: { ...one, status: 'failed' } }),
    useRead('listEventsOfWebhookEndpoint', { path: [id], query: { ...one, status: 'pending' } }),
  ].map(({ data }) => data?.pagination.total);
  const total = failed === undefined || pending === undefined ? undefined : failed + pending;
  const start = () =>
    starting.mutate(
      { path: [id], body: { since, status: ['failed', 'pending'] } },
      {
        onSuccess: () => {
          toast(webhooks.recover.started);
          void navigate({ to: '/webhooks/$id', params: { id }, search: { view: 'recoveries' } });
        },
      },
    );
  return (
    <Confirm
      title={texts.button}
      action={webhooks.recover.action(total ?? 0)}
      isBusy={starting.isPending}
      isDisabled={total === undefined || total === 0}
      error={starting.error}
      onClose={onClose}
      onConfirm={start}
    >
      <p>{texts.lead(webhooks.nameOf(endpoint))}</p>
      <p className="soft">{texts.receiver}</p>
    </Confirm>
  );
}
