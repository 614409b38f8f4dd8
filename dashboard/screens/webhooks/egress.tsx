import { type ComponentProps, useState } from 'react';
import type { ChangeWebhookEndpointBody, WebhookEndpoint } from '../../../src/client/api.ts';
import { useMay } from '../../data/me.ts';
import { useWrite } from '../../data/queries.ts';
import { endsSoon, serverNow } from '../../data/server-time.ts';
import { Button } from '../../parts/button.tsx';
import { Notice, Problem } from '../../parts/feedback.tsx';
import { TextArea, TextField } from '../../parts/field.tsx';
import { Confirm } from '../../parts/overlay.tsx';
import { Card, Facts } from '../../parts/page.tsx';
import { toast } from '../../parts/toast.tsx';
import { Time } from '../../parts/values.tsx';
import { egress as texts } from '../../texts/egress.ts';
import { ChangeCredentials } from './credentials.tsx';

type Facet = 'proxy' | 'certificate' | 'credentials';

/** The proxy, client certificate and client credentials of an endpoint. */
export function EndpointEgress({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { proxy, client_certificate: certificate, client_credentials: credentials } = endpoint;
  const [changing, change] = useState<Facet | null>(null);
  const close = () => change(null);
  const may = useMay();
  const { save, saving } = useEgress(endpoint);
  return (
    <Card title={texts.title}>
      {saving.error && <Problem error={saving.error} />}
      {certificate && <Ending at={certificate.expires_at} />}
      <Facts
        rows={[
          [texts.proxy, proxy ?? texts.ofServer],
          ...certificateFacts(endpoint),
          ...tokenFacts(endpoint),
        ]}
      />
      {may.webhooks && (
        <div className="buttons form-end">
          {credentials && (
            <Button isBusy={saving.isPending} onPress={() => save({ client_credentials: null })}>
              {texts.removeCredentials}
            </Button>
          )}
          <Button onPress={() => change('credentials')}>{texts.changeCredentials}</Button>
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
      {changing === 'credentials' && <ChangeToken endpoint={endpoint} onClose={close} />}
      {changing === 'certificate' && <ChangeCertificate endpoint={endpoint} onClose={close} />}
      {changing === 'proxy' && <ChangeProxy endpoint={endpoint} onClose={close} />}
    </Card>
  );
}

type Rows = ComponentProps<typeof Facts>['rows'];

function certificateFacts({ client_certificate: certificate }: WebhookEndpoint): Rows {
  if (certificate === null) return [[texts.certificate, texts.none]];
  return [
    [texts.certificate, `${certificate.subject}, ${texts.issuer(certificate.issuer)}`],
    [texts.until, <Time key="until" at={certificate.expires_at} isAbsolute />],
    [texts.fingerprint, <code key="print">{certificate.fingerprint}</code>],
  ];
}

function tokenFacts({ client_credentials: credentials }: WebhookEndpoint): Rows {
  if (credentials === null) return [[texts.token, texts.none]];
  const { client_id, token_url, scope, audience } = credentials;
  const rows: Rows = [[texts.token, texts.tokenFrom(client_id, token_url)]];
  return [
    ...rows,
    ...(scope === null ? [] : [[texts.scope, scope] as const]),
    ...(audience === null ? [] : [[texts.audience, audience] as const]),
  ];
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
  if (!endsSoon(at)) return null;
  return <Notice tone="warn">{Date.parse(at) <= serverNow() ? texts.ended : texts.ending}</Notice>;
}

function ChangeToken({ endpoint, onClose }: { endpoint: WebhookEndpoint; onClose: () => void }) {
  const { save, saving } = useEgress(endpoint);
  return (
    <ChangeCredentials
      before={endpoint.client_credentials}
      isBusy={saving.isPending}
      error={saving.error}
      onClose={onClose}
      onSave={(body) => save(body, onClose)}
    />
  );
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
  const token = endpoint.client_credentials;
  const isRead =
    (endpoint.url?.startsWith('http:') && (endpoint.headers.length > 0 || token !== null)) ||
    token?.token_url.startsWith('http:');
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
