import { useState } from 'react';
import type { WebhookEndpoint } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { useRead, useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { toast } from '../../parts/toast.tsx';
import { webhooks } from '../../texts/webhooks.ts';

const texts = webhooks.missing;

/** Starts a recovery of the events that the endpoint never got. */
export function SendMissing({ endpoint }: { endpoint: WebhookEndpoint }) {
  const may = useMay();
  const [isOpen, setOpen] = useState(false);
  if (!may.webhooks) return null;
  const isDisabled = endpoint.status === 'disabled';
  return (
    <div className="recover">
      <Button
        icon="refresh"
        isDisabled={isDisabled}
        title={isDisabled ? webhooks.disabledNotice : undefined}
        onPress={() => setOpen(true)}
      >
        {texts.button}
      </Button>
      {isOpen && <Missing endpoint={endpoint} onClose={() => setOpen(false)} />}
    </div>
  );
}

function Missing({ endpoint, onClose }: { endpoint: WebhookEndpoint; onClose: () => void }) {
  const [since, setSince] = useState('');
  const input = { path: [endpoint.id] as [string], body: { missing: true, ...(since && { since }) } };
  const counting = useRead('previewRecoveryOfWebhookEndpoint', input);
  const starting = useWrite('recoverWebhookEndpoint');
  const total = counting.data?.matching_count;
  const onSuccess = () => {
    toast(webhooks.recover.started);
    onClose();
  };
  return (
    <Confirm
      title={texts.button}
      action={texts.action(total)}
      isBusy={starting.isPending}
      isDisabled={!total}
      error={starting.error ?? counting.error}
      onClose={onClose}
      onConfirm={() => starting.mutate(input, { onSuccess })}
    >
      <p>{texts.lead(webhooks.nameOf(endpoint))}</p>
      <TextField label={webhooks.log.from} type="date" value={since} onChange={setSince} />
      {total === 0 && <p>{texts.nothing}</p>}
    </Confirm>
  );
}
