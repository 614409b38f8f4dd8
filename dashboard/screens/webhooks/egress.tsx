import { useState } from 'react';
import type { ChangeWebhookEndpointBody, WebhookEndpoint } from '../../../src/client/api.ts';
import { useWrite } from '../../data/queries.ts';
import { serverNow } from '../../data/server-time.ts';
import { Button } from '../../parts/button.tsx';
import { Notice, Problem } from '../../parts/feedback.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { Card, Facts } from '../../parts/page.tsx';
import { toast } from '../../parts/toast.tsx';
import { Time } from '../../parts/values.tsx';
import { webhooks } from '../../texts/webhooks.ts';

const texts = webhooks.egress;
const SOON_MS = 30 * 86_400_000;

/** How requests leave for an endpoint: its client certificate. */
export function EndpointEgress({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { client_certificate: certificate } = endpoint;
  const [isChanging, setChanging] = useState(false);
  const { save, saving } = useEgress(endpoint);
  return (
    <Card title={texts.title}>
      {saving.error && <Problem error={saving.error} />}
      {certificate && <Ending at={certificate.expires_at} />}
      <Facts
        rows={
          certificate
            ? [
                [texts.certificate, `${certificate.subject}, ${texts.issuer(certificate.issuer)}`],
                [texts.until, <Time key="until" at={certificate.expires_at} isAbsolute />],
                [texts.fingerprint, <code key="print">{certificate.fingerprint}</code>],
              ]
            : [[texts.certificate, texts.none]]
        }
      />
      <div className="buttons form-end">
        {certificate && (
          <Button isBusy={saving.isPending} onPress={() => save({ client_certificate: null })}>
            {texts.removeCertificate}
          </Button>
        )}
        <Button onPress={() => setChanging(true)}>{texts.changeCertificate}</Button>
      </div>
      {isChanging && <ChangeCertificate endpoint={endpoint} onClose={() => setChanging(false)} />}
    </Card>
  );
}

function useEgress({ id }: WebhookEndpoint) {
  const saving = useWrite('changeWebhookEndpoint');
  const save = (body: ChangeWebhookEndpointBody, onSaved?: () => void) =>
    saving.mutate(
      { path: [id], body },
      {
        onSuccess: () => {
          toast(texts.saved);
          onSaved?.();
        },
      },
    );
  return { saving, save };
}

function Ending({ at }: { at: string }) {
  const left = Date.parse(at) - serverNow();
  if (left > SOON_MS) return null;
  return <Notice tone="warn">{left <= 0 ? texts.ended : texts.ending}</Notice>;
}

function ChangeCertificate({ endpoint, onClose }: { endpoint: WebhookEndpoint; onClose: () => void }) {
  const [certificate, setCertificate] = useState('');
  const [key, setKey] = useState('');
  const { save, saving } = useEgress(endpoint);
  return (
    <Confirm
      title={texts.changeCertificate}
      action={texts.save}
      isBusy={saving.isPending}
      isDisabled={certificate.trim() === '' || key.trim() === ''}
      error={saving.error}
      onClose={onClose}
      onConfirm={() => save({ client_certificate: { certificate, key } }, onClose)}
    >
      <p>{texts.certificateLead}</p>
      <TextArea
        label={texts.pem}
        hint={texts.pemHint}
        value={certificate}
        onChange={setCertificate}
        rows={6}
        isCode
      />
      <TextArea label={texts.key} hint={texts.keyHint} value={key} onChange={setKey} rows={6} isCode />
    </Confirm>
  );
}
