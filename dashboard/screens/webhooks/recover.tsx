import { useState } from 'react';
import type { WebhookEndpoint } from '../../../src/client/api.ts';
import { useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { whole } from '../../parts/format.ts';
import { Confirm } from '../../parts/overlay.tsx';
import { toast } from '../../parts/toast.tsx';
import { webhooks } from '../../texts/webhooks.ts';
import type { LogSearch } from './filters.tsx';

/**
 * Starts a job for everything that matches the filters of the log: a recovery, or for what waits a discard. Hidden if jobs do
 * not support one of the filters.
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
  const recovering = useWrite('recoverWebhookEndpoint');
  const discarding = useWrite('discardEventsOfWebhookEndpoint');
  const { status, type, answer, code, error, id, own, from, until } = search;
  const isOther = [answer, code, error, id, own].some((each) => each !== undefined);
  if (isOther || status === undefined || total === 0) return null;
  const body = {
    // the endpoint has no older events
    since: from ?? endpoint.created_at,
    ...(until ? { until } : {}),
    ...(type ? { types: [type] } : {}),
  };
  const isDiscard = status === 'pending' || status === 'held';
  const texts = isDiscard ? webhooks.discard : webhooks.recover;
  const starting = isDiscard ? discarding : recovering;
  const onSuccess = () => {
    toast(texts.started);
    setOpen(false);
    onStarted();
  };
  const start = () =>
    isDiscard
      ? discarding.mutate({ path: [endpoint.id], body }, { onSuccess })
      : recovering.mutate({ path: [endpoint.id], body: { ...body, status } }, { onSuccess });
  return (
    <div className="recover">
      <Button {...(isDiscard ? {} : { icon: 'refresh' })} onPress={() => setOpen(true)}>
        {texts.button(whole(total))}
      </Button>
      {isOpen && (
        <Confirm
          title={texts.title}
          action={texts.action(total)}
          isDangerous={isDiscard}
          isBusy={starting.isPending}
          error={starting.error}
          onClose={() => setOpen(false)}
          onConfirm={start}
        >
          <p>{texts.lead(total, webhooks.nameOf(endpoint))}</p>
          <p className="soft">{texts.moreHappens}</p>
        </Confirm>
      )}
    </div>
  );
}
