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
 * Starts a recovery that resends everything matching the filters of the log; hidden if recoveries do not have such a
 * filter.
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
  const [isAsked, ask] = useState(false);
  const starting = useWrite('recoverWebhookEndpoint');
  const { status, type, answer, code, error, id, own, from, until } = search;
  const isOther = [answer, code, error, id, own].some((each) => each !== undefined);
  const isKnown = (status === 'failed' || status === 'delivered') && !isOther;
  if (!isKnown || total === 0) return null;
  const body = {
    // no event of the endpoint is older
    since: from ?? endpoint.created_at,
    status,
    ...(until ? { until } : {}),
    ...(type ? { types: [type] } : {}),
  };
  const started = () => {
    toast(texts.started);
    ask(false);
    onStarted();
  };
  return (
    <div className="recover">
      <Button icon="refresh" onPress={() => ask(true)}>
        {texts.button(whole(total))}
      </Button>
      {isAsked && (
        <Confirm
          title={texts.title}
          action={texts.action(total)}
          isBusy={starting.isPending}
          error={starting.error}
          onClose={() => ask(false)}
          onConfirm={() => starting.mutate({ path: [endpoint.id], body }, { onSuccess: started })}
        >
          <p>{texts.lead(total, endpoint.url)}</p>
          <p className="soft">{texts.moreHappens}</p>
        </Confirm>
      )}
    </div>
  );
}
