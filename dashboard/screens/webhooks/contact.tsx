import type { WebhookEndpoint } from '../../../src/client/api.ts';
import { useMay, usePortal } from '../../data/me.ts';
import { useWrite } from '../../data/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Notice, Problem } from '../../parts/feedback.tsx';
import { Card } from '../../parts/page.tsx';
import { toast } from '../../parts/toast.tsx';
import { Name } from '../../parts/values.tsx';
import { webhooks } from '../../texts/webhooks.ts';

const texts = webhooks.contact;

/** Whether the contact of an endpoint gets e-mails, and the link that confirms it again. */
export function EndpointContact({ endpoint }: { endpoint: WebhookEndpoint }) {
  const may = useMay();
  const portal = usePortal();
  const sending = useWrite('confirmWebhookEndpointContact');
  const { id, contact_email: email, contact_status: status } = endpoint;
  if (email === null || status === 'none' || (portal !== null && status === 'off')) return null;
  const isOpen = status === 'unsent' || status === 'waiting' || status === 'expired';
  const send = () => sending.mutate({ path: [id] }, { onSuccess: () => toast(texts.sent) });
  return (
    <Card title={texts.title}>
      <Notice tone={status === 'confirmed' ? 'good' : 'warn'}>
        <Name>{email}</Name> {texts.states[status]}
      </Notice>
      {sending.error && <Problem error={sending.error} />}
      {isOpen && may.webhooks && (
        <div className="buttons">
          <Button isBusy={sending.isPending} onPress={send}>
            {texts.send}
          </Button>
        </div>
      )}
    </Card>
  );
}
