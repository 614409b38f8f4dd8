import { useState } from 'react';
import type { ChangeWebhookEndpointBody, WebhookEndpoint } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { useWrite } from '../../data/queries.ts';
import { serverNow } from '../../data/server-time.ts';
import { Button } from '../../parts/button.tsx';
import { Notice, Problem } from '../../parts/feedback.tsx';
import { TextArea, TextField } from '../../parts/field.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { Card, Facts } from '../../parts/page.tsx';
import { toast } from '../../parts/toast.tsx';
import { Time } from '../../parts/values.tsx';
import { webhooks } from '../../texts/webhooks.ts';

const texts = webhooks.egress;
const SOON_MS = 30 * 86_400_000;

/** How requests leave for an endpoint: its proxy and its client certificate. */
export function EndpointEgress({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { proxy, client_certificate: certificate } = endpoint;
  const [changing, change] = useState<'proxy' | 'certificate' | null>(null);
  const close = () => change(null);
  const may = useMay();
  const { save, saving } = useEgress(endpoint);
  return (
    <Card title={texts.title}>
      {saving.error && <Problem error={saving.error} />}
      {certificate && <Ending at={certificate.expires_at} />}
      <Facts
        rows={
          certificate
            ? [
                [texts.proxy, proxy ?? texts.ofServer],
                [texts.certificate, `${certificate.subject}, ${texts.issuer(certificate.issuer)}`],
                [texts.until, <Time key="until" at={certificate.expires_at} isAbsolute />],
                [texts.fingerprint, <code key="print">{certificate.fingerprint}</code>],
              ]
            : [
                [texts.proxy, proxy ?? texts.ofServer],
                [texts.certificate, texts.none],
              ]
        }
      />
      {may.write && (
        <div className="buttons form-end">
          {certificate && (
            <Button isBusy={saving.isPending} onPress={() => save({ client_certificate: null })}>
              {texts.removeCertificate}
            </Button>
          )}
          <Button onPress={() => change('certificate')}>{texts.changeCertificate}</Button>
          {proxy !== null && (
            <Button isBusy={saving.isPending} onPress={() => save({ proxy: null })}>
              {texts.removeProxy}
            </Button>
          )}
          <Button onPress={() => change('proxy')}>{texts.changeProxy}</Button>
        </div>
      )}
      {changing === 'certificate' && <ChangeCertificate endpoint={endpoint} onClose={close} />}
      {changing === 'proxy' && <ChangeProxy endpoint={endpoint} onClose={close} />}
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

function ChangeProxy({ endpoint, onClose }: { endpoint: WebhookEndpoint; onClose: () => void }) {
  const [proxy, setProxy] = useState(endpoint.proxy ?? '');
  const { save, saving } = useEgress(endpoint);
  const isRead = endpoint.url.startsWith('http:') && endpoint.headers.length > 0;
  return (
    <Confirm
      title={texts.changeProxy}
      action={texts.save}
      isBusy={saving.isPending}
      isDisabled={proxy.trim() === '' || proxy.trim() === endpoint.proxy}
      error={saving.error}
      onClose={onClose}
      onConfirm={() => save({ proxy: proxy.trim() }, onClose)}
    >
      <p>{texts.proxyLead}</p>
      <TextField label={texts.url} hint={texts.urlHint} value={proxy} onChange={setProxy} />
      {isRead && <Notice tone="warn">{texts.dropped}</Notice>}
    </Confirm>
  );
}
