import { useState } from 'react';
import type { WebhookEndpoint } from '../../../src/client/api.ts';
import { useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { whole } from '../../parts/format.ts';
import { Confirm } from '../../parts/overlay.tsx';
import { toast } from '../../parts/toast.tsx';
import { webhooks } from '../../texts/webhooks.ts';
import type { LogSearch } from './filters.tsx';

const texts = webhooks.recover;

/**
 * Starts a recovery that resends everything matching the filters of the log. Hidden if recoveries do not support one of the
 * filters.
 */
export function Recover({
  endpoint,
  search,
  total = 0,
  onStarted,
}: {
  endpoint: WebhookEndpoint;
  search: LogSearch;
  total: number | undefined;
  onStarted: () => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const starting = useWrite('recoverWebhookEndpoint');
  const { status, type, answer, code, error, id, own, from, until } = search;
  const isOther = [answer, code, error, id, own].some((each) => each !== undefined);
  const isKnown = (status === 'failed' || status === 'delivered') && !isOther;
  if (!isKnown || total === 0) return null;
  const body = {
    // the endpoint has no older events
    since: from ?? endpoint.created_at,
    status,
    ...(until ? { until } : {}),
    ...(type ? { types: [type] } : {}),
  };
  const started = () => {
    toast(texts.started);
    setOpen(false);
    onStarted();
  };
  return (
    <div className="recover">
      <Button icon="refresh" onPress={() => setOpen(true)}>
        {texts.button(whole(total))}
      </Button>
      {isOpen && (
        <Confirm
          title={texts.title}
          action={texts.action(total)}
          isBusy={starting.isPending}
          error={starting.error}
          onClose={() => setOpen(false)}
          onConfirm={() => starting.mutate({ path: [endpoint.id], body }, { onSuccess: started })}
        >
          <p>{texts.lead(total, endpoint.url)}</p>
          <p className="soft">{texts.moreHappens}</p>
        </Confirm>
      )}
    </div>
  );
}
